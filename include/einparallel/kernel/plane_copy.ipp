#pragma once

#include <einparallel/kernel/plane_copy.hpp>

#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE plane_function plane_copy_for(std::size_t element_bytes) {
    switch (element_bytes) {
        case 1:
            return &plane_copy<1>::run;
        case 2:
            return &plane_copy<2>::run;
        case 4:
            return &plane_copy<4>::run;
        case 8:
            return &plane_copy<8>::run;
        default:
            return &plane_copy<16>::run;
    }
}

EINPARALLEL_INLINE void turn_plane(std::byte* into, const std::byte* from, const plane_to_turn& plane,
                                   index element_bytes) {
    if (element_bytes == 4 || element_bytes == 8) {
        const copy_functions functions = copy_functions::best(element_bytes, true);
        const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(into) | reinterpret_cast<std::uintptr_t>(from) |
                                    static_cast<std::uintptr_t>(plane.into_row) |
                                    static_cast<std::uintptr_t>(plane.from_column);
        if (std::min(plane.rows, plane.columns) >= functions.lanes &&
            bits % static_cast<std::uintptr_t>(element_bytes) == 0) {
            functions.turn_plane(into, from, plane);
            return;
        }
    }
    plane_copy_for(static_cast<std::size_t>(element_bytes))(into, plane.into_row, element_bytes, from, element_bytes,
                                                            plane.from_column, plane.rows, plane.columns);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
