#pragma once

#include <einparallel/plan/rank_grid.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>

namespace einparallel::EINPARALLEL_DETAIL {

/// Extents and numbers of cells that are gone through one by one.
inline constexpr index is_short = 4096;

EINPARALLEL_INLINE std::vector<double> rank_grid::cells_of(const std::vector<int>& of_ranks) const {
    const std::size_t count = of_ranks.size();
    std::vector<double> made(2 * count * sides.size());
    for (std::size_t dimension = 0; dimension < sides.size(); ++dimension) {
        for (std::size_t place = 0; place < count; ++place) {
            int number = 0;
            for (const digit& each : digits) {
                number += each.dimension == dimension ? of_ranks[place] / each.stride % each.radix * each.weight : 0;
            }
            const interval held = of_ranks[place] < ranks ? sides[dimension].cell(number) : interval{};
            made[2 * dimension * count + place] = static_cast<double>(held.begin);
            made[(2 * dimension + 1) * count + place] = static_cast<double>(held.end);
        }
    }
    return made;
}

EINPARALLEL_INLINE index rank_grid::side::largest() const {
    index most = cell(0).size();
    for (int number = 1; number < cells() && !axis.points.empty(); ++number) {
        most = std::max(most, cell(number).size());
    }
    return most;
}

EINPARALLEL_INLINE double rank_grid::side::meeting(interval held) const {
    if (!before.empty()) {
        const int first = before[static_cast<std::size_t>(held.begin)];
        return before[static_cast<std::size_t>(held.end - 1)] + 1 - first;
    }
    if (!axis.points.empty()) {
        int met = 0;
        for (int number = 0; number < cells(); ++number) {
            met += intersect(cell(number), held).empty() ? 0 : 1;
        }
        return met;
    }
    const int parts = axis.parts;
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
    if (cells() > is_short && axis.points.empty()) {
        return static_cast<double>(std::min(others.cells(), others.cells() / cells() + 2));
    }
    double most = 0;
    for (int number = 0; number < cells(); ++number) {
        const interval each = cell(number);
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
                digits.push_back({stride, parts, dimension, static_cast<int>(along.cells())});
                (piece ? along.pieces : along.axis.parts) *= parts;
                if (!piece && !points.empty()) {
                    along.axis.points = points;
                    is_binary = is_even = false;
                }
            }
        }
    }
    for (side& along : sides) {
        for (int number = 0; number < along.cells() && std::max(along.cells(), along.extent) <= is_short; ++number) {
            along.before.insert(along.before.end(), static_cast<std::size_t>(along.cell(number).size()),
                                along.before.empty() ? 1 : along.before.back() + 1);
        }
        is_even = is_even && along.extent % along.cells() == 0;
        mean *= static_cast<double>(along.extent) / static_cast<double>(along.cells());
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
                                           const std::vector<double>& sent_from, const std::vector<double>& wanted,
                                           std::size_t tried, bool elements_only) {
    constexpr std::size_t lanes = 32;  // ranks that are worked on side by side: the loops over them are vectorised
    traffic moving;
    for (std::size_t first = 0; first < tried && !from.sides.empty(); first += lanes) {  // else one element, on rank 0
        const std::size_t count = std::min(lanes, tried - first);
        std::array<double, lanes> sent, received, kept, targets, sources;
        for (std::array<double, lanes>* each : {&sent, &received, &kept, &targets, &sources}) {
            each->fill(1);
        }
        for (std::size_t dimension = 0; dimension < from.sides.size(); ++dimension) {
            const double* const had = sent_from.data() + 2 * dimension * tried + first;  // begins, `tried` on the ends
            const double* const has = wanted.data() + 2 * dimension * tried + first;
            for (std::size_t lane = 0; lane < count; ++lane) {
                const double both = std::min(had[tried + lane], has[tried + lane]) - std::max(had[lane], has[lane]);
                sent[lane] *= had[tried + lane] - had[lane];
                received[lane] *= has[tried + lane] - has[lane];
                kept[lane] *= std::max(both, 0.0);
            }
            const auto meeting = [&](const rank_grid::side& others, const double* held) {
                const interval cell{static_cast<index>(held[0]), static_cast<index>(held[tried])};
                return cell.empty() ? 0 : others.meeting(cell);
            };
            for (std::size_t lane = 0; lane < count && !elements_only; ++lane) {
                targets[lane] *= meeting(to.sides[dimension], had + lane);
                sources[lane] *= meeting(from.sides[dimension], has + lane);
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
