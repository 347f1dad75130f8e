#pragma once
// Large pages for large memory: walks across its rows then need few entries of the processor's table of pages.

#include <cstddef>

#if defined(__linux__)
#include <sys/mman.h>

#include <cstdint>
#endif

namespace einparallel::detail {

/// Asks the system for large pages where memory of `bytes` is new, not touched yet and large enough to gain by them
/// (from 4 MiB on, as NumPy does). A wish: where it is not granted, nothing is different.
inline void wish_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
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

}  // namespace einparallel::detail
