#pragma once

#include <einparallel/plan/rank_grid.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE int rank_grid::side::cell_of(int rank) const {
    int number = 0;
    for (const auto* digits : {&of_part, &of_piece}) {
        for (const digit& each : *digits) {
            number = number * each.radix + rank / each.stride % each.radix;
        }
    }
    return number;
}

EINPARALLEL_INLINE interval rank_grid::side::cell(int number) const {
    return cells.empty() ? block_of(block_of(extent, parts, number / pieces), pieces, number % pieces)
                         : cells[static_cast<std::size_t>(number)];
}

EINPARALLEL_INLINE void rank_grid::side::find_cells() {
    constexpr index is_short = 4096;
    for (int part = 0; part < parts && index{parts} * pieces <= is_short; ++part) {
        for (int piece = 0; piece < pieces; ++piece) {
            cells.push_back(block_of(block_of(extent, parts, part), pieces, piece));
        }
    }
    for (const interval& each : extent <= is_short ? cells : std::vector<interval>{}) {
        before.insert(before.end(), static_cast<std::size_t>(each.size()), before.empty() ? 1 : before.back() + 1);
    }
}

EINPARALLEL_INLINE std::vector<int> rank_grid::cells_of(const std::vector<int>& of_ranks) const {
    std::vector<int> made;
    made.reserve(of_ranks.size() * sides.size());
    for (const side& along : sides) {
        for (const int rank : of_ranks) {
            made.push_back(rank < ranks ? along.cell_of(rank) : -1);
        }
    }
    return made;
}

