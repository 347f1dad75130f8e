#pragma once
// Memory that begins with a cache line, as quick to get as the system's allocator is.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace einparallel::detail {

inline constexpr std::size_t line_bytes = 64;

/// `bytes` of memory from a multiple of line_bytes on, for delete_lines(). Within a longer piece of ordinary memory,
/// whose beginning is noted in front: allocators keep small pieces at hand only where no alignment is asked for.
/// Throws std::bad_alloc.
inline void* new_lines(std::size_t bytes) {
    static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(void*), "the note lies in the gap");
    if (bytes > SIZE_MAX - line_bytes) {
        throw std::bad_alloc();
    }
    auto* const whole = static_cast<std::byte*>(::operator new(bytes + line_bytes));
    std::byte* const lines = whole + line_bytes - reinterpret_cast<std::uintptr_t>(whole) % line_bytes;
    std::construct_at(reinterpret_cast<void**>(lines) - 1, whole);
    return lines;
}

/// @param lines from new_lines(), or null
inline void delete_lines(void* lines) {
    if (lines != nullptr) {
        ::operator delete(static_cast<void**>(lines)[-1]);
    }
}

}  // namespace einparallel::detail
