#pragma once

#include <einparallel/notation/search_range.hpp>
#include <einparallel/plan/traffic.hpp>

#include <einparallel/schedule/in_place.hpp>
#include <einparallel/schedule/vertex_schedule.hpp>

#include <cmath>

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
            const index extent = extents[static_cast<std::size_t>(label)];
            const auto times = std::count(labels.begin(), labels.end(), label);
            double covered = 0;
            for (int part = 0; times > 1 && part < ranks.parts(label); ++part) {
                covered += std::pow(static_cast<double>(ranks.block(label, extent, part).size()), times);
            }
            elements *= times > 1 ? covered : static_cast<double>(extent);
        }
    }
    return elements;
}

EINPARALLEL_INLINE double gathered_bytes(const task& work, std::size_t operand) {
    return (work.operands[operand].replication() - 1) *
           covered_elements(work.form.operands[operand], work.extents, work.ranks) *
           static_cast<double>(work.operand_bytes[operand]);
}

EINPARALLEL_INLINE double gathered_bytes(const task& work) {
    double bytes = 0;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        bytes += work.holds(operand) ? 0 : gathered_bytes(work, operand);
    }
    return bytes;
}

EINPARALLEL_INLINE double aggregated_bytes(const task& work) {
    return (work.output.replication() - 1) * covered_elements(work.form.output, work.extents, work.ranks) *
           static_cast<double>(work.output_bytes);
}

EINPARALLEL_INLINE largest_shares::largest_shares(const distribution& resting, std::size_t element_bytes, int pieces) {
    block = static_cast<double>(element_bytes);
    for (std::size_t dimension = 0; dimension < resting.bounds().size(); ++dimension) {
        block *= static_cast<double>(resting.largest_block_extent(dimension));
    }
    piece = block;
    if (resting.cut() && block > 0) {
        const index whole = resting.largest_block_extent(*resting.cut());
        piece *= static_cast<double>(block_of(whole, pieces > 0 ? pieces : resting.replication(), 0).size()) /
                 static_cast<double>(whole);
    }
}

/// Polling the messages of a step and calling the kernel once more cost as much as so many messages (64³ on two ranks
/// of a node: 1.5 µs, a message 3).
inline constexpr double messages_per_step = 0.5;

/// A kernel reads and writes the output anew for every so many terms of a sum, whether they come in one call or in
/// several (768 x 768 x 3072: 48 calls take as long as one, 96 take 12 % longer).
inline constexpr double terms_per_pass = 64;

/// Elements that `calls` of the kernel, instead of one, along `label` touch anew: operands without the label are packed
/// again, an output without it is read and written again.
EINPARALLEL_INLINE double touched_again(const task& work, label_id label, int calls) {
    const auto lacks = [&](const std::vector<label_id>& labels) {
        return std::find(labels.begin(), labels.end(), label) == labels.end();
    };
    double elements = 0;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        if (lacks(work.form.operands[operand])) {
            elements += (calls - 1) * largest_shares(work.operands[operand], 1).block;
        }
    }
    if (lacks(work.form.output)) {
        double terms = 1;
        for (std::size_t summed = 0; summed < work.extents.size(); ++summed) {
            const auto number = static_cast<label_id>(summed);
            const bool kept = work.form.in_output(number);
            terms *= kept ? 1 : static_cast<double>(work.ranks.largest_block(number, work.extents[summed]));
        }
        elements += std::max(0.0, calls - std::max(1.0, terms / terms_per_pass)) * largest_shares(work.output, 1).block;
    }
    return elements;
}

/// Slices that a ring of these operands goes round in; of several, two for each sharer of the most shared one.
EINPARALLEL_INLINE int ring_slices(const task& work, const std::vector<std::size_t>& travelling) {
    int sharers = 1;
    for (const std::size_t operand : travelling) {
        sharers = std::max(sharers, work.operands[operand].replication());
    }
    return travelling.size() > 1 ? 2 * sharers : sharers;
}

