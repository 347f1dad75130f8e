#pragma once
// Memory of arrays: from a cache line on, in large pages where that pays, touched first by the threads that will use
// it.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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
    std::size_t bytes;                 ///< of the lines
    std::shared_ptr<const void> life;  ///< made when somebody asks; see life_of
};

/// @throws error where one is negative, or elements are too many to be counted
EINPARALLEL_INLINE void check_extents(std::span<const index> extents);

/// What the elements of a new array are.
enum class first_elements : std::uint8_t { unwritten, zeros, copies };

/// Memory of an array, for delete_lines(); touched first by the threads that will use it where it is written: copies
/// are of `from`. @throws error for extents that no array has, and where there is no memory
EINPARALLEL_INLINE void* new_elements(std::span<const index> extents, std::size_t element_bytes, first_elements are,
                                      const void* from = nullptr);

/// `bytes` of memory from a multiple of line_bytes on, for delete_lines(). Within a longer piece of ordinary memory,
/// whose beginning is noted in front: allocators keep small pieces at hand only where no alignment is asked for.
/// @throws error where there is no memory
EINPARALLEL_INLINE void* new_lines(std::size_t bytes);

/// @param lines from new_lines(), or null
EINPARALLEL_INLINE void delete_lines(void* lines);

/// Expires with these lines. For who refers to them and reads them later. @pre lines from new_lines()
EINPARALLEL_INLINE std::weak_ptr<const void> life_of(const void* lines);

/// Asks the system for large pages where memory of `bytes` is new, not touched yet and large enough to gain by them
/// (from 4 MiB on, as NumPy does). A wish: where it is not granted, nothing is different.
EINPARALLEL_INLINE void wish_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes);

}  // namespace einparallel::EINPARALLEL_DETAIL
