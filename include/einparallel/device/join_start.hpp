#pragma once
// A join of any program, started with the blocks and threads of its shape.

#include <einparallel/device/join_bodies.hpp>
#include <einparallel/device/join_shape.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/device/start.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

/// What all bodies of joins have.
template <class Body>
void fill_join(Body& body, const launch::strided_join& work, const join_shape& shape) {
    body.output = work.output;
    std::copy_n(work.operands, work.operand_count, body.from);
    body.points = static_cast<std::uint32_t>(shape.points);
    body.combine = work.combine;
    const auto add = [&](int first, int end) {
        for (int loop = end; loop-- > first;) {
            if (work.extents[loop] > 1) {
                auto& into = body.loops.loop[body.loops.all++];
                into.size = static_cast<std::uint32_t>(work.extents[loop]);
                into.extent = divisor(into.size);
                std::copy_n(work.strides[loop], 1 + work.operand_count, into.strides);
            }
        }
    };
    add(0, work.output_loops);
    body.loops.outputs = body.loops.all;
    add(work.output_loops, work.loops);
}

/// Starts it; where the sums are in pieces, sum_of_pieces() is what remains to be joined.
/// @param register_bytes  of shared memory for the registers of each thread
template <class Program>
void start_join(launch::stream on, const launch::strided_join& work, const join_shape& shape, const Program& program,
                int register_bytes = 0) {
    if (!shape.sums) {
        join_map<Program> body{program};
        fill_join(body, work, shape);
        const index of_block = index{join_points} * shape.across;
        start(on, body, {(shape.points + of_block - 1) / of_block, shape.across, shape.across * register_bytes});
        return;
    }
    join_sum<Program> body{program};
    fill_join(body, work, shape);
    body.terms = static_cast<std::uint32_t>(shape.terms);
    body.piece_terms = static_cast<std::uint32_t>(shape.piece_terms);
    body.pieces = static_cast<std::uint32_t>(shape.pieces);
    body.by_pieces = divisor(body.pieces);
    body.across = shape.across;
    body.along = shape.along;
    body.sum_fast = shape.sum_fast;
    const int threads = shape.across * shape.along;
    body.sums_at = threads * register_bytes;
    if (shape.pieces > 1) {
        body.output = work.workspace;
        body.combine = false;
    }
    const index groups = (shape.points + shape.across - 1) / shape.across;
    const auto value_bytes = static_cast<int>(sizeof(typename Program::value));
    start(on, body, {groups * shape.pieces, threads, body.sums_at + threads * value_bytes});
}

}  // namespace einparallel::EINPARALLEL_DETAIL
