#pragma once
// A box in slabs: parts that pass through a small piece of host memory one after the other.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// f(slab) for parts of a box that follow each other in row-major order: some indices of one side each, one index of
/// the sides before it and all of those behind, as many as `most` bytes hold. The same for equal boxes everywhere.
template <class F>
void for_each_slab(const box& region, std::size_t element_bytes, std::size_t most, F&& f) {
    const auto elements = static_cast<index>(std::max<std::size_t>(1, most / element_bytes));
    std::size_t cut = region.rank();  // the side of which several indices fit
    index inner = 1;
    while (cut > 0 && inner * region.sides[cut - 1].size() <= elements) {
        inner *= region.sides[--cut].size();
    }
    if (region.empty() || cut == 0) {
        if (!region.empty()) {
            f(region);
        }
        return;
    }
    const interval whole = region.sides[--cut];
    const index length = std::max<index>(1, elements / inner);
    box slab = region;
    for (std::size_t side = 0; side < cut; ++side) {
        slab.sides[side].end = slab.sides[side].begin + 1;
    }
    for (;;) {
        for (index begin = whole.begin; begin < whole.end; begin += length) {
            slab.sides[cut] = {begin, std::min(begin + length, whole.end)};
            f(std::as_const(slab));
        }
        std::size_t side = cut;  // the next point of the outer sides
        while (side-- > 0) {
            interval& at = slab.sides[side];
            at = at.end < region.sides[side].end ? interval{at.end, at.end + 1}
                                                 : interval{region.sides[side].begin, region.sides[side].begin + 1};
            if (at.begin != region.sides[side].begin) {
                break;
            }
        }
        if (side == static_cast<std::size_t>(-1)) {
            return;
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
