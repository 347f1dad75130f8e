#pragma once
// Cuts a box into tiles, which are visited one after another.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// Calls f(tile) for the tiles that a box is cut into, in row-major order. A tile has `lengths` indices along each
/// side, or fewer at the end of a side.
/// @pre no length is 0
void for_each_tile(const std::vector<interval>& sides, const std::vector<index>& lengths, auto&& f) {
    if (any_in(sides, &interval::empty)) {
        return;
    }
    std::vector<interval> tile(sides.size());
    const auto begin_at = [&](std::size_t side, index begin) {
        tile[side] = {begin, std::min(begin + lengths[side], sides[side].end)};
    };
    for (std::size_t side = 0; side < sides.size(); ++side) {
        begin_at(side, sides[side].begin);
    }
    for (bool more = true; more;) {
        f(std::as_const(tile));
        more = false;
        for (std::size_t side = sides.size(); side-- > 0 && !more;) {
            more = tile[side].end < sides[side].end;
            begin_at(side, more ? tile[side].end : sides[side].begin);
        }
    }
}

/// Calls f(slab) for the slabs that a box is cut into, in row-major order. A slab has several indices of one side, one
/// index of each side before it and all indices of the sides behind it: as many elements as fit into `most` bytes, at
/// least one. Equal boxes are cut alike on every rank.
void for_each_slab(const box& region, std::size_t element_bytes, std::size_t most, auto&& f) {
    if (region.empty()) {
        return;
    }
    auto room = index(std::max<std::size_t>(1, most / element_bytes));  // for elements
    std::vector<index> lengths(region.rank(), 1);
    for (std::size_t side = region.rank(); side-- > 0;) {
        const index whole = region.sides[side].size();
        lengths[side] = std::clamp(room, index{1}, whole);
        room = lengths[side] < whole ? 1 : room / whole;
    }
    for_each_tile(region.sides, lengths, [&](const std::vector<interval>& sides) { f(box{sides}); });
}

}  // namespace einparallel::detail
