#pragma once
// A box in slabs: parts that pass through a small piece of host memory one after the other.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/tiles.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// f(slab) for parts of a box that follow each other in row-major order: some indices of one side each, one index of
/// the sides before it and all of those behind, as many as `most` bytes hold. The same for equal boxes everywhere.
template <class F>
void for_each_slab(const box& region, std::size_t element_bytes, std::size_t most, F&& f) {
    if (region.empty()) {
        return;
    }
    auto room = static_cast<index>(std::max<std::size_t>(1, most / element_bytes));  // for elements
    std::vector<index> lengths(region.rank(), 1);
    for (std::size_t side = region.rank(); side-- > 0;) {
        const index whole = region.sides[side].size();
        lengths[side] = std::clamp(room, index{1}, whole);
        room = lengths[side] < whole ? 1 : room / whole;
    }
    for_each_tile(region.sides, lengths, [&](const std::vector<interval>& sides) { f(box{sides}); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
