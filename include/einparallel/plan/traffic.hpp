#pragma once
// What a vertex and an edge cost this library's executor: bytes and seconds in closed form, equal to sums over the
// schedules.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/schedule/steps.hpp>
#include <einparallel/schedule/task.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace einparallel::detail {

/// Elements that the blocks of all kernel calls cover, each block counted once: all of a tensor, or the diagonal blocks
/// where a cut label stands twice.
template <class Lazy = void>
double covered_elements(const std::vector<label_id>& labels, const std::vector<index>& extents, const mesh& ranks) {
    double elements = 1;
    for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
        const label_id label = labels[dimension];
        const auto before = labels.begin() + static_cast<std::ptrdiff_t>(dimension);
        if (label == no_label || std::find(labels.begin(), before, label) != before) {
            continue;
        }
        const auto times = std::count(labels.begin(), labels.end(), label);
        const index extent = extents[static_cast<std::size_t>(label)];
        const int parts = ranks.parts(label);
        const double large = static_cast<double>(block_of(extent, parts, 0).size());
        const double small = static_cast<double>(block_of(extent, parts, parts - 1).size());
        const double larger = static_cast<double>(extent % parts);
        const double power = static_cast<double>(times);
        elements *= larger * std::pow(large, power) + (parts - larger) * std::pow(small, power);
    }
    return elements;
}

/// Bytes that all ranks together send to hand the operands of one task round. Every way to hand round a block that q
/// ranks share brings each element of it to q − 1 ranks once.
template <class Lazy = void>
double gathered_bytes(const task& work) {
    double bytes = 0;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        bytes += (work.operands[operand].replication() - 1) *
                 covered_elements(work.form.operands[operand], work.extents, work.ranks) *
                 static_cast<double>(work.operand_bytes[operand]);
    }
    return bytes;
}

/// Bytes that all ranks together send to aggregate the output of one task: every way to reduce a block that q ranks
/// have summands of brings each element of it to q − 1 ranks once.
template <class Lazy = void>
double aggregated_bytes(const task& work) {
    return (work.output.replication() - 1) * covered_elements(work.form.output, work.extents, work.ranks) *
           static_cast<double>(work.output_bytes);
}

/// Bytes that all ranks together send for one task.
template <class Lazy = void>
double task_bytes(const task& work) {
    return gathered_bytes(work) + aggregated_bytes(work);
}

/// Bytes of the largest block of a tensor, and of the largest piece that one of its sharers holds.
struct largest_shares {
    double block = 0;
    double piece = 0;

    largest_shares(const distribution& resting, std::size_t element_bytes) {
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
};

/// Seconds of the rank with the largest share: every step of a ring takes the longer of its arithmetic and its
/// transfer, and a little of the shorter (what is hidden is not free: it shares the memory, and somebody has to poll);
/// gathers come before the ring and reductions after it.
template <class Lazy = void>
double task_seconds(const task& work, double operations_per_point, const machine& constants) {
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

/// Bytes that the rank with the largest share holds at least while it contracts: gathered blocks, two pieces of what
/// goes round, and what is written.
template <class Lazy = void>
double task_memory(const task& work) {
    double bytes = 0;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        const largest_shares share(work.operands[operand], work.operand_bytes[operand]);
        const bool shared = work.operands[operand].replication() > 1;
        bytes += !shared ? share.piece : runs_mn_ring(work, operand) ? 2 * share.piece : share.block;
    }
    const largest_shares share(work.output, work.output_bytes);
    return bytes + (work.output.replication() > 1 && !runs_k_ring(work) ? share.block : share.piece);
}

/// How one way to cut a vertex cuts one of its tensors: the parts of every dimension and the pieces that each block
/// rests in.
struct tensor_cut {
    std::span<const int> parts;
    int pieces = 1;
    int ranks = 1;  ///< of the whole vertex
};

/// Share of a tensor's elements that at least have to change ranks between a producer and a consumer, whatever the
/// order of their mesh axes: a rank keeps at most a box that fits into both of its boxes.
template <class Lazy = void>
double smallest_moved_share(const std::vector<index>& bounds, const tensor_cut& producer, const tensor_cut& consumer) {
    if (producer.parts.empty()) {
        return 0;  // one element, on rank 0 before and after
    }
    // How many of the largest boxes a dimension has room for: fewer than parts where these are uneven.
    const auto boxes_along = [&](std::size_t dimension, index parts) {
        const index extent = bounds[dimension];
        return extent % parts == 0 || extent == 0
                   ? static_cast<double>(parts)
                   : static_cast<double>(extent) / static_cast<double>(extent / parts + 1);
    };
    // Boxes that both cuts together make; the pieces of one block lie along one dimension, whichever makes fewest.
    double boxes = 1;
    double both = std::numeric_limits<double>::infinity();  // pieces of both along one dimension: times so many
    std::array<double, 2> consumers{both, both};  // of the consumer alone: the fewest, and the fewest along another
    std::size_t least_along = 0;
    for (std::size_t dimension = 0; dimension < producer.parts.size(); ++dimension) {
        const int before = producer.parts[dimension];
        const int after = consumer.parts[dimension];
        const double uncut = boxes_along(dimension, std::max(before, after));
        boxes *= uncut;
        both =
            std::min(both, boxes_along(dimension, std::max(before * producer.pieces, after * consumer.pieces)) / uncut);
        const double with_consumer = boxes_along(dimension, std::max(before, after * consumer.pieces)) / uncut;
        if (with_consumer < consumers[0]) {
            consumers = {with_consumer, consumers[0]};
            least_along = dimension;
        } else {
            consumers[1] = std::min(consumers[1], with_consumer);
        }
    }
    double apart = std::numeric_limits<double>::infinity();
    for (std::size_t dimension = 0; dimension < producer.parts.size(); ++dimension) {
        const int before = producer.parts[dimension];
        const int after = consumer.parts[dimension];
        const double with_producer = boxes_along(dimension, std::max(before * producer.pieces, after)) /
                                     boxes_along(dimension, std::max(before, after));
        apart = std::min(apart, with_producer * consumers[dimension == least_along ? 1 : 0]);
    }
    const double kept = std::min(producer.ranks, consumer.ranks) / (boxes * std::min(both, apart));
    return std::max(0.0, 1 - kept);
}

/// Seconds of a redistribution that moves `bytes` in all: what the smaller side has to send or receive, and one message
/// for every partner.
template <class Lazy = void>
double moving_seconds(const tensor_cut& producer, const tensor_cut& consumer, double bytes, const machine& constants) {
    if (bytes == 0) {
        return 0;
    }
    double partners = std::max(producer.ranks, consumer.ranks) / std::min(producer.ranks, consumer.ranks);
    double sources = 1;
    double targets = 1;
    for (std::size_t dimension = 0; dimension < producer.parts.size(); ++dimension) {
        const int before = producer.parts[dimension];
        const int after = consumer.parts[dimension];
        sources *= before > after ? (before + after - 1) / after : 1;
        targets *= after > before ? (after + before - 1) / before : 1;
    }
    partners = std::max({partners, sources, targets});
    return partners * constants.seconds_per_message +
           bytes / std::min(producer.ranks, consumer.ranks) * constants.seconds_per_byte;
}

}  // namespace einparallel::detail
