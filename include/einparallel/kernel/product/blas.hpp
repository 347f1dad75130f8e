#pragma once
// A BLAS that the program was linked with through einparallel::blas: what it is, whether it knows this processor, and
// its matrix products. Units compiled with and without that target have the same functions; only the target's units
// make the linker keep the library.

#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <atomic>
#include <complex>
#include <cstdint>
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

namespace EINPARALLEL_DETAIL {

#if defined(__GNUC__) && defined(__ELF__)

extern "C" {
// Integers are passed by address, as 64 bits that a library of 32-bit integers reads the lower half of. Fortran appends
// the lengths of strings.
using blas_gemm_function = void(const char*, const char*, const std::int64_t*, const std::int64_t*, const std::int64_t*,
                                const void*, const void*, const std::int64_t*, const void*, const std::int64_t*,
                                const void*, void*, const std::int64_t*, std::size_t, std::size_t);
using blas_isamax_function = std::int64_t(const std::int64_t*, const float*, const std::int64_t*);

/// The functions of the linked BLAS. Every unit that is compiled with EINPARALLEL_HAS_BLAS defines them, so that the
/// linker keeps the library. In programs without such a unit they are not defined.
struct einparallel_detail_blas_functions {
    blas_gemm_function* products[4];  ///< matrix products of float, double and their complex types
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
    {&einparallel_detail_sgemm, &einparallel_detail_dgemm, &einparallel_detail_cgemm, &einparallel_detail_zgemm},
    &einparallel_detail_isamax};
#else
extern einparallel_detail_blas_functions einparallel_detail_blas __attribute__((weak));
#endif

const char* einparallel_detail_openblas_core() __asm__("openblas_get_corename") __attribute__((weak));
void einparallel_detail_mkl_version(char*, int) __asm__("MKL_Get_Version_String") __attribute__((weak));
int einparallel_detail_blis_architecture() __asm__("bli_arch_query_id") __attribute__((weak));
const char* einparallel_detail_blis_name(int) __asm__("bli_arch_string") __attribute__((weak));
}

#endif

/// What the linked BLAS says about itself. It is asked once.
struct blas_library {
    bool linked = false;
    bool wide = false;          ///< integers of 64 bits
    bool knows_itself = false;  ///< it says which kernels it runs
    instruction_set set = instruction_set::baseline;
    std::string name;  ///< "OpenBLAS (Zen)"

    /// The instructions of the kernels that OpenBLAS or BLIS names after this processor. Upper and lower case are
    /// equal.
    EINPARALLEL_INLINE static instruction_set set_of(std::string_view core);

    /// True where it says that it has kernels for the widest vectors of this processor.
    [[nodiscard]] bool suits_processor() const { return knows_itself && set >= best_instruction_set(); }

    EINPARALLEL_INLINE static const blas_library& get();
};

/// The choice for this process, made by use_gemm() or by the environment.
EINPARALLEL_INLINE std::atomic<gemm_choice>& chosen_gemm();

/// True where the linked BLAS computes plain products.
EINPARALLEL_INLINE bool blas_runs();

/// True where the linked BLAS computes plain products and has one for this type.
EINPARALLEL_INLINE bool blas_computes(element_type type);

/// True for a matrix as BLAS takes it: its rows or its columns are contiguous and follow one another without overlap,
/// and its numbers fit into the integers of the BLAS.
EINPARALLEL_INLINE bool is_blas_matrix(index stride_of_one, index one, index stride_of_other, index other);

/// C(m, n) = scale · A(m, k) · B(k, n) (+ C). BLAS has matrices by columns, and computes C' = B' · A'. Loop m has the
/// strides of A and C, n those of B and C, and k those of A and B.
/// @pre blas_computes(T); is_blas_matrix of all three, C contiguous along n
template <class T>
void blas_gemm(const gemm_axis::loop& m, const gemm_axis::loop& n, const gemm_axis::loop& k, T scale, const T* a,
               const T* b, T* c, bool add) {
#if defined(__GNUC__) && defined(__ELF__)
    constexpr int type = (is_complex<T>::value ? 2 : 0) + (std::is_same_v<real_part_t<T>, double> ? 1 : 0);
    const std::int64_t columns = n.extent;
    const std::int64_t rows = m.extent;
    const std::int64_t depth = k.extent;
    const bool transposed_a = k.first != 1;
    const bool transposed_b = n.first != 1;
    const std::int64_t a_step = transposed_a ? k.first : m.first;
    const std::int64_t b_step = transposed_b ? n.first : k.second;
    const std::int64_t c_step = m.second;
    const T before = add ? T(1) : T(0);
    einparallel_detail_blas.products[type](transposed_b ? "T" : "N", transposed_a ? "T" : "N", &columns, &rows, &depth,
                                           &scale, b, &b_step, a, &a_step, &before, c, &c_step, 1, 1);
#endif
}

}  // namespace EINPARALLEL_DETAIL

/// Chooses for this process who computes plain products from now on. EINPARALLEL_GEMM=own or =blas in the environment
/// does so from the start. It must not be called while a contraction runs.
EINPARALLEL_INLINE void use_gemm(gemm_choice choice);

/// One line that says which kernels contractions run on this processor, like "avx2 kernels; OpenBLAS (Prescott) not
/// used, its kernels are for an older processor". An unknown word in EINPARALLEL_GEMM is mentioned at its end.
EINPARALLEL_INLINE std::string local_kernels();

}  // namespace einparallel
