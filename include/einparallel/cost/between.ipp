#pragma once

// Bytes that leave the groups of a level: message by message, or, where all rings lie alike on the groups, in closed
// form.

#include <einparallel/cost/traffic.hpp>
#include <einparallel/cost/traffic.ipp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// How the pieces of a tensor go round: to all ranks and back as sums, stage by stage; or in a plain ring while ranks
/// compute, as pieces of an operand or as chunks of the output.
enum class round_way : std::uint8_t { by_stages, pieces, chunks };

/// Elements that leave groups of a level while a piece of every owner goes up or down a binomial tree over a ring.
EINPARALLEL_INLINE double tree_crossings(const distribution& resting, const std::vector<int>& ring,
                                         const rank_groups& groups, std::size_t level) {
    const int all = int(ring.size());
    double elements = 0;
    for (int owner = 0; owner < all; ++owner) {
        const auto piece = double(resting.held_by(ring[std::size_t(owner)]).size());
        for (int number = 1; number < all && piece > 0; ++number) {
            const int parent = number & (number - 1);
            const auto at = [&](int position) { return ring[std::size_t((owner + position) % all)]; };
            elements += groups.group(level, at(number)) != groups.group(level, at(parent)) ? piece : 0;
        }
    }
    return elements;
}

/// Elements that leave groups of a level while the pieces of a tensor go round. @param covered  elements of all blocks
EINPARALLEL_INLINE double round_crossings(const distribution& resting, double covered, const wired_machine& on,
                                          int level, round_way way, int most) {
    const rank_groups& groups = on.groups();
    const int all = resting.replication();
    if (level < 0) {
        return (all - 1) * covered;
    }
    const auto number = std::size_t(level);
    if (all == 1 || number >= groups.levels()) {
        return 0;
    }
    const ring_shape& shape = on.shape_of(resting, most);
    const bool is_even = all_in(
        resting.sides(), [](const cut_side& side) { return side.points.empty() && side.extent % side.cells() == 0; });
    const bool is_staged = way == round_way::by_stages;
    const bool has_pieces = !shape.is_mixed || fills_ring(resting, 1);
    // Looking at every block takes longer than finding the shape, which is known of most tensors.
    constexpr int few = 4;
    if ((is_staged && !shape.is_mixed) || (is_even && has_pieces && !resting.bounds().empty()) ||
        resting.holders() > most / few) {
        return (is_staged ? shape.staged : shape.plain)[number] * covered;
    }
    double elements = 0;
    for_each_ring(resting, groups, [&](const std::vector<int>& ring) {
        if (way == round_way::by_stages) {
            const ring_shape one = shape_of_ring(ring, groups);
            if (!one.is_mixed) {
                int groups_met = 1;
                for (std::size_t at = 1; at < ring.size(); ++at) {
                    groups_met += groups.group(number, ring[at]) != groups.group(number, ring[at - 1]) ? 1 : 0;
                }
                elements += (groups_met - 1) * double(resting.block_of_rank(ring.front()).size());
                return;
            }
            if (!fills_ring(resting, 1)) {
                elements += tree_crossings(resting, ring, groups, number);
                return;
            }
        }
        const auto block = double(resting.block_of_rank(ring.front()).size());
        for (std::size_t at = 0; at < ring.size(); ++at) {
            const std::size_t before = at == 0 ? ring.size() - 1 : at - 1;
            if (groups.group(number, ring[at]) != groups.group(number, ring[before])) {
                const std::size_t stays = way == round_way::chunks ? at : before;
                elements += block - double(resting.held_by(ring[stays]).size());
            }
        }
    });
    return elements;
}

EINPARALLEL_INLINE double gathered_beyond(const distribution& blocks, double covered, const wired_machine& on,
                                          int level) {
    return round_crossings(blocks, covered, on, level, round_way::by_stages, looked_through);
}

EINPARALLEL_INLINE double gathered_between(const task& work, std::size_t operand, const wired_machine& on, int level,
                                           int most) {
    if (level < 0) {
        return gathered_bytes(work, operand);
    }
    const double covered = covered_elements(work.form.operands[operand], work.extents, work.ranks);
    return round_crossings(work.operands[operand], covered, on, level,
                           work.travels(operand) ? round_way::pieces : round_way::by_stages, most) *
           double(work.operand_bytes[operand]);
}

EINPARALLEL_INLINE double aggregated_between(const task& work, const wired_machine& on, int level, int most) {
    if (level < 0) {
        return aggregated_bytes(work);
    }
    const double covered = covered_elements(work.form.output, work.extents, work.ranks);
    double elements = round_crossings(work.output, covered, on, level,
                                      runs_k_ring(work) ? round_way::chunks : round_way::by_stages, most);
    if (work.form.running.sums != no_label && std::size_t(level) < on.groups().levels()) {
        const distribution row = row_of_sums(work);
        for_each_ring(row, {}, [&](const std::vector<int>& ring) {
            for (std::size_t reach = 1; reach < ring.size(); reach *= 2) {
                for (std::size_t at = 0; at + reach < ring.size(); ++at) {
                    elements += on.groups().between(ring[at], ring[at + reach]) > std::size_t(level)
                                    ? double(row.block_of_rank(ring[at]).size())
                                    : 0;
                }
            }
        });
    }
    return elements * double(work.output_bytes);
}

/// Bytes between a master and its workers in other groups of a level.
EINPARALLEL_INLINE double fed_between(const task& work, const rank_groups& groups, std::size_t level) {
    double bytes = 0;
    for (int worker = 0; worker < work.ranks.size(); ++worker) {
        if (worker == work.feed.master || groups.between(worker, work.feed.master) <= level) {
            continue;
        }
        const std::vector<interval> ranges = fed_ranges(work, worker);
        for (int turn = 0; turn < work.feed.slices + 2; ++turn) {
            for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
                bytes += double(fed_operand(work, ranges, operand, turn).size() * index(work.operand_bytes[operand]));
            }
            bytes += double(fed_output(work, ranges, turn).size() * index(work.output_bytes));
        }
    }
    return bytes;
}

EINPARALLEL_INLINE double bytes_between(const task& work, const wired_machine& on, int level,
                                        const lasting_work& lasting, int most) {
    if (work.travelling == all_travel && level < 0) {
        schedule_counter counted(work, 0, on);
        feed_workers(counted, work, no_buffer);
        return lasting.runs * counted.bytes();
    }
    if (work.travelling == all_travel) {
        return lasting.runs * fed_between(work, on.groups(), std::size_t(level));
    }
    double bytes = lasting.runs * aggregated_between(work, on, level, most);
    for (std::size_t operand = 0; operand < work.operands.size(); ++operand) {
        const double held = lasting.may_hold(operand) ? lasting.held[operand] : 0;
        bytes += (work.holds(operand) ? held : lasting.runs) * gathered_between(work, operand, on, level, most);
    }
    return bytes;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
