#pragma once
// Where the elements of a tensor rest: which box each rank holds. Resting tensors are never replicated.

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace einparallel {

/// How a tensor rests on ranks. Regular distributions come from a vertex's mesh: every axis cuts the dimensions that
/// carry its label; a block that q ranks want (the axes whose label the tensor lacks) is stored in q pieces, one each,
/// cut along one dimension. Irregular ones list the boxes (an application's own layout, one rank's array). Boxes of
/// different ranks are disjoint. The boxes cover whatever its reader needs (only diagonal blocks for `ii->i`).
class distribution {
public:
    distribution() = default;

    /// Regular: `labels` are the tensor's dimensions in the einsum that `ranks` is the mesh of; `cut` is the dimension
    /// along which a replicated block is stored in pieces (ignored where nothing is replicated or the tensor has rank
    /// 0).
    distribution(std::vector<index> bounds, mesh ranks, std::vector<label_id> labels, std::size_t cut);

    /// Irregular: `boxes[rank]`; ranks beyond the list hold nothing.
    distribution(std::vector<index> bounds, std::vector<box> boxes);

    [[nodiscard]] const std::vector<index>& bounds() const { return bounds_; }

    /// What `rank` holds at rest.
    [[nodiscard]] box held_by(int rank) const;

    /// The block that `rank` computes with: its own pieces and those of its replicas together. Equal to held_by() where
    /// nothing is replicated, and for irregular distributions.
    [[nodiscard]] box block_of_rank(int rank) const;

    /// The ranks that compute with the same block as `rank`, in the order of their pieces; `{rank}` where nothing is
    /// replicated.
    [[nodiscard]] std::vector<int> replicas(int rank) const;

    /// Ranks that may hold something.
    [[nodiscard]] int holders() const;

    /// Number of pieces that every block is stored in.
    [[nodiscard]] int replication() const;

    /// The dimension that pieces are cut along; nothing where blocks are stored whole.
    [[nodiscard]] std::optional<std::size_t> cut() const;

    /// The same boxes on every rank, however they are described.
    friend bool operator==(const distribution& a, const distribution& b);

private:
    std::vector<index> bounds_;
    mesh mesh_;
    std::vector<label_id> labels_;
    std::size_t cut_ = 0;
    std::vector<box> boxes_;
    bool regular_ = true;
};

}  // namespace einparallel
