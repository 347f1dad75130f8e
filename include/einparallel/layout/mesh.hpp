#pragma once
// The grid of ranks that one vertex is cut over.

#include <einparallel/notation/einsum_form.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace einparallel {

/// One axis of a mesh: the label that it cuts and into how many parts.
struct mesh_axis {
    label_id label = no_label;
    int parts = 1;

    friend bool operator==(const mesh_axis&, const mesh_axis&) = default;
};

/// The ∏d kernel calls of a vertex as a grid of ranks. Axes stand outermost first: rank = row-major number of the
/// coordinates. The order of the axes is the plan's to choose, so that neighbouring vertices agree; axes of one part
/// are left out. Ranks beyond size() take no part in the vertex.
struct mesh {
    std::vector<mesh_axis> axes;

    friend bool operator==(const mesh&, const mesh&) = default;

    [[nodiscard]] int size() const {
        int ranks = 1;
        for (const mesh_axis& axis : axes) {
            ranks *= axis.parts;
        }
        return ranks;
    }

    /// Parts that `label` is cut into; 1 for a label without axis.
    [[nodiscard]] int parts(label_id label) const {
        int count = 1;
        for (const mesh_axis& axis : axes) {
            count *= axis.label == label ? axis.parts : 1;
        }
        return count;
    }

    /// Coordinates of a rank, one per axis. @pre 0 <= rank < size()
    [[nodiscard]] std::vector<int> coordinates(int rank) const {
        std::vector<int> coordinate(axes.size(), 0);
        for (std::size_t axis = axes.size(); axis-- > 0;) {
            coordinate[axis] = rank % axes[axis].parts;
            rank /= axes[axis].parts;
        }
        return coordinate;
    }

    /// The rank at these coordinates, one per axis.
    [[nodiscard]] int rank_at(std::span<const int> coordinate) const {
        int rank = 0;
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            rank = rank * axes[axis].parts + coordinate[axis];
        }
        return rank;
    }
};

}  // namespace einparallel
