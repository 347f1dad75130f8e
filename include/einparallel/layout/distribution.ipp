#pragma once

#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/search_range.hpp>
#include <einparallel/notation/sort_range.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace einparallel {

EINPARALLEL_INLINE bool distribution::replicates(const mesh_axis& axis) const {
    return !detail::found_in(axis.label, labels_);
}

EINPARALLEL_INLINE distribution held_by_one(const std::vector<index>& bounds, int root) {
    std::vector<box> boxes(static_cast<std::size_t>(root) + 1, no_box(bounds.size()));
    boxes.back() = whole_box(bounds);
    return {bounds, std::move(boxes)};
}

EINPARALLEL_INLINE distribution::distribution(std::vector<index> bounds, mesh ranks, std::vector<label_id> labels,
                                              std::size_t cut)
    : bounds_(std::move(bounds)), mesh_(std::move(ranks)), labels_(std::move(labels)), cut_(cut) {}

EINPARALLEL_INLINE distribution::distribution(std::vector<index> bounds, std::vector<box> boxes)
    : bounds_(std::move(bounds)), boxes_(std::move(boxes)), regular_(false) {}

EINPARALLEL_INLINE int distribution::holders() const {
    return regular_ ? mesh_.size() : static_cast<int>(boxes_.size());
}

EINPARALLEL_INLINE int distribution::replication() const {
    int pieces = 1;
    for (const mesh_axis& axis : mesh_.axes) {
        pieces *= replicates(axis) ? axis.parts : 1;
    }
    return pieces;
}

EINPARALLEL_INLINE std::optional<std::size_t> distribution::cut() const {
    if (bounds_.empty() || replication() == 1) {
        return std::nullopt;
    }
    return cut_;
}

EINPARALLEL_INLINE index distribution::largest_block_extent(std::size_t dimension) const {
    if (regular_) {
        return mesh_.largest_block(labels_[dimension], bounds_[dimension]);
    }
    index largest = 0;
    for (const box& held : boxes_) {
        largest = std::max(largest, held.nothing ? 0 : held.sides[dimension].size());
    }
    return largest;
}

EINPARALLEL_INLINE int distribution::replica_number(int rank) const {
    if (!regular_ || rank >= mesh_.size()) {
        return 0;
    }
    return mesh_.number(rank, [&](const mesh_axis& axis) { return replicates(axis); });
}

EINPARALLEL_INLINE box distribution::block_of_rank(int rank) const {
    if (rank < 0 || rank >= holders()) {
        return no_box(bounds_.size());
    }
    if (!regular_) {
        return boxes_[static_cast<std::size_t>(rank)];
    }
    box block = whole_box(bounds_);
    for (std::size_t dimension = 0; dimension < labels_.size(); ++dimension) {
        const label_id label = labels_[dimension];
        if (mesh_.parts(label) > 1) {
            const int part = mesh_.number(rank, [&](const mesh_axis& axis) { return axis.label == label; });
            block.sides[dimension] = mesh_.block(label, bounds_[dimension], part);
        }
    }
    return block;
}