/// Seconds of one message.
EINPARALLEL_INLINE double transfer_seconds(double bytes, const machine& constants) {
    return constants.seconds_per_message + bytes * constants.seconds_per_byte;
}

/// Seconds of packing, copying or adding elements.
EINPARALLEL_INLINE double touch_seconds(double elements, const machine& constants) {
    return elements * constants.operations_per_touch * constants.seconds_per_flop;
}

EINPARALLEL_INLINE double gather_seconds(const task& work, std::size_t operand, const machine& constants) {
    const distribution& resting = work.operands[operand];
    const int pieces = resting.replication();
    const double seconds_per_step = messages_per_step * constants.seconds_per_message;
    const largest_shares share(resting, work.operand_bytes[operand]);
    if (pieces == 1) {
        return 0;
    }
    if (every_replica_has_a_piece(resting)) {
        return (pieces - 1) * (transfer_seconds(share.piece, constants) + seconds_per_step) +
               touch_seconds(share.piece / static_cast<double>(work.operand_bytes[operand]), constants);
    }
    return static_cast<double>(tree_rounds(pieces)) * (transfer_seconds(share.block, constants) + seconds_per_step);
}

/// What master–worker moves: by all workers together, or in one direction by the busiest phase.
struct fed_traffic {
    double sent = 0;      ///< bytes of operands, from the master
    double returned = 0;  ///< bytes of the output, to it
    double first = 0;     ///< bytes of the first phase
    double step = 0;      ///< bytes of a phase in the middle, in the direction that has more
    double last = 0;      ///< bytes of the last phase
    double messages = 0;  ///< of the master in one phase
};

EINPARALLEL_INLINE fed_traffic traffic_of_feeding(const task& work) {
    fed_traffic made;
    double slices_sent = 0;
    for (int worker = 0; worker < work.ranks.size(); ++worker) {
        if (worker == work.feed.master) {
            continue;
        }
        const std::vector<interval> ranges = fed_ranges(work, worker);
        const auto returned =
            static_cast<double>(region_of(work.form.output, ranges).size()) * static_cast<double>(work.output_bytes);
        for (std::size_t operand = 0; operand < work.operands.size() && returned > 0; ++operand) {
            const auto bytes = static_cast<double>(region_of(work.form.operands[operand], ranges).size()) *
                               static_cast<double>(work.operand_bytes[operand]);
            const bool sliced = work.form.in_operand(operand, work.feed.label);
            made.sent += bytes;
            made.first += bytes / (sliced ? work.feed.slices : 1);
            slices_sent += sliced ? bytes / work.feed.slices : 0;
            made.messages += 1;
        }
        made.returned += returned;
    }
    made.last = made.returned / work.feed.slices;
    made.step = std::max(slices_sent, made.last);
    return made;
}

/// Seconds of master–worker: the first slices come and the last results go with nothing but the master's own work to
/// hide behind.
EINPARALLEL_INLINE double fed_seconds(const task& work, double operations_per_point, const machine& constants) {
    const fed_traffic moving = traffic_of_feeding(work);
    const auto seconds_of = [&](double calls, double points, double touched) {
        return (points * operations_per_point + touched * constants.operations_per_touch) * constants.seconds_per_flop /
               calls;
    };
    const auto points = [&](int rank) {
        double product = 1;
        for (const interval& range : fed_ranges(work, rank)) {
            product *= static_cast<double>(range.size());
        }
        return product;
    };
    const int slices = work.feed.slices;
    const double more = masters_excess(work);
    const double again = touched_again(work, work.feed.label, slices);
    const double worker = seconds_of(slices, points(work.feed.master == 0 ? 1 : 0), again);
    const double master = seconds_of(1, points(work.feed.master), again);
    const auto phase = [&](double arithmetic, double bytes) {
        const double transfer = moving.messages * constants.seconds_per_message + bytes * constants.seconds_per_byte;
        return std::max(arithmetic, transfer) + constants.exposed * std::min(arithmetic, transfer) +
               messages_per_step * constants.seconds_per_message;
    };
    return phase(more * master, moving.first) +
           slices * phase(std::max(worker, (1 - 2 * more) * master / slices), moving.step) +
           phase(more * master, moving.last);
}

