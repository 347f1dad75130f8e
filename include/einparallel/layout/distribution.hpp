#pragma once
// Where the elements of a tensor rest: which box each rank holds. Resting tensors are never replicated.

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel {

/// How the indices of one dimension are cut: into parts, and each part into pieces that rest on different ranks. A cell
/// is a piece of a part; cells are numbered part by part.
struct cut_side {
    index extent = 1;             ///< extent of the dimension
    int parts = 1;                ///< parts that the mesh cuts the dimension into
    int pieces = 1;               ///< pieces of each part
    std::vector<index> points{};  ///< parts + 1 cut points; empty: parts that differ by at most one index

    /// Number of cells.
    [[nodiscard]] int cells() const { return parts * pieces; }
    /// Indices of a part.
    [[nodiscard]] interval part(int number) const {
        const auto first = std::size_t(number);
        return points.empty() ? block_of(extent, parts, number) : interval{points[first], points[first + 1]};
    }
    /// Indices of a cell.
    [[nodiscard]] interval cell(int number) const { return block_of(part(number / pieces), pieces, number % pieces); }

    friend bool operator==(const cut_side&, const cut_side&) = default;
};

/// One digit of a rank's number: rank / stride % radix. Along a dimension, the number of the rank's cell is the sum of
/// its digits times their weights. Digits of pieces have smaller weights than those of parts.
struct rank_digit {
    int stride = 1;             ///< place value of the digit in a rank's number
    int radix = 1;              ///< number of values of the digit
    int weight = 1;             ///< place value of the digit in the number of a cell
    std::size_t dimension = 0;  ///< dimension whose cells the digit counts
    bool is_piece = false;      ///< true where the digit counts pieces of a part, not parts

    /// Value of the digit in the number of `rank`.
    [[nodiscard]] int of(int rank) const { return rank / stride % radix; }

    friend bool operator==(const rank_digit&, const rank_digit&) = default;
};

/// How a tensor rests on ranks. A regular distribution comes from a vertex's mesh. Every axis cuts the dimensions that
/// carry its label. Axes whose label the tensor lacks give q ranks the same block: it is cut along one dimension into q
/// pieces, and each of these ranks stores one. An irregular distribution lists boxes (an application's own layout, one
/// rank's array). Boxes of different ranks are disjoint, unless they are the elements that ranks read at functions of
/// labels. The boxes cover all elements that the reader needs (only diagonal blocks for `ii->i`).
class distribution {
public:
    distribution() = default;

    /// A regular distribution. `labels` are the labels of the tensor's dimensions in the einsum whose mesh is `ranks`.
    /// Where a label stands twice, both dimensions are cut. Several axes of one label cut it together, as one axis with
    /// their row-major coordinates would. `cut` is the dimension along which a replicated block is stored in pieces,
    /// which block_of cuts. It is ignored where nothing is replicated, and for rank 0: then replica 0 holds the
    /// element, the others nothing.
    EINPARALLEL_INLINE distribution(std::vector<index> bounds, const mesh& ranks, const std::vector<label_id>& labels,
                                    std::size_t cut);

    /// An irregular distribution: `rank` holds boxes[rank], and ranks beyond the list hold nothing.
    EINPARALLEL_INLINE distribution(std::vector<index> bounds, std::vector<box> boxes);

    /// An irregular distribution with several boxes for each rank, which may overlap: the elements that it reads.
    EINPARALLEL_INLINE distribution(const std::vector<index>& bounds, const std::vector<std::vector<box>>& boxes);

    /// Extents of the tensor.
    [[nodiscard]] const std::vector<index>& bounds() const { return bounds_; }

    /// How each dimension is cut. digits() say which rank has which cell. @pre regular
    [[nodiscard]] const std::vector<cut_side>& sides() const { return sides_; }
    /// The digits of a rank's number. @pre regular
    [[nodiscard]] const std::vector<rank_digit>& digits() const { return digits_; }

    /// True where a mesh describes the distribution, false where boxes do.
    [[nodiscard]] bool is_regular() const { return regular_; }

    /// True where a label stands twice: the blocks lie on a diagonal and do not cover the tensor.
    [[nodiscard]] bool is_diagonal() const { return diagonal_; }

    /// The box that `rank` stores; the smallest box around its boxes where it stores several.
    EINPARALLEL_INLINE [[nodiscard]] box held_by(int rank) const;
    /// The boxes that `rank` stores. They do not overlap.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<box> boxes_of(int rank) const {
        const bool is_listed = rank >= 0 && rank < int(boxes_.size());
        return is_listed ? boxes_[std::size_t(rank)] : std::vector<box>{held_by(rank)};
    }

    /// The block that `rank` computes with: its own piece and those of its replicas together. Equal to held_by() where
    /// nothing is replicated, and for irregular distributions.
    EINPARALLEL_INLINE [[nodiscard]] box block_of_rank(int rank) const;

    /// The ranks that compute with the same block as `rank`, in the order of their pieces; `{rank}` where nothing is
    /// replicated.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<int> replicas(int rank) const;

    /// Position of `rank` among its replicas: the number of its piece, row-major over the axes whose label the tensor
    /// lacks, in the order of the mesh.
    EINPARALLEL_INLINE [[nodiscard]] int replica_number(int rank) const {
        return detail::sum_in(digits_, 0, [&](const rank_digit& digit) {
            return digit.is_piece && rank < holders_ ? digit.of(rank) * digit.weight : 0;
        });
    }

    /// The ranks that hold an element of `region`, ascending. A regular distribution looks only at the blocks that meet
    /// the region, not at all ranks, unless is_diagonal().
    EINPARALLEL_INLINE [[nodiscard]] std::vector<int> ranks_meeting(const box& region) const;

    /// Number of the cell that a rank has along a dimension. @pre regular
    EINPARALLEL_INLINE [[nodiscard]] int cell_of(int rank, std::size_t dimension) const {
        return detail::sum_in(digits_, 0, [&](const rank_digit& digit) {
            return digit.dimension == dimension ? digit.of(rank) * digit.weight : 0;
        });
    }

    /// Number of ranks that may hold elements: ranks from this number on hold nothing.
    [[nodiscard]] int holders() const { return holders_; }

    /// Number of pieces that every block is stored in.
    [[nodiscard]] int replication() const { return replication_; }

    /// The dimension that pieces are cut along; nothing where blocks are stored whole.
    [[nodiscard]] std::optional<std::size_t> cut() const {
        return bounds_.empty() || replication_ == 1 ? std::nullopt : std::optional(cut_);
    }

    /// Extent along `dimension` of the largest block (not piece) of any rank. It is the same on all ranks, so that they
    /// may decide by it.
    EINPARALLEL_INLINE [[nodiscard]] index largest_block_extent(std::size_t dimension) const;

    /// Elements of a block that has the largest extent along every dimension.
    EINPARALLEL_INLINE [[nodiscard]] double largest_block() const;

    /// True for the same boxes on every rank, however they are described. All empty boxes are equal.
    EINPARALLEL_INLINE friend bool operator==(const distribution& a, const distribution& b);

private:
    std::vector<index> bounds_;
    std::vector<cut_side> sides_;          ///< regular: how each dimension is cut
    std::vector<rank_digit> digits_;       ///< regular: digits of pieces first; those of inner axes first
    std::vector<std::vector<box>> boxes_;  ///< irregular: by rank; boxes of one rank do not overlap
    std::size_t cut_ = 0;
    int holders_ = 1;
    int replication_ = 1;
    bool regular_ = true;
    bool diagonal_ = false;
};

/// The distribution of a tensor over a mesh whose labels are the numbers of the tensor's dimensions.
EINPARALLEL_INLINE distribution cut_along(const std::vector<index>& bounds, const mesh& ranks);

/// The distribution of a tensor that one rank holds whole, as the root holds an array before it is scattered.
EINPARALLEL_INLINE distribution held_by_one(const std::vector<index>& bounds, int root);

/// (Declared here, too: a friend's declaration alone does not make it visible in a shared library.)
EINPARALLEL_INLINE bool operator==(const distribution& a, const distribution& b);

namespace EINPARALLEL_DETAIL {

/// The mesh whose blocks are these boxes; nothing where there is none. Its labels are numbers of dimensions, and its
/// axes have cut points. Ranks without elements may stand anywhere where at most one dimension is cut. Where more are
/// cut, and for tensors of rank 0, they must stand behind the others.
EINPARALLEL_INLINE std::optional<mesh> mesh_of(const distribution& boxes);

/// True for equal distributions in which every rank also gathers the same block.
EINPARALLEL_INLINE bool have_same_blocks(const distribution& a, const distribution& b);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
