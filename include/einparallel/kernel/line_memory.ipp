#pragma once

#include <einparallel/kernel/line_memory.hpp>

#include <cstdint>
#include <new>

namespace einparallel::EINPARALLEL_DETAIL {

/// Tells AddressSanitizer, where it is linked, that nobody has any business between two places; or that all is well
/// there.
EINPARALLEL_INLINE void forbid([[maybe_unused]] const std::byte* from, [[maybe_unused]] const std::byte* to,
                               [[maybe_unused]] bool forbidden) {
#if defined(__GNUC__) && defined(__ELF__)
    if (auto* const tell = forbidden ? einparallel_detail_forbid : einparallel_detail_allow; tell != nullptr) {
        tell(from, static_cast<std::size_t>(to - from));
    }
#endif
}

EINPARALLEL_INLINE void* new_lines(std::size_t bytes) {
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

EINPARALLEL_INLINE void delete_lines(void* lines) {
    if (lines != nullptr) {
        line_note* const note = static_cast<line_note*>(lines) - 1;
        auto* const place = reinterpret_cast<std::byte*>(note);
        forbid(place, place + sizeof(line_note), false);
        std::byte* const whole = note->whole;
        forbid(whole, whole + note->bytes + line_bytes, false);  // whoever gets it next may do what he wants there
        ::operator delete(whole);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
