#pragma once

#include <einparallel/notation/box.hpp>

namespace einparallel {

EINPARALLEL_INLINE box intersect(const box& a, const box& b) {
    box both;
    both.nothing = a.nothing || b.nothing;
    both.sides.reserve(a.rank());
    for (std::size_t dimension = 0; dimension < a.rank(); ++dimension) {
        both.sides.push_back(intersect(a.sides[dimension], b.sides[dimension]));
    }
    return both;
}

EINPARALLEL_INLINE std::vector<box> difference(const std::vector<box>& whole, const box& taken) {
    std::vector<box> rest;
    for (box each : whole) {
        const box common = intersect(each, taken);
        if (common.empty()) {
            rest.resize(rest.size() + (each.empty() ? 0 : 1), each);
            continue;
        }
        for (std::size_t dimension = 0; dimension < each.rank(); ++dimension) {
            const interval all = each.sides[dimension];
            const interval kept = common.sides[dimension];
            for (const interval left : {interval{all.begin, kept.begin}, interval{kept.end, all.end}}) {
                each.sides[dimension] = left;
                rest.resize(rest.size() + (left.empty() ? 0 : 1), each);
            }
            each.sides[dimension] = kept;
        }
    }
    return rest;
}

EINPARALLEL_INLINE box whole_box(const std::vector<index>& bounds) {
    return {detail::list_of(bounds, [](index bound) { return interval{0, bound}; })};
}

EINPARALLEL_INLINE bool contains(const box& outer, const box& inner) {
    return inner.empty() || intersect(outer, inner) == inner;
}

EINPARALLEL_INLINE std::vector<index> dense_strides(const box& shape) {
    std::vector<index> strides(shape.rank(), 1);
    for (std::size_t dimension = shape.rank(); dimension-- > 1;) {
        strides[dimension - 1] = strides[dimension] * shape.sides[dimension].size();
    }
    return strides;
}

}  // namespace einparallel

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<index> extents_of(const box& region) {
    return list_of(region.sides, &interval::size);
}

EINPARALLEL_INLINE index offset_of(const box& region, const box& whole, const std::vector<index>& strides) {
    index elements = 0;
    for (std::size_t dimension = 0; dimension < strides.size(); ++dimension) {
        elements += (region.sides[dimension].begin - whole.sides[dimension].begin) * strides[dimension];
    }
    return elements;
}

EINPARALLEL_INLINE std::string negative_extent(index_span extents) {
    const auto negative = find_if_in(extents, [](index extent) { return extent < 0; });
    return negative == extents.end() ? ""
                                     : "extent " + std::to_string(*negative) + " of dimension " +
                                           std::to_string(negative - extents.begin()) + " is negative";
}

}  // namespace einparallel::EINPARALLEL_DETAIL
