#pragma once

#include <einparallel/cost/memory.hpp>

#include <einparallel/notation/box.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE double largest_piece(const distribution& resting) {
    const double block = resting.largest_block();
    if (!resting.cut() || block == 0) {
        return block;
    }
    const index whole = resting.largest_block_extent(*resting.cut());
    return block * double(block_of(whole, resting.replication(), 0).size()) / double(whole);
}

EINPARALLEL_INLINE double task_memory(const task& work) {
    double bytes = 0;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        const distribution& resting = work.operands[operand];
        const double blocks = work.travels(operand) ? 2.0 / resting.replication() : 1;
        bytes += blocks * resting.largest_block() * double(work.operand_bytes[operand]);
    }
    const double elements =
        runs_k_ring(work) ? largest_piece(work.output) * chunks_of_k_ring(work) : work.output.largest_block();
    return bytes + elements * double(work.output_bytes);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
