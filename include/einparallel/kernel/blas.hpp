#pragma once
// A BLAS that the program was linked with through einparallel::blas: what it is, whether it knows this processor, and
// its matrix products. Units compiled with and without that target have the same functions; only the target's units
// make the linker keep the library.

#include <einparallel/kernel/instruction_set.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>

#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace einparallel {

/// Who computes plain matrix products that are large enough to be worth a call. Contractions whose labels are permuted
/// are always packed and multiplied by the library itself.
enum class gemm_choice : std::uint8_t {
    automatic,  ///< the linked BLAS where it says that it has kernels for this processor, else the library's own
    own,        ///< the library's own
    blas,       ///< the linked BLAS, whatever it says; the library's own where none is linked
};

namespace detail {

#if defined(__GNUC__) && defined(__ELF__)
#define EINPARALLEL_DETAIL_HAS_WEAK 1
#else
#define EINPARALLEL_DETAIL_HAS_WEAK 0
#endif

#if EINPARALLEL_DETAIL_HAS_WEAK

extern "C" {
// Integers are passed by address, as 64 bits that a library of 32-bit integers reads the lower half of. Fortran appends
// the lengths of strings.
using blas_gemm_function = void(const char*, const char*, const std::int64_t*, const std::int64_t*, const std::int64_t*,
                                const void*, const void*, const std::int64_t*, const void*, const std::int64_t*,
                                const void*, void*, const std::int64_t*, std::size_t, std::size_t);
using blas_isamax_function = std::int64_t(const std::int64_t*, const float*, const std::int64_t*);

/// The functions of the linked BLAS. Defined in every unit that is compiled with EINPARALLEL_HAS_BLAS, so that the
/// linker keeps the library; in programs without such a unit, nowhere.
struct einparallel_detail_blas_functions {
    blas_gemm_function* real_float;
    blas_gemm_function* real_double;
    blas_gemm_function* complex_float;
    blas_gemm_function* complex_double;
    blas_isamax_function* largest;
};
#if defined(EINPARALLEL_HAS_BLAS)
// Names of our own for the library's functions: other headers declare them with other types.
blas_gemm_function einparallel_detail_sgemm __asm__("sgemm_");
blas_gemm_function einparallel_detail_dgemm __asm__("dgemm_");
blas_gemm_function einparallel_detail_cgemm __asm__("cgemm_");
blas_gemm_function einparallel_detail_zgemm __asm__("zgemm_");
blas_isamax_function einparallel_detail_isamax __asm__("isamax_");
__attribute__((weak)) einparallel_detail_blas_functions einparallel_detail_blas = {
    &einparallel_detail_sgemm, &einparallel_detail_dgemm, &einparallel_detail_cgemm, &einparallel_detail_zgemm,
    &einparallel_detail_isamax};
#else
extern einparallel_detail_blas_functions einparallel_detail_blas __attribute__((weak));
#endif

const char* einparallel_detail_openblas_core() __asm__("openblas_get_corename") __attribute__((weak));
void einparallel_detail_mkl_version(char*, int) __asm__("MKL_Get_Version_String") __attribute__((weak));
int einparallel_detail_blis_architecture() __asm__("bli_arch_query_id") __attribute__((weak));
const char* einparallel_detail_blis_name(int) __asm__("bli_arch_string") __attribute__((weak));
}

template <class Symbol>
bool is_present(Symbol* symbol) {
    return symbol != nullptr;
}

#endif

/// What the linked BLAS says of itself, asked once.
struct blas_library {
    bool linked = false;
    bool wide = false;          ///< integers of 64 bits
    bool knows_itself = false;  ///< it says which kernels it runs
    instruction_set set = instruction_set::plain;
    std::string name;  ///< "OpenBLAS (Zen)"

    /// Instructions of the kernels that OpenBLAS or BLIS calls by this name of a processor, in any case of letters.
    static instruction_set set_of(std::string_view core) {
        std::string name(core);
        for (char& letter : name) {
            letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
        }
        for (const char* const wide : {"skylakex", "cooperlake", "sapphirerapids", "zen4", "zen5", "skx", "knl"}) {
            if (name == wide) {
                return instruction_set::avx512;
            }
        }
        for (const char* const middle : {"haswell", "excavator", "zen", "zen2", "zen3"}) {
            if (name == middle) {
                return instruction_set::avx2;
            }
        }
        return instruction_set::baseline;
    }

    /// It has kernels for the widest vectors of this processor.
    [[nodiscard]] bool suits_processor() const { return knows_itself && set >= best_instruction_set(); }

    static const blas_library& get() {
        static const blas_library found = look();
        return found;
    }

private:
    static blas_library look() {
        blas_library found;
#if EINPARALLEL_DETAIL_HAS_WEAK
        if (!is_present(&einparallel_detail_blas)) {
            return found;
        }
        found.linked = true;
        // Three as 32 bits, a negative number as 64: the position of the largest is 0 where the count is not positive.
        const auto count = static_cast<std::int64_t>(0xffffffff00000003ULL);
        const std::int64_t step = 1;
        const float numbers[3] = {1, 3, 2};
        found.wide = static_cast<std::int32_t>(einparallel_detail_blas.largest(&count, numbers, &step)) == 0;
        if (is_present(&einparallel_detail_openblas_core)) {
            const char* const core = einparallel_detail_openblas_core();
            found.name = "OpenBLAS (" + std::string(core) + ")";
            found.set = set_of(core);
            found.knows_itself = true;
        } else if (is_present(&einparallel_detail_mkl_version)) {  // chooses by what the processor can do
            found.name = "MKL";
            found.set = best_instruction_set();
            found.knows_itself = true;
        } else if (is_present(&einparallel_detail_blis_architecture) && is_present(&einparallel_detail_blis_name)) {
            const char* const core = einparallel_detail_blis_name(einparallel_detail_blis_architecture());
            found.name = "BLIS (" + std::string(core) + ")";
            found.set = set_of(core);
            found.knows_itself = true;
        } else {
            found.name = "a BLAS that does not say what it is";
        }
        found.name += found.wide ? " with 64-bit integers" : "";
#endif
        return found;
    }
};

/// What the environment says of the choice; empty where it says nothing.
inline std::string_view gemm_in_environment() {
    const char* const said = std::getenv("EINPARALLEL_GEMM");
    return said == nullptr ? "" : said;
}

/// The choice that a word means; none where it means nothing.
inline std::optional<gemm_choice> gemm_choice_of(std::string_view word) {
    if (word.empty() || word == "automatic") {
        return gemm_choice::automatic;
    }
    return word == "own"    ? std::optional(gemm_choice::own)
           : word == "blas" ? std::optional(gemm_choice::blas)
                            : std::nullopt;
}

/// The choice of this process: of use_gemm, or of the environment.
inline std::atomic<gemm_choice>& chosen_gemm() {
    static std::atomic<gemm_choice> chosen = gemm_choice_of(gemm_in_environment()).value_or(gemm_choice::automatic);
    return chosen;
}

/// The linked BLAS is what computes plain products.
inline bool blas_runs() {
    const blas_library& found = blas_library::get();
    const gemm_choice chosen = chosen_gemm().load(std::memory_order_relaxed);
    return found.linked && chosen != gemm_choice::own && (chosen == gemm_choice::blas || found.suits_processor());
}

/// … and has a product for this type.
inline bool blas_computes(element_type type) {
    return ((type.kind == 'f' && (type.bytes == 4 || type.bytes == 8)) || type.kind == 'c') && blas_runs();
}

/// Rows or columns of a matrix lie side by side, the others one after another, and BLAS can count them.
inline bool is_blas_matrix(index stride_of_one, index one, index stride_of_other, index other) {
    const bool side_by_side =
        (stride_of_one == 1 && stride_of_other >= one) || (stride_of_other == 1 && stride_of_one >= other);
    constexpr index most = std::numeric_limits<std::int32_t>::max();
    const bool countable = one <= most && other <= most && stride_of_one <= most && stride_of_other <= most;
    return side_by_side && (countable || blas_library::get().wide);
}

/// A matrix of BLAS in memory; element (i, j) is at data + i · row + j · column.
template <class T>
struct blas_matrix {
    T* data;
    index row;
    index column;
};

/// C (m × n) = scale · A (m × k) · B (k × n) (+ C): as columns, C' = B' · A'.
/// @pre blas_computes(T); is_blas_matrix of all three, C contiguous along n
template <class T>
void blas_gemm(index m, index n, index k, T scale, blas_matrix<const T> a, blas_matrix<const T> b, blas_matrix<T> c,
               bool add) {
#if EINPARALLEL_DETAIL_HAS_WEAK
    const auto product = [] {
        if constexpr (std::is_same_v<T, float>) {
            return einparallel_detail_blas.real_float;
        } else if constexpr (std::is_same_v<T, double>) {
            return einparallel_detail_blas.real_double;
        } else if constexpr (std::is_same_v<T, std::complex<float>>) {
            return einparallel_detail_blas.complex_float;
        } else {
            return einparallel_detail_blas.complex_double;
        }
    }();
    const std::int64_t columns = n;
    const std::int64_t rows = m;
    const std::int64_t depth = k;
    const bool turned_a = a.column != 1;
    const bool turned_b = b.column != 1;
    const std::int64_t a_step = turned_a ? a.column : a.row;
    const std::int64_t b_step = turned_b ? b.column : b.row;
    const std::int64_t c_step = c.row;
    const T before = add ? T(1) : T(0);
    product(turned_b ? "T" : "N", turned_a ? "T" : "N", &columns, &rows, &depth, &scale, b.data, &b_step, a.data,
            &a_step, &before, c.data, &c_step, 1, 1);
#endif
}

}  // namespace detail

/// Chooses for this process who computes plain products from now on; EINPARALLEL_GEMM=own or =blas in the environment
/// does the same from the start. Not to be changed while a contraction runs.
inline void use_gemm(gemm_choice choice) {
    detail::chosen_gemm().store(choice, std::memory_order_relaxed);
}

/// Which kernels contractions run on this processor, in a line: "avx2 kernels; OpenBLAS (Prescott) not used, its
/// kernels are for an older processor"; a word in EINPARALLEL_GEMM that means nothing is said at its end.
inline std::string local_kernels() {
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