EINPARALLEL_INLINE box distribution::held_by(int rank) const {
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

EINPARALLEL_INLINE std::vector<int> distribution::replicas(int rank) const {
    if (!regular_ || rank >= mesh_.size()) {
        return {rank};
    }
    const std::vector<int> coordinate = mesh_.coordinates(rank);
    std::vector<int> group{0};  // numbers over the axes so far
    for (std::size_t axis = 0; axis < coordinate.size(); ++axis) {
        const bool varies = replicates(mesh_.axes[axis]);
        const int parts = mesh_.axes[axis].parts;
        std::vector<int> finer;
        for (const int member : group) {
            for (int part = varies ? 0 : coordinate[axis]; part <= (varies ? parts - 1 : coordinate[axis]); ++part) {
                finer.push_back(member * parts + part);
            }
        }
        group = std::move(finer);
    }
    return group;
}

EINPARALLEL_INLINE std::vector<int> distribution::ranks_meeting(const box& region) const {
    std::vector<int> met;
    if (region.empty()) {
        return met;
    }
    std::vector<int> candidates{0};
    if (!regular_) {
        candidates.resize(boxes_.size());
        std::iota(candidates.begin(), candidates.end(), 0);
    } else {
        for (const mesh_axis& axis : mesh_.axes) {
            std::vector<int> finer;
            for (int part = 0; part < axis.parts; ++part) {
                bool meets = true;
                for (std::size_t dimension = 0; dimension < labels_.size(); ++dimension) {
                    // What several axes cut together is looked at in the end.
                    meets =
                        meets && (labels_[dimension] != axis.label || mesh_.parts(axis.label) != axis.parts ||
                                  !intersect(axis.block(bounds_[dimension], part), region.sides[dimension]).empty());
                }
                for (std::size_t prefix = 0; meets && prefix < candidates.size(); ++prefix) {
                    finer.push_back(candidates[prefix] * axis.parts + part);
                }
            }
            candidates = std::move(finer);
        }
        detail::sort_range(candidates);
    }
    for (const int rank : candidates) {
        if (!intersect(held_by(rank), region).empty()) {
            met.push_back(rank);
        }
    }
    return met;
}

EINPARALLEL_INLINE bool operator==(const distribution& a, const distribution& b) {
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

namespace EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::optional<mesh> mesh_of(const distribution& boxes) {
    const std::size_t rank = boxes.bounds().size();
    std::vector<std::vector<index>> begins(rank);  // of the blocks that hold something, by dimension
    std::vector<int> turns(rank, 0);               // the first rank whose block begins elsewhere than the first one's
    std::vector<box> held;
    for (int holder = 0; holder < boxes.holders(); ++holder) {
        held.push_back(boxes.held_by(holder));
        for (std::size_t dimension = 0; dimension < rank && !held.back().empty(); ++dimension) {
            std::vector<index>& known = begins[dimension];
            const index begin = held.back().sides[dimension].begin;
            if (!found_in(begin, known)) {
                turns[dimension] = known.size() == 1 ? holder : turns[dimension];
                known.push_back(begin);
            }
        }
    }
    std::vector<std::size_t> cut;  // dimensions, the one along the outermost axis first
    for (std::size_t dimension = 0; dimension < rank; ++dimension) {
        sort_range(begins[dimension]);
        if (begins[dimension].size() > 1) {
            cut.push_back(dimension);
        }
    }
    std::ranges::sort(cut, std::ranges::greater(), [&](std::size_t dimension) { return turns[dimension]; });
    mesh made;
    std::vector<label_id> labels(rank);
    std::iota(labels.begin(), labels.end(), label_id{0});
    for (const std::size_t dimension : cut) {
        std::vector<index> points = begins[dimension];
        points.push_back(boxes.bounds()[dimension]);
        if (cut.size() == 1) {  // a rank without elements has a block where the next one begins
            points = {boxes.bounds()[dimension]};
            for (std::size_t holder = held.size(); holder-- > 0;) {
                points.push_back(held[holder].empty() ? points.back() : held[holder].sides[dimension].begin);
            }
            std::ranges::reverse(points);
        }
        const int parts = static_cast<int>(points.size()) - 1;
        made.axes.push_back({labels[dimension], parts, std::move(points)});
    }
    return distribution(boxes.bounds(), made, labels, 0) == boxes ? std::optional(std::move(made)) : std::nullopt;
}

EINPARALLEL_INLINE bool have_same_blocks(const distribution& a, const distribution& b) {
    bool same = a == b && a.replication() == b.replication();
    for (int rank = 0; same && rank < a.holders(); ++rank) {
        same = a.block_of_rank(rank) == b.block_of_rank(rank);
    }
    return same;
}

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
