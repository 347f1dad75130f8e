#pragma once

#include <einparallel/run/own_elements.hpp>

#include <einparallel/kernel/copy.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/schedule/program.hpp>

#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::byte* strided_box::first(const box& region) const {
    return data + offset_of(region, held, strides) * static_cast<index>(element_bytes);
}

EINPARALLEL_INLINE void strided_box::read(const box& region, void* destination, std::string_view what) const {
    if (region.empty()) {
        return;
    }
    if (!contains(held, region)) {
        throw error(std::string(what) + ": a part was asked for that does not lie on this rank");
    }
    copy_box(extents_of(region), element_bytes, destination, dense_strides(region), first(region), strides);
}

EINPARALLEL_INLINE const void* strided_box::borrow(const box& region) const {
    if (region.empty() || !contains(held, region)) {
        return nullptr;
    }
    const std::vector<index> dense = dense_strides(region);
    for (std::size_t dimension = 0; dimension < dense.size(); ++dimension) {
        if (region.sides[dimension].size() > 1 && dense[dimension] != strides[dimension]) {
            return nullptr;
        }
    }
    return first(region);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
