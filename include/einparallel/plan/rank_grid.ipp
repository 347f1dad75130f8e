#pragma once

#include <einparallel/plan/rank_grid.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE interval rank_grid::side::cell(int number) const {
    return cells.empty() ? block_of(block_of(extent, parts, number / pieces), pieces, number % pieces)
                         : cells[static_cast<std::size_t>(number)];
}

EINPARALLEL_INLINE std::vector<int> rank_grid::cells_of(const std::vector<int>& of_ranks) const {
    std::vector<int> made(of_ranks.size() * sides.size(), 0);
    for (const digit& each : digits) {
        for (std::size_t place = 0; place < of_ranks.size(); ++place) {
            made[each.dimension * of_ranks.size() + place] += of_ranks[place] / each.stride % each.radix * each.weight;
        }
    }
    for (std::size_t cell = 0; cell < made.size(); ++cell) {
        made[cell] = of_ranks[cell % of_ranks.size()] < ranks ? made[cell] : -1;
    }
    return made;
}

EINPARALLEL_INLINE index rank_grid::side::largest() const {
    return points.empty() ? cell(0).size() : std::ranges::max(cells, {}, &interval::size).size();
}

EINPARALLEL_INLINE double rank_grid::side::meeting(interval held) const {
    if (!before.empty()) {
        const int first = before[static_cast<std::size_t>(held.begin)];
        return before[static_cast<std::size_t>(held.end - 1)] + 1 - first;
    }
    if (!points.empty()) {
        return static_cast<double>(
            std::ranges::count_if(cells, [&](interval each) { return !intersect(each, held).empty(); }));
    }
    // The part of [0, bound) that an index lies in.
    const auto part_at = [](index bound, int count, index position) {
        const index small = bound / count;
        const index larger = bound % count;
        return position < larger * (small + 1) ? position / (small + 1)
                                               : larger + (position - larger * (small + 1)) / small;
    };
    const auto pieces_of = [&](index part) {
        return std::min<index>(pieces, block_of(extent, parts, static_cast<int>(part)).size());
    };
    const auto piece_at = [&](index part, index position) {
        const interval block = block_of(extent, parts, static_cast<int>(part));
        return part_at(block.size(), pieces, position - block.begin);
    };
    const index first = part_at(extent, parts, held.begin);
    const index last = part_at(extent, parts, held.end - 1);
    index count = piece_at(last, held.end - 1) + 1 - piece_at(first, held.begin);
    if (first != last) {  // what the first part has from there on, and all of the parts between
        const index larger = std::clamp<index>(extent % parts - first, 0, last - first);
        count += larger * pieces_of(first) + (last - first - larger) * pieces_of(last - 1);
    }
    return static_cast<double>(count);
}

EINPARALLEL_INLINE double rank_grid::side::most_meeting(const side& others) const {
    if (cells.empty()) {
        const index all = index{others.parts} * others.pieces;
        return static_cast<double>(std::min(all, all / (index{parts} * pieces) + 2));
    }
    double most = 0;
    for (const interval& each : cells) {
        most = std::max(most, each.empty() ? 0 : others.meeting(each));
    }
    return most;
}

