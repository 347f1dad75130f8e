#pragma once

#include <einparallel/kernel/copy_functions.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void end_streaming() {
#if EINPARALLEL_DETAIL_X86 && defined(__SSE2__)
    __builtin_ia32_sfence();
#endif
}

/// Elements of 16 bytes, four to a line.
EINPARALLEL_INLINE void copy_elements(std::byte* into, const std::byte* from, const turned_block& block) {
    const block_side columns = block.columns;
    const block_side rows = block.rows;
    for (index first = 0; first < columns.count; first += 4) {
        const index last = std::min(first + 4, columns.count);
        for (index row = 0; row < rows.count; ++row) {
            for (index column = first; column < last; ++column) {
                copy_bytes(into + rows.into[row] + columns.into[column], from + rows.from[row] + columns.from[column],
                           16);
            }
        }
    }
}

EINPARALLEL_INLINE copy_functions copy_functions::best(index element_bytes, bool turns) {
    copy_functions found = turns && element_bytes == 4 ? best_of<float>() : best_of<double>();
    if (!turns) {
        found.turn = nullptr;
        if (element_bytes == 16) {
            found.turn = &copy_elements;
        }
        found.turn_plane = nullptr;
    }
    return found;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
