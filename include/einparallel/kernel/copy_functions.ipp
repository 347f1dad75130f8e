#pragma once

#include <einparallel/kernel/copy_functions.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE void end_streaming() {
#if EINPARALLEL_DETAIL_X86 && defined(__SSE2__)
    __builtin_ia32_sfence();
#endif
}

/// One by one, as many columns in turn as elements fill a line.
template <std::size_t Bytes>
void copy_elements(std::byte* into, const std::byte* from, const turned_block& block) {
    constexpr index line = 64 / static_cast<index>(Bytes);
    const block_side columns = block.columns;
    const block_side rows = block.rows;
    for (index first = 0; first < columns.count; first += line) {
        const index last = std::min(first + line, columns.count);
        for (index row = 0; row < rows.count; ++row) {
            for (index column = first; column < last; ++column) {
                copy_bytes(into + rows.into[row] + columns.into[column], from + rows.from[row] + columns.from[column],
                           Bytes);
            }
        }
    }
}

EINPARALLEL_INLINE copy_functions copy_functions::best(index element_bytes, bool turns) {
    copy_functions found = turns && element_bytes == 4 ? best_of<float>() : best_of<double>();
    if (!turns) {
        found.turn = element_bytes == 1    ? &copy_elements<1>
                     : element_bytes == 2  ? &copy_elements<2>
                     : element_bytes == 4  ? &copy_elements<4>
                     : element_bytes == 8  ? &copy_elements<8>
                     : element_bytes == 16 ? &copy_elements<16>
                                           : nullptr;
    }
    return found;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
