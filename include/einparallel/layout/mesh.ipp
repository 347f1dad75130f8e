#pragma once

#include <einparallel/layout/mesh.hpp>

#include <einparallel/notation/search_range.hpp>

#include <algorithm>

namespace einparallel {

EINPARALLEL_INLINE interval mesh::block(label_id label, index extent, int part) const {
    for (const mesh_axis& axis : axes) {
        if (axis.label == label && !axis.points.empty()) {
            return axis.block(extent, part);
        }
    }
    return block_of(extent, parts(label), part);
}

EINPARALLEL_INLINE index mesh::largest_block(label_id label, index extent) const {
    index largest = block(label, extent, 0).size();
    for (const mesh_axis& axis : axes) {
        for (int part = 1; axis.label == label && !axis.points.empty() && part < axis.parts; ++part) {
            largest = std::max(largest, axis.block(extent, part).size());
        }
    }
    return largest;
}

EINPARALLEL_INLINE std::vector<int> mesh::coordinates(int rank) const {
    std::vector<int> coordinate(axes.size(), 0);
    for (std::size_t axis = axes.size(); axis-- > 0;) {
        coordinate[axis] = rank % axes[axis].parts;
        rank /= axes[axis].parts;
    }
    return coordinate;
}

}  // namespace einparallel
