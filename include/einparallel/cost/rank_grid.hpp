#pragma once
// Regular distributions as grids of cells, and how a tensor is cut where no more than that is known.

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// How a tensor is cut, whatever the order of the mesh axes: the parts of every dimension and the pieces that each
/// block rests in.
struct tensor_cut {
    std::vector<int> parts;
    int pieces = 1;
    int ranks = 1;                             ///< of the whole vertex
    std::vector<std::vector<index>> points{};  ///< by dimension, none for even blocks; none at all where all are even
};

EINPARALLEL_INLINE tensor_cut cut_of(const mesh& ranks, const std::vector<label_id>& labels);

/// A regular distribution by the digits of a rank's number, each of which counts in one dimension: in the number of the
/// part, or of the piece of a part, that the rank has along it.
struct rank_grid {
    struct digit {
        int stride = 1;
        int radix = 1;
        std::size_t dimension = 0;
        int weight = 1;  ///< in the number of the dimension's cell: part by part, piece by piece
    };
    /// An extent in even parts, the longer ones first (block_of), divided once.
    struct even_parts {
        index shorter = 1;  ///< size of a part that is not a longer one
        index longer = 0;   ///< number of parts that have one more

        even_parts() = default;
        even_parts(index extent, int parts) : shorter(extent / parts), longer(extent % parts) {}
        [[nodiscard]] bool is_longer(index part) const { return part < longer; }
        [[nodiscard]] index begin_of(index part) const { return part * shorter + (part < longer ? part : longer); }
        [[nodiscard]] index part_at(index position) const {
            const index first = longer * (shorter + 1);  // of the shorter ones
            return position < first ? position / (shorter + 1) : longer + (position - first) / shorter;
        }
    };
    struct side {
        index extent = 1;
        mesh_axis axis;           ///< the parts, and their cut points
        int pieces = 1;           ///< of each part
        even_parts in_parts;      ///< without cut points
        even_parts in_pieces[2];  ///< of a shorter part, and of a longer one

        [[nodiscard]] index cells() const { return index{axis.parts} * pieces; }
        [[nodiscard]] interval cell(int number) const {
            if (!axis.points.empty()) {
                return block_of(axis.block(extent, number / pieces), pieces, number % pieces);
            }
            const int part = number / pieces;
            const int piece = number - part * pieces;
            const even_parts& of = in_pieces[in_parts.is_longer(part) ? 1 : 0];
            const index begin = in_parts.begin_of(part) + of.begin_of(piece);
            return {begin, begin + of.shorter + (of.is_longer(piece) ? 1 : 0)};
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

}  // namespace einparallel::EINPARALLEL_DETAIL
