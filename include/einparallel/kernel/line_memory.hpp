#pragma once
// Memory that begins with a cache line, as quick to get as the system's allocator is.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace einparallel::detail {

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

/// Tells AddressSanitizer, where it is linked, that nobody has any business between two places; or that all is well
/// there.
inline void forbid([[maybe_unused]] const std::byte* from, [[maybe_unused]] const std::byte* to,
                   [[maybe_unused]] bool forbidden) {
#if defined(__GNUC__) && defined(__ELF__)
    if (auto* const tell = forbidden ? einparallel_detail_forbid : einparallel_detail_allow; tell != nullptr) {
        tell(from, static_cast<std::size_t>(to - from));
    }
#endif
}

/// What lies in front of the first line.
struct line_note {
    std::byte* whole;
    std::size_t bytes;  ///< of the lines
};

/// `bytes` of memory from a multiple of line_bytes on, for delete_lines(). Within a longer piece of ordinary memory,
/// whose beginning is noted in front: allocators keep small pieces at hand only where no alignment is asked for.
/// Throws std::bad_alloc.
inline void* new_lines(std::size_t bytes) {
    static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(line_note), "the note lies in the gap");
    if (bytes > SIZE_MAX - line_bytes) {
        throw std::bad_alloc();
    }
    auto* const whole = static_cast<std::byte*>(::operator new(bytes + line_bytes));
    std::byte* const lines = whole + line_bytes - reinterpret_cast<std::uintptr_t>(whole) % line_bytes;
    std::construct_at(reinterpret_cast<line_note*>(lines) - 1, line_note{whole, bytes});
    forbid(whole, lines, true);
    forbid(lines + bytes, whole + bytes + line_bytes, true);
    return lines;
}

/// @param lines from new_lines(), or null
inline void delete_lines(void* lines) {
    if (lines != nullptr) {
        line_note* const note = static_cast<line_note*>(lines) - 1;
        auto* const place = reinterpret_cast<std::byte*>(note);
        forbid(place, place + sizeof(line_note), false);
        std::byte* const whole = note->whole;
        forbid(whole, whole + note->bytes + line_bytes, false);  // whoever gets it next may do what he wants there
        ::operator delete(whole);
    }
}

}  // namespace einparallel::detail