EINPARALLEL_INLINE double task_bytes(const task& work, const lasting_work& lasting) {
    if (work.travelling == all_travel) {
        const fed_traffic moving = traffic_of_feeding(work);
        return lasting.runs * (moving.sent + moving.returned);
    }
    double bytes = lasting.runs * (gathered_bytes(work) + aggregated_bytes(work));
    for (std::size_t operand = 0; operand < lasting.once.size(); ++operand) {
        bytes += work.holds(operand) ? lasting.once[operand] * gathered_bytes(work, operand) : 0;
    }
    return bytes;
}

EINPARALLEL_INLINE double task_seconds(const task& work, double operations_per_point, const machine& constants,
                                       const lasting_work& lasting) {
    if (work.travelling == all_travel) {
        return lasting.runs * fed_seconds(work, operations_per_point, constants);
    }
    double operations = operations_per_point;
    for (std::size_t label = 0; label < work.extents.size(); ++label) {
        if (static_cast<label_id>(label) == work.pending) {
            continue;  // every rank writes one of the summands
        }
        operations *= static_cast<double>(work.ranks.largest_block(static_cast<label_id>(label), work.extents[label]));
    }
    const double compute = operations * constants.seconds_per_flop;
    const double seconds_per_step = messages_per_step * constants.seconds_per_message;
    const auto transfer = [&](double bytes) { return transfer_seconds(bytes, constants); };
    const auto touch = [&](double elements) { return touch_seconds(elements, constants); };
    // `calls` of the kernel with a transfer under way, and `last` ones without.
    const auto ring_of = [&](int calls, int last, double moving, label_id label) {
        const double again = label == no_label ? 0 : touch(touched_again(work, label, calls + last));
        const double arithmetic = (compute + again) / (calls + last);
        const double step = std::max(arithmetic, moving) + constants.exposed * std::min(arithmetic, moving);
        return calls * (step + seconds_per_step) + last * arithmetic;
    };
    double seconds = 0;
    double ring = compute;
    const std::vector<std::size_t> travelling = travelling_operands(work);
    const int slices = ring_slices(work, travelling);
    double moving = 0;
    for (const std::size_t operand : travelling) {
        moving += transfer(largest_shares(work.operands[operand], work.operand_bytes[operand], slices).piece);
    }
    if (!travelling.empty()) {
        const std::size_t first = travelling.front();
        const std::optional<std::size_t> cut = work.operands[first].cut();
        ring = ring_of(slices - 1, 1, moving, cut ? work.form.operands[first][*cut] : no_label);
        seconds += travelling.size() > 1 ? moving + seconds_per_step : 0;  // the first slices, which nothing hides
    }
    double once = 0;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        if (work.holds(operand)) {
            once += lasting.lasts(operand) ? lasting.once[operand] * gather_seconds(work, operand, constants) : 0;
        } else if (!found_in(operand, travelling)) {
            seconds += gather_seconds(work, operand, constants);
        }
    }
    const int summands = work.output.replication();
    if (summands > 1) {
        const largest_shares share(work.output, work.output_bytes);
        const auto elements = [&](double bytes) { return bytes / static_cast<double>(work.output_bytes); };
        if (runs_k_ring(work)) {
            ring = ring_of(2 * summands - 2, 2, transfer(share.piece / 2), work.form.output[*work.output.cut()]);
        } else if (every_replica_has_a_piece(work.output)) {
            seconds += (summands - 1) * (transfer(share.piece) + seconds_per_step + touch(elements(share.piece))) +
                       touch(elements(share.piece));
        } else {
            seconds += static_cast<double>(tree_rounds(summands)) *
                       (transfer(share.block) + seconds_per_step + touch(elements(share.block)));
        }
    }
    return lasting.runs * (seconds + ring) + once;
}

