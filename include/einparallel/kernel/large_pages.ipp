#pragma once

#include <einparallel/kernel/large_pages.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

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

}  // namespace einparallel::EINPARALLEL_DETAIL
