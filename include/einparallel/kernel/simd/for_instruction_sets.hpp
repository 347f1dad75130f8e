// Includes EINPARALLEL_DETAIL_BODY once for every instruction set, with macros for the set's name, the attribute that
// its functions need, that of functions in which no multiplication is fused with an addition (clang fuses inside one
// expression only), its vectors' bytes, the rows of its micro-kernel, a store of a vector of doubles that leaves the
// caches alone, conversions of vectors of float16, where it has them (every processor with AVX2 has), and whether there
// are square roots of 32 bytes. No #pragma once. Nothing else gives one body several
// targets: the target attribute takes no template argument, and g++ splits wide vectors in a function of narrow target
// before it inlines it into one of wide target.

#include <einparallel/kernel/simd/instruction_set.hpp>

#if defined(__GNUC__) && defined(EINPARALLEL_DETAIL_BODY)

// The accumulators must stay in registers, which takes complete unrolling: asked for by name, because -O2 alone may
// not. Of the innermost loops several steps are one: a processor whose other hardware thread is busy decodes half as
// many instructions for this one, and then those of the loop itself are felt. Where a loop writes to the addresses
// that it reads, no step reads what another writes.
#if defined(__clang__)
#define EINPARALLEL_DETAIL_UNROLL _Pragma("clang loop unroll(full)")
#define EINPARALLEL_DETAIL_FOUR_STEPS _Pragma("clang loop unroll_count(4)")
#define EINPARALLEL_DETAIL_SAME_ADDRESSES _Pragma("clang loop vectorize(assume_safety)")
#else
#define EINPARALLEL_DETAIL_UNROLL _Pragma("GCC unroll 32")
#define EINPARALLEL_DETAIL_FOUR_STEPS _Pragma("GCC unroll 4")
#define EINPARALLEL_DETAIL_SAME_ADDRESSES _Pragma("GCC ivdep")
#endif
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675  // nvcc passes GCC's pragma on to the host compiler, and warns of it
#endif

#define EINPARALLEL_DETAIL_BYTES vector_bytes(instruction_set::EINPARALLEL_DETAIL_SET)
#define EINPARALLEL_DETAIL_ROWS tile_rows(instruction_set::EINPARALLEL_DETAIL_SET)
#if defined(__clang__)
#define EINPARALLEL_DETAIL_STREAM(into, value) \
    __builtin_nontemporal_store(value, reinterpret_cast<decltype(value)*>(into))
#elif EINPARALLEL_DETAIL_X86 && defined(__SSE2__)
#define EINPARALLEL_DETAIL_STREAM(into, value) EINPARALLEL_DETAIL_STORE(into, value)
#else
#define EINPARALLEL_DETAIL_STREAM(into, value) __builtin_memcpy(into, &(value), sizeof(value))
#endif

#if defined(__clang__)
#define EINPARALLEL_DETAIL_AS_WRITTEN
#else
#define EINPARALLEL_DETAIL_AS_WRITTEN __attribute__((optimize("fp-contract=off")))
#endif

#define EINPARALLEL_DETAIL_SET baseline
#define EINPARALLEL_DETAIL_TARGET
#define EINPARALLEL_DETAIL_UNFUSED EINPARALLEL_DETAIL_AS_WRITTEN
#define EINPARALLEL_DETAIL_UNFUSED_PAIRS EINPARALLEL_DETAIL_UNFUSED
#define EINPARALLEL_DETAIL_STORE __builtin_ia32_movntpd
#define EINPARALLEL_DETAIL_ROOTS 0
#include EINPARALLEL_DETAIL_BODY
#undef EINPARALLEL_DETAIL_ROOTS
#undef EINPARALLEL_DETAIL_SET
#undef EINPARALLEL_DETAIL_TARGET
#undef EINPARALLEL_DETAIL_UNFUSED
#undef EINPARALLEL_DETAIL_UNFUSED_PAIRS
#undef EINPARALLEL_DETAIL_STORE
#if EINPARALLEL_DETAIL_X86
#if defined(__clang__)
#if __has_builtin(__builtin_ia32_sqrtpd256) && __has_builtin(__builtin_ia32_sqrtps256)
#define EINPARALLEL_DETAIL_ROOTS 1
#else
#define EINPARALLEL_DETAIL_ROOTS 0
#endif
#else  // g++ knows them, but says so only where a whole unit has the instructions
#define EINPARALLEL_DETAIL_ROOTS 1
#endif
#define EINPARALLEL_DETAIL_SET avx2
#define EINPARALLEL_DETAIL_TARGET __attribute__((target("avx2,fma,f16c")))
#define EINPARALLEL_DETAIL_UNFUSED __attribute__((target("avx2"))) EINPARALLEL_DETAIL_AS_WRITTEN
#define EINPARALLEL_DETAIL_UNFUSED_PAIRS EINPARALLEL_DETAIL_UNFUSED
#define EINPARALLEL_DETAIL_STORE __builtin_ia32_movntpd256
#if !defined(__CUDACC__)
#if defined(__clang__) && !__has_builtin(__builtin_ia32_vcvtph2ps256)  // clang 22 has the type instead
#define EINPARALLEL_DETAIL_TO_FLOAT(x, half)                 \
    typedef _Float16 eight __attribute__((vector_size(16))); \
    x = __builtin_convertvector((eight)(half), vector)
