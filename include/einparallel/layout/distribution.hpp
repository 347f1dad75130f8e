#pragma once
// Where the elements of a tensor rest: which box each rank holds. Resting tensors are never replicated.

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>

#include <algorithm>
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

    /// Regular: `labels` are the tensor's dimensions in the einsum that `ranks` is the mesh of; a label that stands
    /// twice has both its dimensions cut, and several axes of one label cut it together, as one axis would that has
    /// their coordinates row-major. `cut` is the dimension along which a replicated block is stored in pieces, by the
    /// rule of block_of inside the block (ignored where nothing is replicated or the tensor has rank 0: then replica 0
    /// holds the element, the others nothing).
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

    /// Position of `rank` among its replicas: the number of its piece, row-major over the axes whose label the tensor
    /// lacks, in the order of the mesh.
    [[nodiscard]] int replica_number(int rank) const;

    /// The ranks that hold an element of `region`, ascending. Regular distributions look at the blocks that meet the
    /// region only, so a rank of thousands finds its few partners without asking all of them.
    [[nodiscard]] std::vector<int> ranks_meeting(const box& region) const;

    /// Ranks that may hold something.
    [[nodiscard]] int holders() const;

    /// Number of pieces that every block is stored in.
    [[nodiscard]] int replication() const;

    /// The dimension that pieces are cut along; nothing where blocks are stored whole.
    [[nodiscard]] std::optional<std::size_t> cut() const;

    /// Extent along `dimension` of the largest block (not piece) of any rank: what all ranks may decide by.
    [[nodiscard]] index largest_block_extent(std::size_t dimension) const;

    /// The same boxes on every rank, however they are described. Empty boxes are all alike.
    friend bool operator==(const distribution& a, const distribution& b);

private:
    [[nodiscard]] bool replicates(const mesh_axis& axis) const {
        return std::ranges::find(labels_, axis.label) == labels_.end();
    }

    std::vector<index> bounds_;
    mesh mesh_;
    std::vector<label_id> labels_;
    std::size_t cut_ = 0;
    std::vector<box> boxes_;
    bool regular_ = true;
};

/// A tensor that one rank holds whole: where an array of the root rests before it is scattered.
inline distribution held_by_one(const std::vector<index>& bounds, int root) {
    std::vector<box> boxes(static_cast<std::size_t>(root) + 1, no_box(bounds.size()));
    boxes.back() = whole_box(bounds);
    return {bounds, std::move(boxes)};
}

inline distribution::distribution(std::vector<index> bounds, mesh ranks, std::vector<label_id> labels, std::size_t cut)
    : bounds_(std::move(bounds)), mesh_(std::move(ranks)), labels_(std::move(labels)), cut_(cut) {}

inline distribution::distribution(std::vector<index> bounds, std::vector<box> boxes)
    : bounds_(std::move(bounds)), boxes_(std::move(boxes)), regular_(false) {}

inline int distribution::holders() const {
    return regular_ ? mesh_.size() : static_cast<int>(boxes_.size());
}

inline int distribution::replication() const {
    int pieces = 1;
    for (const mesh_axis& axis : mesh_.axes) {
        pieces *= replicates(axis) ? axis.parts : 1;
    }
    return pieces;
}

inline std::optional<std::size_t> distribution::cut() const {
    if (bounds_.empty() || replication() == 1) {
        return std::nullopt;
    }
    return cut_;
}

inline index distribution::largest_block_extent(std::size_t dimension) const {
    if (regular_) {
        return block_of(bounds_[dimension], mesh_.parts(labels_[dimension]), 0).size();
    }
    index largest = 0;
    for (const box& held : boxes_) {
        largest = std::max(largest, held.nothing ? 0 : held.sides[dimension].size());
    }
    return largest;
}

inline int distribution::replica_number(int rank) const {
    if (!regular_ || rank >= mesh_.size()) {
        return 0;
    }
    int number = 0;
    int weight = 1;
    for (std::size_t axis = mesh_.axes.size(); axis-- > 0;) {
        const int parts = mesh_.axes[axis].parts;
        if (replicates(mesh_.axes[axis])) {
            number += weight * (rank % parts);
            weight *= parts;
        }
        rank /= parts;
    }
    return number;
}

