#pragma once
// Regular distributions as grids of cells, and what moves between two of them: the one count of redistribution traffic.

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

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

/// A regular distribution by the digits of a rank's number, each of which counts in one dimension: in the number of the
/// part, or of the piece of a part, that the rank has along it.
struct rank_grid {
    struct digit {
        int stride = 1;
        int radix = 1;
        std::size_t dimension = 0;
        int weight = 1;  ///< in the number of the dimension's cell: part by part, piece by piece
    };
    struct side {
        index extent = 1;
        mesh_axis axis;           ///< the parts, and their cut points
        int pieces = 1;           ///< of each part
        std::vector<int> before;  ///< of short extents, by index: cells with elements that begin no later

        [[nodiscard]] index cells() const { return index{axis.parts} * pieces; }
        [[nodiscard]] interval cell(int number) const {
            return block_of(axis.block(extent, number / pieces), pieces, number % pieces);
        }
        /// Elements of the largest cell.
        EINPARALLEL_INLINE [[nodiscard]] index largest() const;
        /// Cells that meet one that is not empty.
        EINPARALLEL_INLINE [[nodiscard]] double meeting(interval held) const;
        /// The most that any cell of this side meets of another, or more where there are many.
        EINPARALLEL_INLINE [[nodiscard]] double most_meeting(const side& others) const;
    };
    std::vector<digit> digits;  ///< the innermost first
    std::vector<side> sides;
    int ranks = 1;
    bool is_valid = false;   ///< every element belongs to one rank, and no dimension is cut by another's digits
    bool is_binary = false;  ///< and all digits are powers of two
    bool is_even = false;    ///< and these cut their dimensions evenly
    double mean = 1;         ///< elements per rank, in the mean
    std::vector<std::vector<int>> bits;  ///< binary: by dimension, of the rank's number, most significant first

    rank_grid() = default;
    EINPARALLEL_INLINE rank_grid(const std::vector<index>& bounds, const mesh& over,
                                 const std::vector<label_id>& labels, std::size_t cut);

    /// Where the cells of these ranks begin, then where they end, dimension by dimension; 0 of ranks that hold nothing.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<double> cells_of(const std::vector<int>& of_ranks) const;
};

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

}  // namespace einparallel::EINPARALLEL_DETAIL
