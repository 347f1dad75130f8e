#pragma once
// The grid of ranks that one vertex is cut over.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <span>
#include <vector>

namespace einparallel {

/// One axis of a mesh: the label that it cuts and into how many parts.
struct mesh_axis {
    label_id label = no_label;  ///< that is cut along the axis
    int parts = 1;              ///< ranks along the axis

    friend bool operator==(const mesh_axis&, const mesh_axis&) = default;
};

/// The ∏d kernel calls of a vertex as a grid of ranks. Axes stand outermost first: rank = row-major number of the
/// coordinates. The order of the axes is the plan's to choose, so that neighbouring vertices agree; axes of one part
/// are left out. Ranks beyond size() take no part in the vertex.
struct mesh {
    std::vector<mesh_axis> axes;  ///< outermost first

    friend bool operator==(const mesh&, const mesh&) = default;

    /// Number of ranks.
    EINPARALLEL_INLINE [[nodiscard]] int size() const;

    /// Parts that `label` is cut into; 1 for a label without axis.
    EINPARALLEL_INLINE [[nodiscard]] int parts(label_id label) const;

    /// Coordinates of a rank, one per axis. @pre 0 <= rank < size()
    EINPARALLEL_INLINE [[nodiscard]] std::vector<int> coordinates(int rank) const;

    /// The rank at these coordinates, one per axis.
    EINPARALLEL_INLINE [[nodiscard]] int rank_at(std::span<const int> coordinate) const;
};

}  // namespace einparallel
