#pragma once
// Where the elements of a tensor rest: which box each rank holds. Resting tensors are never replicated.

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel {

/// How a tensor rests on ranks. Regular distributions come from a vertex's mesh: every axis cuts the dimensions that
/// carry its label; a block that q ranks want (the axes whose label the tensor lacks) is stored in q pieces, one each,
/// cut along one dimension. Irregular ones list the boxes (an application's own layout, one rank's array). Boxes of
/// different ranks are disjoint. The boxes cover whatever its reader needs (only diagonal blocks for `ii->i`).
class distribution {
public:
    distribution() = default;

    /// Regular: `labels` are the tensor's dimensions in the einsum that `ranks` is the mesh of; a label that stands
    /// twice has both its dimensions cut, and several axes of one label cut it together, as one axis would that has
    /// their coordinates row-major. `cut` is the dimension along which a replicated block is stored in pieces, by the
    /// rule of block_of inside the block (ignored where nothing is replicated or the tensor has rank 0: then replica 0
    /// holds the element, the others nothing).
    EINPARALLEL_INLINE distribution(std::vector<index> bounds, mesh ranks, std::vector<label_id> labels,
                                    std::size_t cut);

    /// Irregular: `boxes[rank]`; ranks beyond the list hold nothing.
    EINPARALLEL_INLINE distribution(std::vector<index> bounds, std::vector<box> boxes);

    /// Extents of the tensor.
    [[nodiscard]] const std::vector<index>& bounds() const { return bounds_; }

    /// What `rank` holds at rest.
    EINPARALLEL_INLINE [[nodiscard]] box held_by(int rank) const;

    /// The block that `rank` computes with: its own pieces and those of its replicas together. Equal to held_by() where
    /// nothing is replicated, and for irregular distributions.
    EINPARALLEL_INLINE [[nodiscard]] box block_of_rank(int rank) const;

    /// The ranks that compute with the same block as `rank`, in the order of their pieces; `{rank}` where nothing is
    /// replicated.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<int> replicas(int rank) const;

    /// Position of `rank` among its replicas: the number of its piece, row-major over the axes whose label the tensor
    /// lacks, in the order of the mesh.
    EINPARALLEL_INLINE [[nodiscard]] int replica_number(int rank) const;

    /// The ranks that hold an element of `region`, ascending. Regular distributions look at the blocks that meet the
    /// region only, so a rank of thousands finds its few partners without asking all of them.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<int> ranks_meeting(const box& region) const;

    /// Ranks that may hold something.
    EINPARALLEL_INLINE [[nodiscard]] int holders() const;

    /// Number of pieces that every block is stored in.
    EINPARALLEL_INLINE [[nodiscard]] int replication() const;

    /// The dimension that pieces are cut along; nothing where blocks are stored whole.
    EINPARALLEL_INLINE [[nodiscard]] std::optional<std::size_t> cut() const;

    /// Extent along `dimension` of the largest block (not piece) of any rank: what all ranks may decide by.
    EINPARALLEL_INLINE [[nodiscard]] index largest_block_extent(std::size_t dimension) const;

    /// The same boxes on every rank, however they are described. Empty boxes are all alike.
    EINPARALLEL_INLINE friend bool operator==(const distribution& a, const distribution& b);

private:
    EINPARALLEL_INLINE [[nodiscard]] bool replicates(const mesh_axis& axis) const;

    std::vector<index> bounds_;
    mesh mesh_;
    std::vector<label_id> labels_;
    std::size_t cut_ = 0;
    std::vector<box> boxes_;
    bool regular_ = true;
};

/// A tensor that one rank holds whole: where an array of the root rests before it is scattered.
EINPARALLEL_INLINE distribution held_by_one(const std::vector<index>& bounds, int root);

EINPARALLEL_INLINE bool operator==(const distribution& a, const distribution& b);

namespace EINPARALLEL_DETAIL {

/// The mesh, its labels being numbers of dimensions, that has these boxes for its blocks, uneven ones with cut points;
/// nothing where no mesh has. Ranks without elements may stand anywhere if one dimension alone is cut, and else behind.
EINPARALLEL_INLINE std::optional<mesh> mesh_of(const distribution& boxes);

/// True where every rank gathers the same block of a tensor by both.
EINPARALLEL_INLINE bool have_same_blocks(const distribution& a, const distribution& b);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
