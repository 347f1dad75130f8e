#pragma once
// Memory that begins with a cache line, as quick to get as the system's allocator is.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

inline constexpr std::size_t line_bytes = 64;

#if defined(__GNUC__) && defined(__ELF__)
extern "C" {
// Weak: only programs with AddressSanitizer have them. Names of our own, as theirs are the compiler's.
void einparallel_detail_forbid(const volatile void* from, std::size_t bytes) __asm__("__asan_poison_memory_region")
    __attribute__((weak));
void einparallel_detail_allow(const volatile void* from, std::size_t bytes) __asm__("__asan_unpoison_memory_region")
    __attribute__((weak));
}
#endif

/// What lies in front of the first line.
struct line_note {
    std::byte* whole;
    std::size_t bytes;  ///< of the lines
};

/// `bytes` of memory from a multiple of line_bytes on, for delete_lines(). Within a longer piece of ordinary memory,
/// whose beginning is noted in front: allocators keep small pieces at hand only where no alignment is asked for.
/// Throws std::bad_alloc.
EINPARALLEL_INLINE void* new_lines(std::size_t bytes);

/// @param lines from new_lines(), or null
EINPARALLEL_INLINE void delete_lines(void* lines);

}  // namespace einparallel::EINPARALLEL_DETAIL
