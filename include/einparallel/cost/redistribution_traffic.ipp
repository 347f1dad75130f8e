#pragma once

#include <einparallel/cost/redistribution_traffic.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE rank_grid::rank_grid(distribution of)
    : resting(std::move(of)),
      ranks(resting.bounds().empty() ? 1 : resting.holders()),  // one element is on rank 0
      is_valid(resting.is_regular() && !resting.is_diagonal()),
      is_binary(is_valid && std::has_single_bit(static_cast<unsigned>(ranks))),
      is_even(is_binary),
      bits(resting.bounds().size()) {
    for (const cut_side& side : resting.sides()) {
        is_binary = is_binary && side.points.empty();
        is_even = is_even && is_binary && side.extent % side.cells() == 0;
        mean *= static_cast<double>(side.extent) / static_cast<double>(side.cells());
    }
    const std::vector<rank_digit>& digits = resting.digits();
    for (std::size_t number = digits.size(); is_binary && ranks > 1 && number-- > 0;) {
        for (int bit = std::countr_zero(static_cast<unsigned>(digits[number].radix)); bit-- > 0;) {
            bits[digits[number].dimension].push_back(std::countr_zero(static_cast<unsigned>(digits[number].stride)) +
                                                     bit);
        }
    }
}

EINPARALLEL_INLINE std::vector<double> rank_grid::cells_of(const std::vector<int>& of_ranks) const {
    const std::size_t count = of_ranks.size();
    std::vector<double> made(2 * count * resting.sides().size());
    for (std::size_t dimension = 0; dimension < resting.sides().size(); ++dimension) {
        for (std::size_t place = 0; place < count; ++place) {
            const interval held = of_ranks[place] < ranks
                                      ? resting.sides()[dimension].cell(resting.cell_of(of_ranks[place], dimension))
                                      : interval{};
            made[2 * dimension * count + place] = static_cast<double>(held.begin);
            made[(2 * dimension + 1) * count + place] = static_cast<double>(held.end);
        }
    }
    return made;
}

/// Cells of a side that meet an interval that is not empty.
EINPARALLEL_INLINE double cells_meeting(const cut_side& side, interval held) {
    if (!side.points.empty()) {
        int met = 0;
        for (int number = 0; number < side.cells(); ++number) {
            met += intersect(side.cell(number), held).empty() ? 0 : 1;
        }
        return met;
    }
    // Which of the parts of an extent has a position (the inverse of block_of).
    const auto part_at = [](index extent, index parts, index position) {
        const index longer = extent % parts;
        const index shorter = extent / parts;
        return position < longer * (shorter + 1) ? position / (shorter + 1)
                                                 : longer + (position - longer * (shorter + 1)) / shorter;
    };
    // Number of the cell that has a position, among those that are not empty.
    const auto cell_at = [&](index position) {
        const index part = part_at(side.extent, side.parts, position);
        if (side.pieces == 1) {
            return part;
        }
        const index shorter = side.extent / side.parts;
        const index longer = std::min(part, side.extent % side.parts);  // parts before this one
        const interval whole = side.part(static_cast<int>(part));
        return longer * std::min<index>(side.pieces, shorter + 1) +
               (part - longer) * std::min<index>(side.pieces, shorter) +
               part_at(whole.size(), side.pieces, position - whole.begin);
    };
    return static_cast<double>(cell_at(held.end - 1) - cell_at(held.begin) + 1);
}

EINPARALLEL_INLINE traffic irregular_traffic(const distribution& from, const distribution& to, bool from_boxes) {
    const auto ranks = static_cast<std::size_t>(std::max(from.holders(), to.holders()));
    std::vector<traffic> sent(ranks);
    std::vector<traffic> received(ranks);
    const distribution& listed = from_boxes ? from : to;
    const distribution& found = from_boxes ? to : from;
    for (int rank = 0; rank < listed.holders(); ++rank) {
        const box held = listed.held_by(rank);
        for (const int other : held.empty() ? std::vector<int>{} : found.ranks_meeting(held)) {
            const auto elements = static_cast<double>(intersect(found.held_by(other), held).size());
            if (other != rank && elements > 0) {
                for (traffic* one : {&sent[static_cast<std::size_t>(from_boxes ? rank : other)],
                                     &received[static_cast<std::size_t>(from_boxes ? other : rank)]}) {
                    one->elements += elements;
                    one->messages += 1;
                }
            }
        }
    }
    traffic total;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        total.elements += sent[rank].elements;
        total.busiest = std::max({total.busiest, sent[rank].elements, received[rank].elements});
        total.messages = std::max({total.messages, sent[rank].messages, received[rank].messages});
    }
    return total;
}

