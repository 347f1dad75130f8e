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
    index extent = 1;             ///< of the dimension
    int parts = 1;                ///< that the mesh cuts it into
    int pieces = 1;               ///< of each part
    std::vector<index> points{};  ///< parts + 1 cut points; none: parts that differ by at most one

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

/// A digit of the ranks' numbers: rank / stride % radix, times the weight, counts in the number of the cell that a rank
/// has along a dimension; pieces come before parts.
struct rank_digit {
    int stride = 1;             ///< of the digit in a rank's number
    int radix = 1;              ///< values that it takes
    int weight = 1;             ///< in the number of the cell
    std::size_t dimension = 0;  ///< whose cells it counts
    bool is_piece = false;      ///< it counts pieces of a part, not parts

    /// Its value in the number of `rank`.
    [[nodiscard]] int of(int rank) const { return rank / stride % radix; }

    friend bool operator==(const rank_digit&, const rank_digit&) = default;
};

/// How a tensor rests on ranks. Regular distributions come from a vertex's mesh: every axis cuts the dimensions that
/// carry its label; a block that q ranks want (the axes whose label the tensor lacks) is stored in q pieces, one each,
/// cut along one dimension. Irregular ones list the boxes (an application's own layout, one rank's array). Boxes of
/// different ranks are disjoint, but where they are what ranks read of a tensor at functions of labels. The boxes cover
/// whatever its reader needs (only diagonal blocks for `ii->i`).
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

    /// Several boxes of a rank, which may overlap: what it reads.
    EINPARALLEL_INLINE distribution(const std::vector<index>& bounds, const std::vector<std::vector<box>>& boxes);

    /// Extents of the tensor.
    [[nodiscard]] const std::vector<index>& bounds() const { return bounds_; }

    /// How the dimensions are cut; digits of the ranks' numbers say who has which cell. @pre regular
    [[nodiscard]] const std::vector<cut_side>& sides() const { return sides_; }
    /// The digits. @pre regular
    [[nodiscard]] const std::vector<rank_digit>& digits() const { return digits_; }

    /// True where a mesh describes it, false where boxes do.
    [[nodiscard]] bool is_regular() const { return regular_; }

    /// True where a label stands twice: the blocks lie on a diagonal and do not cover the tensor.
    [[nodiscard]] bool is_diagonal() const { return diagonal_; }

    /// What `rank` holds at rest; the smallest box around it where these are several.
    EINPARALLEL_INLINE [[nodiscard]] box held_by(int rank) const;
    /// The boxes that it holds, no two of which meet.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<box> boxes_of(int rank) const {
        const bool is_listed = rank >= 0 && rank < int(boxes_.size());
        return is_listed ? boxes_[std::size_t(rank)] : std::vector<box>{held_by(rank)};
    }

    /// The block that `rank` computes with: its own pieces and those of its replicas together. Equal to held_by() where
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

    /// The ranks that hold an element of `region`, ascending. Regular distributions look at the blocks that meet the
    /// region only, so a rank of thousands finds its few partners without asking all of them.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<int> ranks_meeting(const box& region) const;

    /// Number of the cell that a rank has along a dimension. @pre regular
    EINPARALLEL_INLINE [[nodiscard]] int cell_of(int rank, std::size_t dimension) const {
        return detail::sum_in(digits_, 0, [&](const rank_digit& digit) {
            return digit.dimension == dimension ? digit.of(rank) * digit.weight : 0;
        });
    }

    /// Ranks that may hold something.
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

    /// Elements of a block with these extents.
    EINPARALLEL_INLINE [[nodiscard]] double largest_block() const;

    /// True for the same boxes on every rank, however they are described. All empty boxes are equal.
    EINPARALLEL_INLINE friend bool operator==(const distribution& a, const distribution& b);

private:
    std::vector<index> bounds_;
    std::vector<cut_side> sides_;          ///< regular: by dimension
    std::vector<rank_digit> digits_;       ///< those of pieces first; the innermost first
    std::vector<std::vector<box>> boxes_;  ///< irregular: by rank; no two of them meet
    std::size_t cut_ = 0;
    int holders_ = 1;
    int replication_ = 1;
    bool regular_ = true;
    bool diagonal_ = false;
};

/// A tensor whose dimensions a mesh cuts, their numbers being its labels.
EINPARALLEL_INLINE distribution cut_along(const std::vector<index>& bounds, const mesh& ranks);

/// A tensor that one rank holds whole: where an array of the root rests before it is scattered.
EINPARALLEL_INLINE distribution held_by_one(const std::vector<index>& bounds, int root);

/// (Declared here, too: a friend's declaration alone does not make it visible in a shared library.)
EINPARALLEL_INLINE bool operator==(const distribution& a, const distribution& b);

namespace EINPARALLEL_DETAIL {

/// The mesh, its labels being numbers of dimensions, that has these boxes for its blocks, uneven ones with cut points;
/// nothing where no mesh has. Ranks without elements may stand anywhere if one dimension alone is cut, or none of a
/// tensor that has some, and else behind.
EINPARALLEL_INLINE std::optional<mesh> mesh_of(const distribution& boxes);

/// True where every rank gathers the same block of a tensor by both.
EINPARALLEL_INLINE bool have_same_blocks(const distribution& a, const distribution& b);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