EINPARALLEL_INLINE void choose_best_travelling(task& work, algorithm wanted, double operations_per_point,
                                               const options& asked, const lasting_work& lasting) {
    std::uint64_t may_hold = 0;
    for (std::size_t operand = 0; operand < std::min<std::size_t>(work.operands.size(), 64); ++operand) {
        const bool may = lasting.lasts(operand) && work.operands[operand].replication() > 1;
        may_hold |= std::uint64_t{may ? 1U : 0U} << operand;
    }
    work.held = may_hold;
    work.travelling = choose_travelling(work, wanted);
    const bool limited = asked.memory_limit > 0;
    if (wanted != algorithm::automatic || (work.travelling == nothing_travels && may_hold == 0) ||
        (asked.objective != objective::time && !limited)) {
        return;
    }
    const auto travel = [&](int travelling) {
        work.travelling = travelling;
        work.held = 0;
        for (const std::size_t operand : may_hold == 0 ? std::vector<std::size_t>{} : travelling_operands(work)) {
            work.held |= std::uint64_t{1} << operand;
        }
        work.held = may_hold & ~work.held;
    };
    // What is beyond the limit counts before seconds do.
    const auto measure = [&] {
        const double memory = limited ? task_memory(work) : 0;
        return std::pair{memory > static_cast<double>(asked.memory_limit) ? memory : 0.0,
                         task_seconds(work, operations_per_point, asked.machine, lasting)};
    };
    int best = work.travelling;
    std::pair<double, double> least = measure();
    const auto consider = [&](int travelling, bool suits) {
        travel(suits ? travelling : best);
        if (const std::pair<double, double> measured = suits ? measure() : least; measured < least) {
            best = travelling;
            least = measured;
        }
    };
    consider(nothing_travels, true);
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        consider(static_cast<int>(operand), every_replica_has_a_piece(work.operands[operand]));
    }
    work.held = 0;
    consider(operands_travel, !double_ring_operands(work).empty());
    consider(output_travels, k_ring_suits(work));
    travel(best);
}

EINPARALLEL_INLINE std::optional<std::size_t> overwritten_operand(const einsum_graph& graph, std::size_t number,
                                                                  const lasting_tensors& lasting) {
    const vertex& einsum = *graph.vertices[number];
    const std::vector<std::size_t>& inputs = graph.inputs[number];
    const auto is_kept = [&](std::size_t each) { return found_in(each, graph.outputs) || lasting.lasts(each); };
    for (std::size_t operand = 0; operand < inputs.size() && !is_kept(number); ++operand) {
        if (is_elementwise_in(einsum.form, operand) && !is_kept(inputs[operand]) &&
            !einsum.operands[operand]->is_input() && einsum.operands[operand]->element.bytes == einsum.element.bytes &&
            std::ranges::count(inputs, inputs[operand]) == 1) {
            return operand;
        }
    }
    return std::nullopt;
}

EINPARALLEL_INLINE double task_memory(const task& work, const shared_memory& sharing) {
    const std::vector<std::size_t> travelling = travelling_operands(work);
    const int slices = ring_slices(work, travelling);
    double bytes = 0;
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        const distribution& resting = work.operands[operand];
        const largest_shares share(resting, work.operand_bytes[operand]);
        const std::size_t first = sharing.same_as.empty() ? operand : sharing.same_as[operand];
        if (!found_in(operand, travelling)) {
            const bool counted = (first != operand && resting.replication() == 1 && resting == work.operands[first]) ||
                                 (sharing.overwritten == operand && work.form.operands[operand] == work.form.output);
            bytes += resting.replication() > 1 ? share.block : counted ? 0 : share.piece;
        } else {
            bytes += 2 * share.block / slices + (travelling.size() > 1 ? share.piece : 0);
        }
    }
    const largest_shares share(work.output, work.output_bytes);
    const bool reduces = work.output.replication() > 1;
    return bytes + (!reduces ? share.piece : runs_k_ring(work) ? share.piece * pieces_of_k_ring(work) : share.block);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
