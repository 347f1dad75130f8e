#pragma once

#include <einparallel/kernel/array_memory.hpp>

#include <einparallel/kernel/threads.hpp>

#include <algorithm>
#include <cstdint>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

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

EINPARALLEL_INLINE void wish_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::size_t worth = std::size_t{4} << 20;
    constexpr std::size_t page = 4096;
    if (bytes >= worth) {
        const std::size_t skipped = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
        static_cast<void>(
            ::madvise(static_cast<std::byte*>(memory) + skipped, (bytes - skipped) / page * page, MADV_HUGEPAGE));
    }
#endif
}

EINPARALLEL_INLINE void touch_first(std::byte* memory, const std::byte* from, index bytes) {
    constexpr index page = 4096;
    on_threads(bytes < threaded_bytes ? 1 : available_threads(), [&](index part, index parts) {
        const even_part own((bytes + page - 1) / page, part, parts);
        const index begin = own.begin * page;
        const index count = std::min(own.end * page, bytes) - begin;
        if (from == nullptr) {
            std::fill_n(memory + begin, count, std::byte{0});
        } else {
            std::copy_n(from + begin, count, memory + begin);
        }
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
