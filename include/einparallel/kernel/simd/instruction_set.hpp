#pragma once
// Which instructions a compiled kernel uses, as a value and as a template argument, and which this processor has.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstdint>
#include <type_traits>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#define EINPARALLEL_DETAIL_X86 1
#else
#define EINPARALLEL_DETAIL_X86 0
#endif

namespace einparallel::EINPARALLEL_DETAIL {

/// A set of vector instructions. Functions that differ between sets have the set as a template argument, so that units
/// compiled with different options agree.
enum class instruction_set : std::uint8_t { baseline, avx2, avx512 };

/// True where the compiler fuses a multiplication and an addition of one expression if the processor can, even in
/// functions that ask it not to.
#if defined(__clang__)
inline constexpr bool fuses_expressions = true;
#else
inline constexpr bool fuses_expressions = false;
#endif

/// Bytes of a set's vectors.
constexpr index vector_bytes(instruction_set set) {
    return set == instruction_set::avx512 ? 64 : set == instruction_set::avx2 ? 32 : 16;
}

/// True where parts of vectors can be read and written.
constexpr bool has_masks(instruction_set set) {
    return set == instruction_set::avx512;
}

/// Rows of the micro-kernel of a matrix product; NEON has twice the registers of SSE.
constexpr int tile_rows(instruction_set set) {
#if defined(__aarch64__)
    return 8;
#else
    return set == instruction_set::avx512 ? 12 : set == instruction_set::avx2 ? 6 : 4;
#endif
}

/// True where this processor (and its operating system) runs the set. The compiler's run time has asked CPUID before: a
/// call costs a load.
inline bool supported(instruction_set set) {
#if EINPARALLEL_DETAIL_X86
    if (set == instruction_set::avx512) {
        return __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("fma") != 0;
    }
    if (set == instruction_set::avx2) {
        return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    }
#endif
    return set == instruction_set::baseline;
}

/// The widest set that this processor has.
inline instruction_set best_instruction_set() {
    if (supported(instruction_set::avx512)) {
        return instruction_set::avx512;
    }
    return supported(instruction_set::avx2) ? instruction_set::avx2 : instruction_set::baseline;
}

/// Calls visit(std::integral_constant of the set): leads from a set that is known at run time to code compiled for it.
template <class Visit>
auto with_instruction_set([[maybe_unused]] instruction_set set, const Visit& visit) {
#if EINPARALLEL_DETAIL_X86
    if (set == instruction_set::avx512) {
        return visit(std::integral_constant<instruction_set, instruction_set::avx512>{});
    }
    if (set == instruction_set::avx2) {
        return visit(std::integral_constant<instruction_set, instruction_set::avx2>{});
    }
#endif
    return visit(std::integral_constant<instruction_set, instruction_set::baseline>{});
}

/// Calls visit(std::integral_constant of the widest set that this processor has).
template <class Visit>
auto with_best_instructions(const Visit& visit) {
    return with_instruction_set(best_instruction_set(), visit);
}

/// The name of a set for reports, like "avx2".
constexpr const char* name_of(instruction_set set) {
#if defined(__aarch64__)
    constexpr const char* names[] = {"neon"};
#else
    constexpr const char* names[] = {"baseline", "avx2", "avx512"};
#endif
    return names[int(set)];
}

}  // namespace einparallel::EINPARALLEL_DETAIL
