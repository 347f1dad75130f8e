#pragma once

// What moves between two places of one tensor: the one count of redistribution traffic.

#include <einparallel/cost/group_crossings.ipp>
#include <einparallel/cost/places.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <tuple>

namespace einparallel::EINPARALLEL_DETAIL {

/// Number of cells of a side that meet an interval.
EINPARALLEL_INLINE double cells_meeting(const cut_side& side, interval held) {
    if (held.empty()) {
        return 0;
    }
    if (!side.points.empty()) {
        int met = 0;
        for (int number = 0; number < side.cells(); ++number) {
            met += intersect(side.cell(number), held).empty() ? 0 : 1;
        }
        return met;
    }
    // Which of the parts of an extent has a position (the inverse of block_of).
    const auto interval_at = [](index extent, index parts, index position) {
        const index longer = extent % parts;
        const index shorter = extent / parts;
        return position < longer * (shorter + 1) ? position / (shorter + 1) : (position - longer) / shorter;
    };
    // Number of the cell that has a position, among those that are not empty.
    const auto cell_at = [&](index position) {
        const index part = interval_at(side.extent, side.parts, position);
        if (side.pieces == 1) {
            return part;
        }
        const index shorter = side.extent / side.parts;
        const index longer = std::min(part, side.extent % side.parts);  // parts before this one
        const interval whole = side.part(int(part));
        return longer * std::min<index>(side.pieces, shorter + 1) +
               (part - longer) * std::min<index>(side.pieces, shorter) +
               interval_at(whole.size(), side.pieces, position - whole.begin);
    };
    return double(cell_at(held.end - 1) - cell_at(held.begin) + 1);
}

/// The traffic between any two distributions, which is the same in both directions. The boxes of one of them, an
/// irregular one if there is one, are looked up in the other.
EINPARALLEL_INLINE traffic irregular_traffic(const distribution& from, const distribution& to,
                                             const rank_groups& groups) {
    const auto [listed, found] = from.is_regular() ? std::tie(to, from) : std::tie(from, to);
    std::vector<traffic> of_listed(std::size_t(listed.holders()));
    std::vector<traffic> of_found(std::size_t(found.holders()));
    traffic total;
    total.crossings.resize(groups.levels());
    crossing_count crossings(groups, std::max(from.holders(), to.holders()));
    for (int rank = 0; rank < listed.holders(); ++rank) {
        for (const box& held : listed.boxes_of(rank)) {
            for (const int other : found.ranks_meeting(held)) {
                double elements = 0;
                for (const box& there : found.boxes_of(other)) {
                    elements += other != rank ? double(intersect(there, held).size()) : 0;
                }
                total.elements += elements;
                crossings.add(rank, other, elements, total);
                for (traffic* one : {&of_listed[std::size_t(rank)], &of_found[std::size_t(other)]}) {
                    one->elements += elements;
                    one->messages += other != rank ? 1 : 0;
                    total.busiest = std::max(total.busiest, one->elements);
                    total.messages = std::max(total.messages, one->messages);
                }
            }
        }
    }
    return total;
}

/// The traffic between two binary places, in closed form. Where they cut unevenly it is an estimate. A rank keeps
/// elements if those bits of its number agree by which both places cut a dimension. All such ranks keep the same number
/// of elements.
EINPARALLEL_INLINE void set_binary_traffic(const place& from, const place& to, const rank_groups& groups,
                                           traffic& moving) {
    const auto from_bits = std::size_t(std::countr_zero(unsigned(from.ranks)));
    const auto to_bits = std::size_t(std::countr_zero(unsigned(to.ranks)));
    const std::size_t count = std::max(from_bits, to_bits);
    equal_things like(count + 1);  // bits that are equal on all ranks that keep something
    for (std::size_t bit = std::min(from_bits, to_bits); bit < count; ++bit) {
        like.join(bit, count);  // ranks that have both boxes have zeroes there; the last class stands for zero
    }
    double elements = 1;
    double sources = 1;
    double targets = 1;
    for (std::size_t dimension = 0; dimension < from.bits.size(); ++dimension) {
        const std::vector<int>& before = from.bits[dimension];
        const std::vector<int>& after = to.bits[dimension];
        const std::size_t both = std::min(before.size(), after.size());
        for (std::size_t digit = 0; digit < both; ++digit) {
            like.join(std::size_t(before[digit]), std::size_t(after[digit]));
        }
        targets *= double(std::size_t{1} << (after.size() - both));
        sources *= double(std::size_t{1} << (before.size() - both));
        elements *= double(from.resting.bounds()[dimension]);
    }
    const double had = elements / from.ranks;
    const double wanted = elements / to.ranks;
    const double kept = had / targets;
    const auto keeping = double(std::size_t{1} << (like.classes - 1));
    moving.elements = elements - keeping * kept;
    moving.busiest = 0;
    moving.messages = 0;
    moving.crossings.clear();
    if (moving.elements > 0) {
        const int sender_keeps = keeping == from.ranks ? 1 : 0;  // every one of them
        const int reader_keeps = keeping == to.ranks ? 1 : 0;
        moving.busiest = std::max(had - sender_keeps * kept, wanted - reader_keeps * kept);
        moving.messages = std::max(targets - sender_keeps, sources - reader_keeps);
        for (std::size_t level = 0; level < groups.levels(); ++level) {
            moving.crossings.push_back(binary_crossing(from, to, groups.size(level), elements));
        }
    }
}

/// What each rank has of a tensor at a valid place: rank by rank, one interval per dimension. Lists the ranks from 0 to
/// `ranks` - 1, or, where these are more than `most`, a sample of `most` of them.
EINPARALLEL_INLINE const std::vector<interval>& cells_of(place& of, int ranks, int most) {
    const int tried = std::min(ranks, most);
    const auto [known, fresh] = of.cells.try_emplace({ranks, tried});
    known->second.reserve(std::size_t(tried) * of.parts.size());
    for (int trial = 0; fresh && trial < tried; ++trial) {
        const auto spread = std::uint32_t(trial) * std::uint64_t{2'654'435'769U};
        const int rank = tried == ranks ? trial : int((spread >> 8U) % std::uint64_t(ranks));
        add_cells(of, rank, known->second);
    }
    return known->second;
}

/// The traffic between any two valid places, from the cells of `most` of their ranks. It is exact where these are all
/// ranks. With `elements_only`, messages are not counted. Time: most.
EINPARALLEL_INLINE traffic regular_traffic(place& from, place& to, int most, bool elements_only) {
    const int ranks = std::max(from.ranks, to.ranks);
    const int tried = std::min(ranks, most);
    auto had = cells_of(from, ranks, most).begin();
    auto wanted = cells_of(to, ranks, most).begin();
    traffic moving;
    for (int trial = 0; trial < tried; ++trial) {
        double sent = 1;
        double received = 1;
        double kept = 1;
        double targets = 1;
        double sources = 1;
        for (std::size_t dimension = 0; dimension < from.resting.sides().size(); ++dimension, ++had, ++wanted) {
            sent *= double(had->size());
            received *= double(wanted->size());
            kept *= double(intersect(*had, *wanted).size());
            if (!elements_only) {
                targets *= cells_meeting(to.resting.sides()[dimension], *had);
                sources *= cells_meeting(from.resting.sides()[dimension], *wanted);
            }
        }
        const int stays = kept > 0 ? 1 : 0;
        moving.elements += received - kept;
        moving.busiest = std::max({moving.busiest, sent - kept, received - kept});
        moving.messages = std::max({moving.messages, targets - stays, sources - stays});
    }
    moving.elements *= double(ranks) / tried;
    return moving;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