/// Ranks keep something where all bits that both grids cut a dimension by agree; they all keep the same amount then.
EINPARALLEL_INLINE traffic binary_traffic(const rank_grid& from, const rank_grid& to) {
    constexpr std::size_t most_bits = 32;
    std::array<std::uint8_t, most_bits + 1> parent{};  // of bits that are equal on all ranks that keep something
    const auto from_bits = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(from.ranks)));
    const auto to_bits = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(to.ranks)));
    const std::size_t count = std::max(from_bits, to_bits);
    std::iota(parent.begin(), parent.begin() + static_cast<std::ptrdiff_t>(count) + 1, std::uint8_t{0});
    std::size_t classes = count + 1;
    const auto join = [&](std::size_t a, std::size_t b) {
        while (parent[a] != a) {
            a = parent[a];
        }
        while (parent[b] != b) {
            b = parent[b];
        }
        classes -= a != b ? 1 : 0;
        parent[a] = static_cast<std::uint8_t>(b);
    };
    for (std::size_t bit = std::min(from_bits, to_bits); bit < count; ++bit) {
        join(bit, count);  // ranks that have both boxes have zeroes there; the last class stands for zero
    }
    double kept = from.mean;
    double sources = 1;
    double targets = 1;
    for (std::size_t dimension = 0; dimension < from.bits.size(); ++dimension) {
        const std::vector<int>& before = from.bits[dimension];
        const std::vector<int>& after = to.bits[dimension];
        const std::size_t both = std::min(before.size(), after.size());
        for (std::size_t place = 0; place < both; ++place) {
            join(static_cast<std::size_t>(before[place]), static_cast<std::size_t>(after[place]));
        }
        const auto finer = static_cast<double>(std::size_t{1} << (after.size() - both));
        kept /= finer;
        targets *= finer;
        sources *= static_cast<double>(std::size_t{1} << (before.size() - both));
    }
    const auto keeping = static_cast<double>(std::size_t{1} << (classes - 1));
    traffic moving;
    moving.elements = to.ranks * to.mean - keeping * kept;
    if (moving.elements > 0) {
        const bool all_keep_sent = keeping == from.ranks;
        const bool all_keep_received = keeping == to.ranks;
        moving.busiest = std::max(from.mean - (all_keep_sent ? kept : 0), to.mean - (all_keep_received ? kept : 0));
        moving.messages = std::max(targets - (all_keep_sent ? 1 : 0), sources - (all_keep_received ? 1 : 0));
    }
    return moving;
}

EINPARALLEL_INLINE traffic regular_traffic(const rank_grid& from, const rank_grid& to,
                                           const std::vector<double>& sent_from, const std::vector<double>& wanted,
                                           std::size_t tried, bool elements_only) {
    constexpr std::size_t lanes = 32;  // ranks that are worked on side by side: the loops over them are vectorised
    traffic moving;
    for (std::size_t first = 0; first < tried && !from.resting.sides().empty();
         first += lanes) {  // else one element, on rank 0
        const std::size_t count = std::min(lanes, tried - first);
        std::array<double, lanes> sent, received, kept, targets, sources;
        for (std::array<double, lanes>* each : {&sent, &received, &kept, &targets, &sources}) {
            each->fill(1);
        }
        for (std::size_t dimension = 0; dimension < from.resting.sides().size(); ++dimension) {
            const double* const had = sent_from.data() + 2 * dimension * tried + first;  // begins, `tried` on the ends
            const double* const has = wanted.data() + 2 * dimension * tried + first;
            for (std::size_t lane = 0; lane < count; ++lane) {
                const double both = std::min(had[tried + lane], has[tried + lane]) - std::max(had[lane], has[lane]);
                sent[lane] *= had[tried + lane] - had[lane];
                received[lane] *= has[tried + lane] - has[lane];
                kept[lane] *= std::max(both, 0.0);
            }
            const auto meeting = [&](const cut_side& others, const double* held) {
                const interval cell{static_cast<index>(held[0]), static_cast<index>(held[tried])};
                return cell.empty() ? 0 : cells_meeting(others, cell);
            };
            for (std::size_t lane = 0; lane < count && !elements_only; ++lane) {
                targets[lane] *= meeting(to.resting.sides()[dimension], had + lane);
                sources[lane] *= meeting(from.resting.sides()[dimension], has + lane);
            }
        }
        for (std::size_t lane = 0; lane < count; ++lane) {
            const int stays = kept[lane] > 0 ? 1 : 0;
            moving.elements += received[lane] - kept[lane];
            moving.busiest = std::max({moving.busiest, sent[lane] - kept[lane], received[lane] - kept[lane]});
            moving.messages = std::max({moving.messages, targets[lane] - (targets[lane] > 0 ? stays : 0),
                                        sources[lane] - (sources[lane] > 0 ? stays : 0)});
        }
    }
    moving.elements *= static_cast<double>(std::max(from.ranks, to.ranks)) / static_cast<double>(tried);
    return moving;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