inline box distribution::block_of_rank(int rank) const {
    if (rank < 0 || rank >= holders()) {
        return no_box(bounds_.size());
    }
    if (!regular_) {
        return boxes_[static_cast<std::size_t>(rank)];
    }
    box block = whole_box(bounds_);
    for (std::size_t dimension = 0; dimension < labels_.size(); ++dimension) {
        int part = 0;
        int parts = 1;
        int left = rank;
        for (std::size_t axis = mesh_.axes.size(); axis-- > 0;) {
            const mesh_axis& each = mesh_.axes[axis];
            if (each.label == labels_[dimension]) {
                part += parts * (left % each.parts);
                parts *= each.parts;
            }
            left /= each.parts;
        }
        if (parts > 1) {
            block.sides[dimension] = block_of(bounds_[dimension], parts, part);
        }
    }
    return block;
}

inline box distribution::held_by(int rank) const {
    box held = block_of_rank(rank);
    const int pieces = replication();
    if (held.nothing || pieces == 1) {
        return held;
    }
    const int piece = replica_number(rank);
    if (bounds_.empty()) {
        held.nothing = piece > 0;
    } else {
        held.sides[cut_] = block_of(held.sides[cut_], pieces, piece);
    }
    return held;
}

inline std::vector<int> distribution::replicas(int rank) const {
    if (!regular_ || rank >= mesh_.size()) {
        return {rank};
    }
    std::vector<int> group{rank};
    int stride = 1;
    for (std::size_t axis = mesh_.axes.size(); axis-- > 0;) {
        const int parts = mesh_.axes[axis].parts;
        if (replicates(mesh_.axes[axis])) {
            // Innermost axes first: an outer axis repeats the whole group found so far, once per coordinate.
            const int first = -(rank / stride % parts) * stride;
            std::vector<int> wider;
            wider.reserve(group.size() * static_cast<std::size_t>(parts));
            for (int part = 0; part < parts; ++part) {
                for (const int member : group) {
                    wider.push_back(member + first + part * stride);
                }
            }
            group = std::move(wider);
        }
        stride *= parts;
    }
    return group;
}

inline std::vector<int> distribution::ranks_meeting(const box& region) const {
    std::vector<int> met;
    if (region.empty()) {
        return met;
    }
    std::vector<int> candidates{0};
    if (!regular_) {
        candidates.resize(boxes_.size());
        for (std::size_t rank = 0; rank < boxes_.size(); ++rank) {
            candidates[rank] = static_cast<int>(rank);
        }
    } else {
        for (const mesh_axis& axis : mesh_.axes) {
            std::vector<int> finer;
            for (int part = 0; part < axis.parts; ++part) {
                bool meets = true;
                for (std::size_t dimension = 0; dimension < labels_.size(); ++dimension) {
                    // What several axes cut together is looked at in the end.
                    meets =
                        meets &&
                        (labels_[dimension] != axis.label || mesh_.parts(axis.label) != axis.parts ||
                         !intersect(block_of(bounds_[dimension], axis.parts, part), region.sides[dimension]).empty());
                }
                for (std::size_t prefix = 0; meets && prefix < candidates.size(); ++prefix) {
                    finer.push_back(candidates[prefix] * axis.parts + part);
                }
            }
            candidates = std::move(finer);
        }
        std::ranges::sort(candidates);
    }
    for (const int rank : candidates) {
        if (!intersect(held_by(rank), region).empty()) {
            met.push_back(rank);
        }
    }
    return met;
}

inline bool operator==(const distribution& a, const distribution& b) {
    if (a.bounds_ != b.bounds_) {
        return false;
    }
    if (a.regular_ == b.regular_ && a.mesh_ == b.mesh_ && a.labels_ == b.labels_ && a.boxes_ == b.boxes_ &&
        (a.cut_ == b.cut_ || !a.cut())) {
        return true;
    }
    const int ranks = std::max(a.holders(), b.holders());
    for (int rank = 0; rank < ranks; ++rank) {
        const box in_a = a.held_by(rank);
        const box in_b = b.held_by(rank);
        if (in_a != in_b && !(in_a.empty() && in_b.empty())) {
            return false;
        }
    }
    return true;
}

}  // namespace einparallel
