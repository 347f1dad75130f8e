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
EINPARALLEL_INLINE void check_extents(index_span extents);

/// What the elements of a new array are.
enum class first_elements : std::uint8_t { unwritten, zeros, copies };

/// Memory of an array, for delete_lines(); touched first by the threads that will use it where it is written: copies
/// are of `from`. @throws error for extents that no array has, and where there is no memory
EINPARALLEL_INLINE void* new_elements(index_span extents, std::size_t element_bytes, first_elements are,
                                      const void* from = nullptr);

/// `bytes` of memory from a multiple of line_bytes on, for delete_lines(). Within a longer allocation of ordinary
/// memory, whose beginning is noted in front: allocators keep small ones at hand only where no alignment is asked for.
/// From about a large page on it begins with one, and the system is asked for large pages: a strided walk over a matrix
/// of 2 MiB, as rings have them, waits for page tables otherwise. (A wish: where it is not granted, nothing is
/// different.)
/// @throws error where there is no memory, which `who` asked for
EINPARALLEL_INLINE void* new_lines(std::size_t bytes, const char* who = "ep::array");

/// @param lines from new_lines(), or null
EINPARALLEL_INLINE void delete_lines(void* lines);

struct lines_release {
    void operator()(void* lines) const { delete_lines(lines); }
};
/// Owner of lines from new_lines().
using lines_owner = std::unique_ptr<void, lines_release>;

/// Expires when these lines are deleted. For code that refers to the lines and reads them later. @pre lines from
/// new_lines()
EINPARALLEL_INLINE std::weak_ptr<const void> life_of(const void* lines);

}  // namespace einparallel::EINPARALLEL_DETAIL
