#pragma once

#include <einparallel/cost/redistribution_traffic.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

namespace einparallel::EINPARALLEL_DETAIL {

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

EINPARALLEL_INLINE double smallest_moved_share(const std::vector<index>& bounds, const tensor_cut& from,
                                               const tensor_cut& to) {
    if (from.parts.empty()) {
        return 0;  // one element, on rank 0 before and after
    }
    // How many of the largest boxes a dimension has room for: fewer than parts where these are uneven.
    const auto boxes_along = [&](std::size_t dimension, index parts) {
        const index extent = bounds[dimension];
        return extent % parts == 0 || extent == 0
                   ? static_cast<double>(parts)
                   : static_cast<double>(extent) / static_cast<double>(extent / parts + 1);
    };
    const auto times_boxes = [&](std::size_t dimension, index parts, index finer) {
        return finer == parts ? 1.0 : boxes_along(dimension, finer) / boxes_along(dimension, parts);
    };
    // Boxes that both cuts together make; the pieces of one block lie along one dimension, whichever makes fewest.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double boxes = 1;
    double both = infinity;                             // pieces of both along one dimension: times so many
    std::array<double, 2> readers{infinity, infinity};  // of `to` alone: the fewest, and the fewest along another
    std::size_t least_along = 0;
    for (std::size_t dimension = 0; dimension < from.parts.size(); ++dimension) {
        const index before = from.parts[dimension];
        const index after = to.parts[dimension];
        const index parts = std::max(before, after);
        boxes *= boxes_along(dimension, parts);
        both = std::min(both, times_boxes(dimension, parts, std::max(before * from.pieces, after * to.pieces)));
        const double with_reader = times_boxes(dimension, parts, std::max(before, after * to.pieces));
        if (with_reader < readers[0]) {
            readers = {with_reader, readers[0]};
            least_along = dimension;
        } else {
            readers[1] = std::min(readers[1], with_reader);
        }
    }
    double apart = infinity;
    for (std::size_t dimension = 0; dimension < from.parts.size(); ++dimension) {
        const index before = from.parts[dimension];
        const index after = to.parts[dimension];
        const double with_maker =
            times_boxes(dimension, std::max(before, after), std::max(before * from.pieces, after));
        apart = std::min(apart, with_maker * readers[dimension == least_along ? 1 : 0]);
    }
    double wanted = static_cast<double>(to.ranks) / to.pieces;  // less than 1 of a diagonal's blocks
    for (const int parts : to.parts) {
        wanted /= parts;
    }
    const double kept = std::min(from.ranks, to.ranks) / (boxes * std::min(both, apart));
    return std::max(0.0, wanted - kept);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
