#pragma once
// The grid of ranks that one vertex is cut over, and where its cuts are.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/search_range.hpp>

#include <cstddef>
#include <vector>

namespace einparallel {

/// One axis of a mesh: the label that it cuts, into how many parts, and where.
struct mesh_axis {
    label_id label = no_label;    ///< label that is cut along the axis
    int parts = 1;                ///< ranks along the axis
    std::vector<index> points{};  ///< parts + 1 cut points; empty: blocks that differ by at most one index

    /// The indices of part `part`, where the label has this extent. @pre 0 <= part < parts
    [[nodiscard]] interval block(index extent, int part) const {
        const auto first = std::size_t(part);
        return points.empty() ? block_of(extent, parts, part) : interval{points[first], points[first + 1]};
    }

    friend bool operator==(const mesh_axis&, const mesh_axis&) = default;
};

/// The grid of ranks that do the ∏d kernel calls of a vertex (d: the parts of each label), one on each rank. A rank is
/// the row-major number of its coordinates, of which the first belongs to the outermost axis. The planner chooses the
/// order of the axes, so that neighbouring vertices agree. Axes with one part are left out. Ranks beyond size() have
/// nothing to do in the vertex.
struct mesh {
    std::vector<mesh_axis> axes;  ///< outermost first

    friend bool operator==(const mesh&, const mesh&) = default;

    /// Number of ranks.
    EINPARALLEL_INLINE [[nodiscard]] int size() const { return detail::product_in(axes, 1, &mesh_axis::parts); }

    /// Parts that `label` is cut into; 1 for a label without axis.
    EINPARALLEL_INLINE [[nodiscard]] int parts(label_id label) const {
        return detail::product_in(axes, 1, [&](const mesh_axis& axis) { return axis.label == label ? axis.parts : 1; });
    }

    /// The indices of part `part` of `label`, where the label has this extent.
    /// @pre an axis with cut points is the label's only one
    EINPARALLEL_INLINE [[nodiscard]] interval block(label_id label, index extent, int part) const;

    /// Number of indices in the largest block of `label`, of this extent.
    EINPARALLEL_INLINE [[nodiscard]] index largest_block(label_id label, index extent) const;

    /// Coordinates of a rank, one per axis. @pre 0 <= rank < size()
    EINPARALLEL_INLINE [[nodiscard]] std::vector<int> coordinates(int rank) const;
};

}  // namespace einparallel
