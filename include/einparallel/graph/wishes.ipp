#pragma once

#include <einparallel/graph/wishes.hpp>

#include <cstddef>

namespace einparallel {

EINPARALLEL_INLINE std::string pinned_part::where() const {
    return label.empty() ? "dimension " + std::to_string(dimension) : "label " + label;
}

EINPARALLEL_INLINE std::string vertex_wishes::pin_text() const {
    std::string written;
    for (std::size_t position = 0; pin && position < pin->size(); ++position) {
        const pinned_part& part = (*pin)[position];
        written += (position > 0 ? " " : "") + (part.label.empty() ? std::to_string(part.dimension) : part.label) +
                   ":" + std::to_string(part.parts);
    }
    return written.empty() ? "one block" : written;
}

}  // namespace einparallel