EINPARALLEL_INLINE double rank_grid::side::meeting(interval held) const {
    if (!before.empty()) {
        const int first = before[static_cast<std::size_t>(held.begin)];
        return before[static_cast<std::size_t>(held.end - 1)] + 1 - first;
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
    : ranks(over.size()), is_valid(true), bits(bounds.size()) {
    for (const index bound : bounds) {
        sides.emplace_back().extent = bound;
    }
    int stride = ranks;
    for (const mesh_axis& axis : over.axes) {
        stride /= axis.parts;
        const auto times = std::count(labels.begin(), labels.end(), axis.label);
        if (times > 1 || (times == 0 && bounds.empty())) {
            is_valid = false;  // a diagonal, whose blocks do not cover the tensor, or one element for many ranks
            return;
        }
        const auto dimension =
            times == 0 ? cut
                       : static_cast<std::size_t>(std::find(labels.begin(), labels.end(), axis.label) - labels.begin());
        side& along = sides[dimension];
        (times == 0 ? along.pieces : along.parts) *= axis.parts;
        (times == 0 ? along.of_piece : along.of_part).push_back({stride, axis.parts});
    }
    for (side& along : sides) {
        along.find_cells();
    }
    is_binary = std::has_single_bit(static_cast<unsigned>(ranks));
    is_even = true;
    for (std::size_t dimension = 0; dimension < bounds.size() && is_binary; ++dimension) {
        const side& along = sides[dimension];
        const index parts = static_cast<index>(along.parts) * along.pieces;
        is_even = is_even && bounds[dimension] % parts == 0;
        mean *= static_cast<double>(bounds[dimension]) / static_cast<double>(parts);
        for (const auto* digits : {&along.of_part, &along.of_piece}) {
            for (const digit& one : *digits) {
                const int low = std::countr_zero(static_cast<unsigned>(one.stride));
                for (int bit = std::countr_zero(static_cast<unsigned>(one.radix)); bit-- > 0;) {
                    bits[dimension].push_back(low + bit);
                }
            }
        }
    }
}

/// What moves between two binary grids of one tensor. Ranks keep something where all bits that both grids cut a
/// dimension by agree; they all keep the same amount then. Of grids that cut unevenly an estimate.
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
    constexpr std::size_t most_digits = 64;
    constexpr double most_cells = 4096;
    struct atom {
        int stride = 1;
        int radix = 1;
        std::array<std::size_t, 2> side{};  // dimension that it counts in, before and after
        std::array<int, 2> weight{};
    };
    const std::size_t dimensions = from.sides.size();
    std::array<int, most_digits> strides{};
    std::size_t count = 0;
    for (const rank_grid* grid : {&from, &to}) {
        strides[count++] = grid->ranks;
        for (const rank_grid::side& along : grid->sides) {
            for (const auto* digits : {&along.of_part, &along.of_piece}) {
                for (const rank_grid::digit& each : *digits) {
                    if (count == most_digits) {
                        return std::nullopt;
                    }
                    strides[count++] = each.stride;
                }
            }
        }
    }
    std::sort(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(count));
    const int fewer = std::min(from.ranks, to.ranks);
    std::array<atom, most_digits> atoms{};
    std::size_t used = 0;
    int below = 1;
    for (std::size_t place = 0; place < count; ++place) {
        if (strides[place] % below != 0) {
            return std::nullopt;
        }
        if (strides[place] > below && strides[place] <= fewer) {
            atoms[used].stride = below;
            atoms[used++].radix = strides[place] / below;
        }
        below = strides[place];
    }
    std::array<std::size_t, most_digits> group{};
    for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
        group[dimension] = dimension;
    }
    for (std::size_t end = 0; end < 2; ++end) {
        const rank_grid& grid = end == 0 ? from : to;
        for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
            int weight = 1;
            const rank_grid::side& along = grid.sides[dimension];
            for (const auto* digits : {&along.of_piece, &along.of_part}) {
                for (std::size_t place = digits->size(); place-- > 0;) {
                    const rank_grid::digit& each = (*digits)[place];
                    for (std::size_t one = 0; one < used; ++one) {
                        if (atoms[one].stride >= each.stride && atoms[one].stride < each.stride * each.radix) {
                            atoms[one].side[end] = dimension;
                            atoms[one].weight[end] = weight * (atoms[one].stride / each.stride);
                        }
                    }
                    weight *= each.radix;
                }
            }
        }
    }
    for (std::size_t one = 0; one < used; ++one) {
        const std::size_t a = group[atoms[one].side[0]];
        const std::size_t b = group[atoms[one].side[1]];
        std::replace(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(dimensions), a, b);
    }
    double kept = 1;
    double least_kept = 1;
    std::array<std::array<int, 2>, most_digits> cell{};
    std::array<int, most_digits> value{};
    for (std::size_t leader = 0; leader < dimensions; ++leader) {
        std::array<std::size_t, most_digits> own{};
        std::array<std::size_t, most_digits> inside{};
        std::size_t digits = 0;
        std::size_t sides = 0;
        double cells = 1;
        for (std::size_t one = 0; one < used; ++one) {
            if (group[atoms[one].side[0]] == leader) {
                own[digits++] = one;
                cells *= atoms[one].radix;
            }
        }
        for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
            if (group[dimension] == leader) {
                inside[sides++] = dimension;
            }
        }
        if (cells > most_cells) {
            return std::nullopt;
        }
        double sum = 0;
        double least = std::numeric_limits<double>::infinity();
        for (bool more = sides > 0; more;) {
            double both = 1;
            for (std::size_t place = 0; place < sides; ++place) {
                const std::size_t dimension = inside[place];
                both *= static_cast<double>(intersect(from.sides[dimension].cell(cell[dimension][0]),
                                                      to.sides[dimension].cell(cell[dimension][1]))
                                                .size());
            }
            sum += both;
            least = std::min(least, both);
            more = false;
            for (std::size_t place = 0; place < digits && !more; ++place) {
                const atom& each = atoms[own[place]];
                const int step = ++value[own[place]] < each.radix ? 1 : 1 - each.radix;
                more = step == 1;
                value[own[place]] = more ? value[own[place]] : 0;
                cell[each.side[0]][0] += step * each.weight[0];
                cell[each.side[1]][1] += step * each.weight[1];
            }
        }
        kept *= sides > 0 ? sum : 1;
        least_kept *= sides > 0 ? least : 1;
    }
    traffic moving;
    double sent = 1;
    double received = 1;
    moving.elements = 1;
    double targets = 1;
    double sources = 1;
    for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
        const rank_grid::side& had = from.sides[dimension];
        const rank_grid::side& has = to.sides[dimension];
        moving.elements *= static_cast<double>(had.extent);
        sent *= static_cast<double>(had.cell(0).size());
        received *= static_cast<double>(has.cell(0).size());
        targets *= elements_only ? 1 : had.most_meeting(has);
        sources *= elements_only ? 1 : has.most_meeting(had);
    }
    moving.elements -= kept;
    if (moving.elements > 0) {
        const double stays_here = from.ranks == fewer ? least_kept : 0;
        const double stays_there = to.ranks == fewer ? least_kept : 0;
        moving.busiest = std::max(sent - stays_here, received - stays_there);
        moving.messages = std::max(targets - (stays_here > 0 ? 1 : 0), sources - (stays_there > 0 ? 1 : 0));
    }
    return moving;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
