#pragma once
// What moves between two distributions of one tensor: the one count of redistribution traffic.

#include <einparallel/cost/rank_grid.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a redistribution costs, in all and the rank with the most to do.
struct traffic {
    double elements = 0;  ///< moved in all
    double busiest = 0;   ///< elements sent or received by one rank
    double messages = 0;  ///< sent or received by one rank

    friend bool operator==(const traffic&, const traffic&) = default;
};

/// What moves between any two distributions: the boxes of one, `from` or `to`, are looked up in the other.
EINPARALLEL_INLINE traffic irregular_traffic(const distribution& from, const distribution& to, bool from_boxes);

/// What moves between two binary grids of one tensor, in closed form. Of grids that cut unevenly an estimate.
EINPARALLEL_INLINE traffic binary_traffic(const rank_grid& from, const rank_grid& to);

/// The same of any two valid grids, from the cells of `tried` of their ranks (cells_of); without the busiest rank and
/// its messages with `elements_only`. Time: tried.
EINPARALLEL_INLINE traffic regular_traffic(const rank_grid& from, const rank_grid& to,
                                           const std::vector<double>& sent_from, const std::vector<double>& wanted,
                                           std::size_t tried, bool elements_only);

/// The same from the digits of the ranks' numbers, where those of both grids go together: ranks keep a product over
/// groups of dimensions that share digits, so each group is summed up by itself. Of uneven cells the busiest rank and
/// the messages are no less than they are.
/// Nothing where digits do not go together, or a group is too large.
EINPARALLEL_INLINE std::optional<traffic> digit_traffic(const rank_grid& from, const rank_grid& to, bool elements_only);

/// Share of a tensor's elements that at least have to change ranks between two cuts, whatever the orders of the mesh
/// axes: a rank keeps at most a box that fits into both of its boxes.
EINPARALLEL_INLINE double smallest_moved_share(const std::vector<index>& bounds, const tensor_cut& from,
                                               const tensor_cut& to);

}  // namespace einparallel::EINPARALLEL_DETAIL
