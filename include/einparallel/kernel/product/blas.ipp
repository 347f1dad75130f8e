#pragma once

#include <einparallel/kernel/product/blas.hpp>

#include <einparallel/notation/search_range.hpp>

#include <array>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE instruction_set blas_library::set_of(std::string_view core) {
    std::string name(core);
    for (char& letter : name) {
        letter = letter >= 'A' && letter <= 'Z' ? char(letter - 'A' + 'a') : letter;
    }
    constexpr std::array wide{"skylakex", "cooperlake", "sapphirerapids", "zen4", "zen5", "skx", "knl"};
    constexpr std::array middle{"haswell", "excavator", "zen", "zen2", "zen3"};
    return found_in(name, wide)     ? instruction_set::avx512
           : found_in(name, middle) ? instruction_set::avx2
                                    : instruction_set::baseline;
}

EINPARALLEL_INLINE const blas_library& blas_library::get() {
    static const blas_library asked = [] {
        blas_library found;
#if defined(__GNUC__) && defined(__ELF__)
        if (!is_linked(&einparallel_detail_blas)) {
            return found;
        }
        found.linked = true;
        // The count is 3 if read as 32 bits, and negative as 64. The position of the largest is 0 for a count that is
        // not positive.
        const auto count = std::int64_t(0xffffffff00000003ULL);
        const std::int64_t step = 1;
        const float numbers[3] = {1, 3, 2};
        found.wide = std::int32_t(einparallel_detail_blas.largest(&count, numbers, &step)) == 0;
        const auto is = [&](std::string called, instruction_set runs) {
            found.name = std::move(called);
            found.set = runs;
            found.knows_itself = true;
        };
        if (is_linked(&einparallel_detail_openblas_core)) {
            const char* const core = einparallel_detail_openblas_core();
            is("OpenBLAS (" + std::string(core) + ")", set_of(core));
        } else if (is_linked(&einparallel_detail_mkl_version)) {  // chooses by what the processor can do
            is("MKL", best_instruction_set());
        } else if (is_linked(&einparallel_detail_blis_architecture) && is_linked(&einparallel_detail_blis_name)) {
            const char* const core = einparallel_detail_blis_name(einparallel_detail_blis_architecture());
            is("BLIS (" + std::string(core) + ")", set_of(core));
        } else {
            found.name = "a BLAS that does not say what it is";
        }
        found.name += found.wide ? " with 64-bit integers" : "";
#endif
        return found;
    }();
    return asked;
}

/// The choice as EINPARALLEL_GEMM in the environment says it; empty where it is not set.
EINPARALLEL_INLINE std::string_view gemm_in_environment() {
    const char* const said = std::getenv("EINPARALLEL_GEMM");
    return said == nullptr ? "" : said;
}

/// The choice that a word stands for; none for an unknown word.
EINPARALLEL_INLINE std::optional<gemm_choice> gemm_choice_of(std::string_view word) {
    return word.empty() || word == "automatic" ? std::optional(gemm_choice::automatic)
           : word == "own"                     ? std::optional(gemm_choice::own)
           : word == "blas"                    ? std::optional(gemm_choice::blas)
                                               : std::nullopt;
}

EINPARALLEL_INLINE std::atomic<gemm_choice>& chosen_gemm() {
    static std::atomic<gemm_choice> chosen = gemm_choice_of(gemm_in_environment()).value_or(gemm_choice::automatic);
    return chosen;
}

EINPARALLEL_INLINE bool blas_runs() {
    const blas_library& found = blas_library::get();
    const gemm_choice chosen = chosen_gemm().load(std::memory_order_relaxed);
    return found.linked && chosen != gemm_choice::own && (chosen == gemm_choice::blas || found.suits_processor());
}

EINPARALLEL_INLINE bool blas_computes(element_type type) {
    return ((type.kind == 'f' && (type.bytes == 4 || type.bytes == 8)) || type.kind == 'c') && blas_runs();
}

EINPARALLEL_INLINE bool is_blas_matrix(index stride_of_one, index one, index stride_of_other, index other) {
    const bool side_by_side =
        (stride_of_one == 1 && stride_of_other >= one) || (stride_of_other == 1 && stride_of_one >= other);
    constexpr index most = std::numeric_limits<std::int32_t>::max();
    const bool countable = one <= most && other <= most && stride_of_one <= most && stride_of_other <= most;
    return side_by_side && (countable || blas_library::get().wide);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE void use_gemm(gemm_choice choice) {
    detail::chosen_gemm().store(choice, std::memory_order_relaxed);
}

EINPARALLEL_INLINE std::string local_kernels() {
    const std::string_view word = detail::gemm_in_environment();
    const std::string unknown =
        detail::gemm_choice_of(word)
            ? ""
            : "; EINPARALLEL_GEMM=" + std::string(word) + " is neither own nor blas nor automatic, and not heeded";
    std::string text = std::string(detail::name_of(detail::best_instruction_set())) + " kernels";
    const detail::blas_library& found = detail::blas_library::get();
    if (!found.linked) {
        return text + "; no BLAS linked" + unknown;
    }
    text += "; " + found.name;
    if (detail::blas_runs()) {
        return text + " for plain products" + unknown;
    }
    return text + " not used, " +
           (detail::chosen_gemm().load(std::memory_order_relaxed) == gemm_choice::own ? "as chosen"
            : found.knows_itself ? "its kernels are for an older processor"
                                 : "for all we know its kernels are slow") +
           unknown;
}

}  // namespace einparallel