EINPARALLEL_INLINE rank_grid::rank_grid(const std::vector<index>& bounds, const mesh& over,
                                        const std::vector<label_id>& labels, std::size_t cut)
    : ranks(over.size()),
      is_valid(true),
      is_binary(std::has_single_bit(static_cast<unsigned>(ranks))),
      is_even(is_binary) {
    for (const index bound : bounds) {
        sides.emplace_back().extent = bound;
    }
    int stride = 1;
    for (const bool piece : {true, false}) {  // the digits of a part stand before those of its pieces
        stride = 1;
        for (std::size_t axis = over.axes.size(); axis-- > 0; stride *= over.axes[axis].parts) {
            const auto& [label, parts, points] = over.axes[axis];
            const auto times = std::count(labels.begin(), labels.end(), label);
            if (times > 1 || (times == 0 && bounds.empty())) {
                is_valid = is_binary = is_even = false;  // a diagonal covers no tensor; or one element for many ranks
                return;
            }
            if (piece == (times == 0)) {
                const auto place = std::find(labels.begin(), labels.end(), label) - labels.begin();
                const std::size_t dimension = piece ? cut : static_cast<std::size_t>(place);
                side& along = sides[dimension];
                digits.push_back({stride, parts, dimension, along.parts * along.pieces});
                (piece ? along.pieces : along.parts) *= parts;
                if (!piece && !points.empty()) {
                    along.points = points;
                    is_binary = is_even = false;
                }
            }
        }
    }
    for (side& along : sides) {
        constexpr index is_short = 4096;
        const index all = index{along.parts} * along.pieces;
        for (int number = 0; number < all && (all <= is_short || !along.points.empty()); ++number) {
            const mesh_axis axis{no_label, along.parts, along.points};
            along.cells.push_back(
                block_of(axis.block(along.extent, number / along.pieces), along.pieces, number % along.pieces));
        }
        for (const interval& each : along.extent <= is_short ? along.cells : std::vector<interval>{}) {
            along.before.insert(along.before.end(), static_cast<std::size_t>(each.size()),
                                along.before.empty() ? 1 : along.before.back() + 1);
        }
        is_even = is_even && along.extent % all == 0;
        mean *= static_cast<double>(along.extent) / static_cast<double>(all);
    }
    bits.resize(bounds.size());
    std::ranges::sort(digits, std::greater<>(), &digit::weight);
    for (const digit& each : is_binary ? digits : std::vector<digit>{}) {
        for (int bit = std::countr_zero(static_cast<unsigned>(each.radix)); bit-- > 0;) {
            bits[each.dimension].push_back(std::countr_zero(static_cast<unsigned>(each.stride)) + bit);
        }
    }
    std::ranges::sort(digits, {}, &digit::stride);
}

/// Ranks keep something where all bits that both grids cut a dimension by agree; they all keep the same amount then.
EINPARALLEL_INLINE traffic binary_traffic(const rank_grid& from, const rank_grid& to) {
    constexpr std::size_t most_bits = 32;
    std::array<std::size_t, most_bits + 1> parent{};
    const auto from_bits = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(from.ranks)));
    const auto to_bits = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(to.ranks)));
    const std::size_t count = std::max(from_bits, to_bits);
    for (std::size_t bit = 0; bit <= count; ++bit) {
        parent[bit] = bit;
    }
    std::size_t classes = count + 1;
    const auto join = [&](std::size_t a, std::size_t b) {
        while (parent[a] != a) {
            a = parent[a];
        }
        while (parent[b] != b) {
            b = parent[b];
        }
        classes -= a != b ? 1 : 0;
        parent[a] = b;
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
                                           const std::vector<int>& sent_from, const std::vector<int>& wanted,
                                           std::size_t tried, bool elements_only) {
    traffic moving;
    for (std::size_t trial = 0; trial < tried; ++trial) {
        double sent = 1;
        double received = 1;
        double kept = 1;
        double targets = 1;
        double sources = 1;
        for (std::size_t dimension = 0; dimension < from.sides.size(); ++dimension) {
            const rank_grid::side& had = from.sides[dimension];
            const rank_grid::side& has = to.sides[dimension];
            const int here = sent_from[dimension * tried + trial];
            const int there = wanted[dimension * tried + trial];
            const interval before = here < 0 ? interval{} : had.cell(here);
            const interval after = there < 0 ? interval{} : has.cell(there);
            sent *= static_cast<double>(before.size());
            received *= static_cast<double>(after.size());
            kept *= static_cast<double>(intersect(before, after).size());
            if (!elements_only) {
                targets *= before.empty() ? 0 : has.meeting(before);
                sources *= after.empty() ? 0 : had.meeting(after);
            }
        }
        if (from.sides.empty()) {  // one element, on rank 0
            return moving;
        }
        moving.elements += received - kept;
        moving.busiest = std::max({moving.busiest, sent - kept, received - kept});
        const int stays = kept > 0 ? 1 : 0;
        moving.messages =
            std::max({moving.messages, targets - (targets > 0 ? stays : 0), sources - (sources > 0 ? stays : 0)});
    }
    moving.elements *= static_cast<double>(std::max(from.ranks, to.ranks)) / static_cast<double>(tried);
    return moving;
}

