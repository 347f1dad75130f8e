#pragma once
// What moves between two distributions of one tensor: the one count of redistribution traffic.

#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a redistribution costs, in all and the rank with the most to do.
struct traffic {
    double elements = 0;  ///< moved in all
    double busiest = 0;   ///< elements sent or received by one rank
    double messages = 0;  ///< sent or received by one rank

    friend bool operator==(const traffic&, const traffic&) = default;
};

/// A distribution with what counting its traffic needs, worked out once.
struct rank_grid {
    distribution resting;
    int ranks = 1;
    bool is_valid = false;                 ///< every element belongs to one rank, by the digits of the ranks' numbers
    bool is_binary = false;                ///< and all digits are powers of two, of even parts
    bool is_even = false;                  ///< and these cut their dimensions evenly
    double mean = 1;                       ///< elements per rank, in the mean
    std::vector<std::vector<int>> bits{};  ///< binary: by dimension, of the rank's number, most significant first

    rank_grid() = default;
    EINPARALLEL_INLINE explicit rank_grid(distribution of);

    /// Where the cells of these ranks begin, then where they end, dimension by dimension; 0 of ranks that hold nothing.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<double> cells_of(const std::vector<int>& of_ranks) const;
};

/// What moves between any two distributions: the boxes of one, `from` or `to`, are looked up in the other.
EINPARALLEL_INLINE traffic irregular_traffic(const distribution& from, const distribution& to, bool from_boxes);

/// What moves between two binary grids of one tensor, in closed form. Of grids that cut unevenly an estimate.
EINPARALLEL_INLINE traffic binary_traffic(const rank_grid& from, const rank_grid& to);

/// The same of any two valid grids, from the cells of `tried` of their ranks (cells_of), exact where these are all;
/// without the busiest rank and its messages with `elements_only`. Time: tried.
EINPARALLEL_INLINE traffic regular_traffic(const rank_grid& from, const rank_grid& to,
                                           const std::vector<double>& sent_from, const std::vector<double>& wanted,
                                           std::size_t tried, bool elements_only);

}  // namespace einparallel::EINPARALLEL_DETAIL
