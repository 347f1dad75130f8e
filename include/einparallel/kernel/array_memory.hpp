#pragma once
// Memory of arrays. It begins on a cache line, uses large pages where that pays, and is touched first by the threads
// that will use it.

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
// Weak: only programs with AddressSanitizer have these functions. Names of our own, because the compiler declares
// theirs.
void einparallel_detail_forbid(const volatile void* from, std::size_t bytes) __asm__("__asan_poison_memory_region")
    __attribute__((weak));
void einparallel_detail_allow(const volatile void* from, std::size_t bytes) __asm__("__asan_unpoison_memory_region")
    __attribute__((weak));
}
#endif

/// The note that lies in front of the first cache line of an array's memory.
struct line_note {
    std::byte* whole;                  ///< beginning of the allocation
    std::size_t bytes;                 ///< bytes of the lines
    std::shared_ptr<const void> life;  ///< made at the first call of life_of()
};

/// @throws error where an extent is negative, or where there are too many elements to count
EINPARALLEL_INLINE void check_extents(index_span extents);

/// What is written to the elements of a new array.
enum class first_elements : std::uint8_t { unwritten, zeros, copies };

/// Memory for the elements of an array; free it with delete_lines(). Zeros, or copies of elements at `from`, are
/// written by the threads that will use them, because memory belongs to the processor that touches it first. @throws
/// error for extents that no array has, and where there is too little memory
EINPARALLEL_INLINE void* new_elements(index_span extents, std::size_t element_bytes, first_elements are,
                                      const void* from = nullptr);

/// `bytes` of memory that begin on a cache line; free them with delete_lines(). They lie inside a longer ordinary
/// allocation, whose beginning is noted in front of them: allocators reuse small allocations quickly only where no
/// alignment is asked for. An allocation of about a large page (2 MiB) or more begins on a large page, and the system
/// is asked for large pages. Without them, a strided walk over a matrix of 2 MiB, as rings have them, waits for page
/// tables. The system may ignore the request.
/// @throws error where there is too little memory; it names `who` asked for it
EINPARALLEL_INLINE void* new_lines(std::size_t bytes, const char* who = "ep::array");

/// @param lines returned by new_lines(), or null
EINPARALLEL_INLINE void delete_lines(void* lines);

struct lines_release {
    void operator()(void* lines) const { delete_lines(lines); }
};
/// Owner of lines from new_lines().
using lines_owner = std::unique_ptr<void, lines_release>;

/// A pointer that expires when these lines are deleted, for code that refers to the lines and reads them later. @pre
/// the lines are from new_lines()
EINPARALLEL_INLINE std::weak_ptr<const void> life_of(const void* lines);

}  // namespace einparallel::EINPARALLEL_DETAIL
