#pragma once
// What copies are made of: the functions for elements of so many bytes on this processor, and when which of them pays.

#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/kernel/vector_copy.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// std::memcpy without <cstring>, which brings POSIX's function `index` into the global namespace.
inline void copy_bytes(std::byte* into, const std::byte* from, std::size_t count) {
#if defined(__GNUC__)
    __builtin_memcpy(into, from, count);
#else
    std::copy_n(from, count, into);
#endif
}

/// Outputs beyond this are written past the caches, which they would outgrow; memcpy does the same.
inline constexpr index streamed_bytes = index{16} << 20;

/// Orders what was written past the caches before what this thread writes next.
EINPARALLEL_INLINE void end_streaming();

using block_function = void (*)(std::byte*, const std::byte*, const turned_block&);

/// How elements of so many bytes are copied with the widest instructions that this processor has and that pay: wider
/// vectors than AVX2's move no more through the memory's pins.
struct copy_functions {
    block_function turn = nullptr;  ///< null where runs are copied, not elements of 1, 2, 4, 8 or 16 bytes
    void (*stream)(std::byte*, const std::byte*, std::size_t) = nullptr;

    /// @param turns of 4 or 8 bytes, in vectors
    EINPARALLEL_INLINE static copy_functions best(index element_bytes, bool turns);

private:
    template <class T>
    static copy_functions best_of() {
#if EINPARALLEL_DETAIL_X86
        if (supported(instruction_set::avx2)) {
            return of<T, instruction_set::avx2>();
        }
#endif
        return of<T, instruction_set::baseline>();
    }
    template <class T, instruction_set Set>
    static copy_functions of() {
        using code = vector_copy<T, Set>;
        return {&code::turn, &vector_copy<double, Set>::stream};
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL
