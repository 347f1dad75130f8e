#pragma once
// A box in tiles, one after the other.

#include <einparallel/notation/box.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::detail {

/// f(tile) for the tiles that cut a box, in row-major order: so many indices of each side, fewer at its end.
/// @pre no length is 0
template <class F>
void for_each_tile(const std::vector<interval>& sides, const std::vector<index>& lengths, F&& f) {
    if (std::ranges::any_of(sides, &interval::empty)) {
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

}  // namespace einparallel::detail
