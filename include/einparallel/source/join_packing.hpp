#pragma once
// The packing of joins: every size of element, every panel of a micro-kernel (kernel/simd/vector_join.hpp).

#include <einparallel/source/products.hpp>

#include <cstdint>

namespace einparallel::EINPARALLEL_DETAIL {

#define EINPARALLEL_DETAIL_PACK(T, panel, set) \
    template void pack_slivers<T, panel, instruction_set::set>(const void*, void*, const void*, const pack_source&);
#define EINPARALLEL_DETAIL_PACK_PANELS(panel, set)     \
    EINPARALLEL_DETAIL_PACK(float, panel, set)         \
    EINPARALLEL_DETAIL_PACK(double, panel, set)        \
    EINPARALLEL_DETAIL_PACK(std::uint8_t, panel, set)  \
    EINPARALLEL_DETAIL_PACK(std::uint16_t, panel, set) \
    EINPARALLEL_DETAIL_PACK(std::uint32_t, panel, set) \
    EINPARALLEL_DETAIL_PACK(std::uint64_t, panel, set)

EINPARALLEL_DETAIL_PACK_PANELS(4, baseline)
EINPARALLEL_DETAIL_PACK_PANELS(6, baseline)
EINPARALLEL_DETAIL_PACK_PANELS(8, baseline)
EINPARALLEL_DETAIL_PACK_PANELS(16, baseline)
EINPARALLEL_DETAIL_PACK_PANELS(32, baseline)
#if EINPARALLEL_DETAIL_X86
EINPARALLEL_DETAIL_PACK_PANELS(6, avx2)
EINPARALLEL_DETAIL_PACK_PANELS(8, avx2)
EINPARALLEL_DETAIL_PACK_PANELS(16, avx2)
EINPARALLEL_DETAIL_PACK_PANELS(32, avx2)
EINPARALLEL_DETAIL_PACK_PANELS(64, avx2)
EINPARALLEL_DETAIL_PACK_PANELS(6, avx512)
EINPARALLEL_DETAIL_PACK_PANELS(16, avx512)
EINPARALLEL_DETAIL_PACK_PANELS(32, avx512)
EINPARALLEL_DETAIL_PACK_PANELS(64, avx512)
EINPARALLEL_DETAIL_PACK_PANELS(128, avx512)
#endif

#undef EINPARALLEL_DETAIL_PACK_PANELS
#undef EINPARALLEL_DETAIL_PACK

}  // namespace einparallel::EINPARALLEL_DETAIL
