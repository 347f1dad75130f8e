#pragma once

#include <einparallel/plan/traffic.hpp>

#include <einparallel/schedule/vertex_schedule.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE double diagonal_elements(index extent, int parts, std::ptrdiff_t times) {
    const auto large = static_cast<double>(block_of(extent, parts, 0).size());
    const auto small = static_cast<double>(block_of(extent, parts, parts - 1).size());
    const auto larger = static_cast<double>(extent % parts);
    const auto power = static_cast<double>(times);
    return larger * std::pow(large, power) + (parts - larger) * std::pow(small, power);
}

/// Elements that the blocks of all kernel calls cover, each block counted once: all of a tensor, or the diagonal blocks
/// where a cut label stands twice.
EINPARALLEL_INLINE double covered_elements(const std::vector<label_id>& labels, const std::vector<index>& extents,
                                           const mesh& ranks) {
    double elements = 1;
    for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
        const label_id label = labels[dimension];
        const auto before = labels.begin() + static_cast<std::ptrdiff_t>(dimension);
        if (label != no_label && std::find(labels.begin(), before, label) == before) {
            elements *= diagonal_elements(extents[static_cast<std::size_t>(label)], ranks.parts(label),
                                          std::count(labels.begin(), labels.end(), label));
        }
    }
    return elements;
}

EINPARALLEL_INLINE double gathered_bytes(const task& work) {
    double bytes = 0;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        bytes += (work.operands[operand].replication() - 1) *
                 covered_elements(work.form.operands[operand], work.extents, work.ranks) *
                 static_cast<double>(work.operand_bytes[operand]);
    }
    return bytes;
}

EINPARALLEL_INLINE double aggregated_bytes(const task& work) {
    return (work.output.replication() - 1) * covered_elements(work.form.output, work.extents, work.ranks) *
           static_cast<double>(work.output_bytes);
}

EINPARALLEL_INLINE double task_bytes(const task& work) {
    return gathered_bytes(work) + aggregated_bytes(work);
}

EINPARALLEL_INLINE largest_shares::largest_shares(const distribution& resting, std::size_t element_bytes) {
    block = static_cast<double>(element_bytes);
    for (std::size_t dimension = 0; dimension < resting.bounds().size(); ++dimension) {
        block *= static_cast<double>(resting.largest_block_extent(dimension));
    }
    piece = block;
    if (resting.cut() && block > 0) {
        const index whole = resting.largest_block_extent(*resting.cut());
        piece *= static_cast<double>(block_of(whole, resting.replication(), 0).size()) / static_cast<double>(whole);
    }
}

EINPARALLEL_INLINE double task_seconds(const task& work, double operations_per_point, const machine& constants) {
    double operations = operations_per_point;
    for (std::size_t label = 0; label < work.extents.size(); ++label) {
        if (static_cast<label_id>(label) == work.pending) {
            continue;  // every rank writes one of the summands
        }
        const int parts = work.ranks.parts(static_cast<label_id>(label));
        operations *= static_cast<double>(block_of(work.extents[label], parts, 0).size());
    }
    const double compute = operations * constants.seconds_per_flop;
    const auto transfer = [&](double bytes) {
        return constants.seconds_per_message + bytes * constants.seconds_per_byte;
    };
    const auto step = [&](double arithmetic, double moving) {
        return std::max(arithmetic, moving) + constants.exposed * std::min(arithmetic, moving);
    };
    double seconds = 0;
    double ring = compute;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        const distribution& resting = work.operands[operand];
        const int pieces = resting.replication();
        if (pieces == 1) {
            continue;
        }
        const largest_shares share(resting, work.operand_bytes[operand]);
        if (runs_mn_ring(work, operand)) {
            ring = (pieces - 1) * step(compute / pieces, transfer(share.piece)) + compute / pieces;
        } else if (every_replica_has_a_piece(resting)) {
            seconds += (pieces - 1) * transfer(share.piece);
        } else {
            seconds += static_cast<double>(tree_rounds(pieces)) * transfer(share.block);
        }
    }
    const int summands = work.output.replication();
    if (summands > 1) {
        const largest_shares share(work.output, work.output_bytes);
        const double additions = constants.seconds_per_flop / static_cast<double>(work.output_bytes);
        if (runs_k_ring(work)) {
            const int halves = 2 * summands;
            ring = (halves - 2) * step(compute / halves, transfer(share.piece / 2)) + 2 * compute / halves;
        } else if (every_replica_has_a_piece(work.output)) {
            seconds += (summands - 1) * (transfer(share.piece) + share.piece * additions);
        } else {
            seconds += static_cast<double>(tree_rounds(summands)) * (transfer(share.block) + share.block * additions);
        }
    }
    return seconds + ring;
}

EINPARALLEL_INLINE double task_memory(const task& work) {
    double bytes = 0;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        const largest_shares share(work.operands[operand], work.operand_bytes[operand]);
        const bool shared = work.operands[operand].replication() > 1;
        bytes += !shared ? share.piece : runs_mn_ring(work, operand) ? 2 * share.piece : share.block;
    }
    const largest_shares share(work.output, work.output_bytes);
    return bytes + (work.output.replication() > 1 && !runs_k_ring(work) ? share.block : share.piece);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