#else
#define EINPARALLEL_DETAIL_TO_FLOAT(x, half)              \
    typedef short eight __attribute__((vector_size(16))); \
    x = __builtin_ia32_vcvtph2ps256((eight)(half))
#endif
#define EINPARALLEL_DETAIL_TO_HALF(half, x) half = (shorts)__builtin_ia32_vcvtps2ph256(x, 0)
#if !defined(__clang__)
#define EINPARALLEL_DETAIL_TO_WORDS(wide, half)           \
    typedef short eight __attribute__((vector_size(16))); \
    wide = (words)__builtin_ia32_pmovzxwd256((eight)(half))
#endif
#endif
#include EINPARALLEL_DETAIL_BODY
#undef EINPARALLEL_DETAIL_TO_FLOAT
#undef EINPARALLEL_DETAIL_TO_HALF
#undef EINPARALLEL_DETAIL_TO_WORDS
#undef EINPARALLEL_DETAIL_SET
#undef EINPARALLEL_DETAIL_TARGET
#undef EINPARALLEL_DETAIL_UNFUSED
#undef EINPARALLEL_DETAIL_UNFUSED_PAIRS
#undef EINPARALLEL_DETAIL_STORE
#define EINPARALLEL_DETAIL_SET avx512
#define EINPARALLEL_DETAIL_TARGET __attribute__((target("avx2,fma,f16c,avx512f,avx512vl")))
#define EINPARALLEL_DETAIL_UNFUSED __attribute__((target("avx2,avx512f,avx512vl"))) EINPARALLEL_DETAIL_AS_WRITTEN
// g++ 12 fuses complex products even so (vfmaddsub), where the instructions are there.
#define EINPARALLEL_DETAIL_UNFUSED_PAIRS __attribute__((target("avx2"))) EINPARALLEL_DETAIL_AS_WRITTEN
#define EINPARALLEL_DETAIL_STORE __builtin_ia32_movntpd512
#define EINPARALLEL_DETAIL_MASKS
#if !defined(__CUDACC__)
#if defined(__clang__) && !__has_builtin(__builtin_ia32_vcvtph2ps512_mask)
#define EINPARALLEL_DETAIL_TO_FLOAT(x, half)                   \
    typedef _Float16 sixteen __attribute__((vector_size(32))); \
    x = __builtin_convertvector((sixteen)(half), vector)
#else
#define EINPARALLEL_DETAIL_TO_FLOAT(x, half)                \
    typedef short sixteen __attribute__((vector_size(32))); \
    x = __builtin_ia32_vcvtph2ps512_mask((sixteen)(half), vector{}, (unsigned short)(-1), 4)
#endif
#define EINPARALLEL_DETAIL_TO_HALF(half, x)                 \
    typedef short sixteen __attribute__((vector_size(32))); \
    half = (shorts)__builtin_ia32_vcvtps2ph512_mask(x, 0, sixteen{}, (unsigned short)(-1))
#if !defined(__clang__)
#define EINPARALLEL_DETAIL_TO_WORDS(wide, half)              \
    typedef short sixteen __attribute__((vector_size(32)));  \
    typedef int integers16 __attribute__((vector_size(64))); \
    wide = (words)__builtin_ia32_pmovzxwd512_mask((sixteen)(half), integers16{}, (unsigned short)(-1))
#endif
#endif
#include EINPARALLEL_DETAIL_BODY
#undef EINPARALLEL_DETAIL_TO_FLOAT
#undef EINPARALLEL_DETAIL_TO_HALF
#undef EINPARALLEL_DETAIL_TO_WORDS
#undef EINPARALLEL_DETAIL_SET
#undef EINPARALLEL_DETAIL_TARGET
#undef EINPARALLEL_DETAIL_UNFUSED
#undef EINPARALLEL_DETAIL_UNFUSED_PAIRS
#undef EINPARALLEL_DETAIL_STORE
#undef EINPARALLEL_DETAIL_MASKS
#undef EINPARALLEL_DETAIL_ROOTS
#endif

#undef EINPARALLEL_DETAIL_AS_WRITTEN
#undef EINPARALLEL_DETAIL_BYTES
#undef EINPARALLEL_DETAIL_ROWS
#undef EINPARALLEL_DETAIL_STREAM
#undef EINPARALLEL_DETAIL_UNROLL
#undef EINPARALLEL_DETAIL_FOUR_STEPS
#undef EINPARALLEL_DETAIL_SAME_ADDRESSES
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif

#endif

#undef EINPARALLEL_DETAIL_BODY