EINPARALLEL_INLINE std::optional<traffic> digit_traffic(const rank_grid& from, const rank_grid& to,
                                                        bool elements_only) {
    constexpr double most_cells = 4096;
    struct atom {  // a digit of both grids: of the cells' numbers along a dimension before, and along one after
        int radix;
        std::size_t before, after;
        int weight_before, weight_after;
    };
    const std::size_t dimensions = from.sides.size();
    const int fewer = std::min(from.ranks, to.ranks);
    std::vector<atom> atoms;
    std::vector<std::size_t> group(dimensions);
    std::iota(group.begin(), group.end(), std::size_t{0});
    auto had = from.digits.begin();
    auto has = to.digits.begin();
    for (int below = 1; below < fewer;) {
        const int next = std::min({had->stride * had->radix, has->stride * has->radix, fewer});
        if (next % below != 0) {
            return std::nullopt;
        }
        atoms.push_back({next / below, had->dimension, has->dimension, had->weight * (below / had->stride),
                         has->weight * (below / has->stride)});
        const std::size_t merged = group[had->dimension];
        std::replace(group.begin(), group.end(), merged, group[has->dimension]);
        had += next == had->stride * had->radix ? 1 : 0;
        has += next == has->stride * has->radix ? 1 : 0;
        below = next;
    }
    double elements = 1;
    double sent = 1;
    double received = 1;
    double kept = 1;
    double least_kept = 1;
    double targets = 1;
    double sources = 1;
    for (std::size_t leader = 0; leader < dimensions; ++leader) {
        const rank_grid::side& here = from.sides[leader];
        const rank_grid::side& there = to.sides[leader];
        elements *= static_cast<double>(here.extent);
        sent *= static_cast<double>(here.largest());
        received *= static_cast<double>(there.largest());
        targets *= elements_only ? 1 : here.most_meeting(there);
        sources *= elements_only ? 1 : there.most_meeting(here);
        if (group[leader] != leader) {
            continue;
        }
        std::vector<atom> own;
        double cells = 1;
        for (const atom& each : atoms) {
            if (group[each.before] == leader) {
                own.push_back(each);
                cells *= each.radix;
            }
        }
        if (cells > most_cells) {
            return std::nullopt;
        }
        double sum = 0;
        double least = std::numeric_limits<double>::infinity();
        std::vector<int> before(dimensions, 0);
        std::vector<int> after(dimensions, 0);
        std::vector<int> value(own.size(), 0);
        for (bool more = true; more;) {
            double both = 1;
            for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
                if (group[dimension] == leader) {
                    both *= static_cast<double>(intersect(from.sides[dimension].cell(before[dimension]),
                                                          to.sides[dimension].cell(after[dimension]))
                                                    .size());
                }
            }
            sum += both;
            least = std::min(least, both);
            more = false;
            for (std::size_t place = 0; place < own.size() && !more; ++place) {
                more = ++value[place] < own[place].radix;
                const int step = more ? 1 : 1 - own[place].radix;
                value[place] = more ? value[place] : 0;
                before[own[place].before] += step * own[place].weight_before;
                after[own[place].after] += step * own[place].weight_after;
            }
        }
        kept *= sum;
        least_kept *= least;
    }
    traffic moving;
    moving.elements = elements - kept;
    if (moving.elements > 0) {
        const double stays_here = from.ranks == fewer ? least_kept : 0;
        const double stays_there = to.ranks == fewer ? least_kept : 0;
        moving.busiest = std::max(sent - stays_here, received - stays_there);
        moving.messages = std::max(targets - (stays_here > 0 ? 1 : 0), sources - (stays_there > 0 ? 1 : 0));
    }
    return moving;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
