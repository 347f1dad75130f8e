#pragma once

#include <einparallel/kernel/cache_sizes.hpp>

#include <einparallel/kernel/instruction_set.hpp>

#include <algorithm>
#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE const cache_sizes& cache_sizes::here() {
    static const cache_sizes found = asked().checked();
    return found;
}

EINPARALLEL_INLINE cache_sizes cache_sizes::checked() const {
    const auto within = [](std::size_t bytes, std::size_t least, std::size_t most) {
        return bytes >= least && bytes <= most ? bytes : std::size_t{0};
    };
    return {within(first, std::size_t{8} << 10, std::size_t{1} << 20),
            within(second, std::size_t{128} << 10, std::size_t{64} << 20)};
}

EINPARALLEL_INLINE cache_sizes cache_sizes::asked() {
    cache_sizes sizes;
#if EINPARALLEL_DETAIL_X86 && defined(__x86_64__)
    struct registers {
        std::uint32_t a, b, c, d;
    };
    const auto cpuid = [](std::uint32_t leaf, std::uint32_t part) {
        registers got{leaf, 0, part, 0};
        __asm__ volatile("cpuid" : "+a"(got.a), "=b"(got.b), "+c"(got.c), "=d"(got.d));
        return got;
    };
    // Intel's leaf of caches, and AMD's of the same form: the latter only with the extension that announces it.
    constexpr std::uint32_t intel = 4;
    constexpr std::uint32_t amd = 0x8000001DU;
    const bool of_amd = cpuid(0x80000000U, 0).a >= amd && (cpuid(0x80000001U, 0).c >> 22 & 1U) != 0;
    if (!of_amd && cpuid(0, 0).a < intel) {
        return sizes;
    }
    for (std::uint32_t part = 0; part < 8; ++part) {
        const registers cache = cpuid(of_amd ? amd : intel, part);
        const std::uint32_t kind = cache.a & 31U;
        if (kind == 0) {
            break;
        }
        const std::uint32_t level = cache.a >> 5 & 7U;
        const std::size_t bytes = std::size_t{(cache.b >> 22) + 1} * ((cache.b >> 12 & 1023U) + 1) *
                                  ((cache.b & 4095U) + 1) * (std::size_t{cache.c} + 1);
        if (kind != 2 && (level == 1 || level == 2)) {  // not of instructions
            (level == 1 ? sizes.first : sizes.second) = bytes;
        }
    }
#endif
    return sizes;
}

EINPARALLEL_INLINE index lines_of_a_way(index step) {
    constexpr index way = 4096;  // bytes apart: the same set
    return way / std::clamp<index>(step & -step, 64, way);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
