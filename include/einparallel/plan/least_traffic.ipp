#pragma once
// What no move costs less than between two places of which only the cuts are known.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/places.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE tensor_cut cut_of(const mesh& ranks, const std::vector<label_id>& labels) {
    tensor_cut made{std::vector<int>(labels.size(), 1), 1, 1};
    for (const mesh_axis& axis : ranks.axes) {
        bool cuts = false;
        for (std::size_t dimension = 0; dimension < labels.size(); ++dimension) {
            if (labels[dimension] == axis.label) {
                made.parts[dimension] *= axis.parts;
                if (!axis.points.empty()) {
                    made.points.resize(labels.size());
                    made.points[dimension] = axis.points;
                }
                cuts = true;
            }
        }
        made.pieces *= cuts ? 1 : axis.parts;
        made.ranks *= axis.parts;
    }
    return made;
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

EINPARALLEL_INLINE traffic place_table::by_cuts(place_id from, place_id to) const {
    if (from == to || from < 0 || to < 0) {
        return {};
    }
    const place& before = places_[at(from)];
    const place& after = places_[at(to)];
    if (!before.cut || !after.cut || !before.cut->points.empty() || !after.cut->points.empty()) {
        return {};
    }
    double elements = 1;
    for (const index bound : before.bounds) {
        elements *= static_cast<double>(bound);
    }
    traffic least;
    least.elements = elements * smallest_moved_share(before.bounds, *before.cut, *after.cut);
    if (least.elements <= elements * 1e-9) {
        return {};
    }
    least.busiest = least.elements / std::min(before.cut->ranks, after.cut->ranks);
    // Ranks that hold something at least: where a block has fewer slices than pieces, perhaps one of its sharers.
    const auto holders = [&](const tensor_cut& cut) {
        bool all = true;
        for (std::size_t dimension = 0; dimension < cut.parts.size() && cut.pieces > 1; ++dimension) {
            all = all && before.bounds[dimension] / cut.parts[dimension] >= cut.pieces;
        }
        return all ? cut.ranks : cut.ranks / cut.pieces;
    };
    const auto partners = [](int many, int few) { return many > few ? (many - 1) / few : 0; };  // ⌈(many − few) / few⌉
    least.messages = std::max(1, partners(holders(*after.cut), before.cut->ranks));
    if (is_diagonal(from) || is_diagonal(to)) {
        return least;
    }
    double targets = before.cut->pieces == 1 ? 1 : 0;  // blocks that one block meets
    double sources = after.cut->pieces == 1 ? 1 : 0;
    for (std::size_t dimension = 0; dimension < before.bounds.size(); ++dimension) {
        const int had = before.cut->parts[dimension];
        const int wanted = after.cut->parts[dimension];
        sources *= had > wanted ? (had + wanted - 1) / wanted : 1;
        targets *= wanted > had ? (wanted + had - 1) / had : 1;
    }
    const int senders = partners(holders(*before.cut), after.cut->ranks);
    least.messages = std::max({least.messages, static_cast<double>(senders), sources - 1, targets - 1});
    return least;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
