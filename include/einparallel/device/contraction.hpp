#pragma once
// Contraction of one rank's blocks on a device.

#include <einparallel/device/contraction_decision.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/work/work.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/operations/op_program.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

/// A batch of matrix products for a BLAS: C = scale · op(A) · op(B), or, with `add`, C += scale · op(A) · op(B).
struct blas_call {
    element_type element;
    element_type operand;  ///< of A and B
    std::complex<double> scale;
    const blas_product& product;
    const void* a;
    const void* b;
    void* c;
    bool add;
};
/// A function that gives a batch of products to the stream.
using blas_function = function_ref<void(const blas_call&)>;

/// Runs a decided contraction on the memory of `call`, in the order of the stream. `sum`: the program that sums
/// elements of the output's type, for copies that sum or combine. @pre the decision's way is products
EINPARALLEL_INLINE void run_on_device(launch::stream on, const device_contraction& decision,
                                      const launch::device_program* sum, std::complex<double> scale,
                                      const block_call& call, void* workspace, blas_function blas);

/// Why devices do not compute this kernel, as the words that follow a vertex's name; empty where they do.
EINPARALLEL_INLINE std::string refused_on_device(const kernel& work);

/// How calls of a kernel are computed on a device: by matrix products where it is a sum of products of two operands,
/// otherwise by a join. Addresses matter only in one respect: whether the output is an operand's memory.
struct device_decision {
    std::optional<device_contraction> products{};
    std::complex<double> scale{};
    std::shared_ptr<const launch::device_program> code{};  ///< program of the join; with products, of summing copies
    bool is_in_place = false;
    std::size_t workspace = 0;  ///< bytes

    [[nodiscard]] bool multiplies() const { return products && products->way == device_way::products; }
};
/// Decides how a call of a kernel is computed. @throws error where a device cannot compute it
EINPARALLEL_INLINE device_decision decide_on_device(const kernel& work, const block_call& call);

/// Computes a block, in the order of the stream. `divided` becomes 1 where an integer is divided by zero.
EINPARALLEL_INLINE void contract_on_device(launch::stream on, const kernel& work, const device_decision& decided,
                                           const block_call& call, void* workspace, std::uint32_t* divided,
                                           blas_function blas);

}  // namespace einparallel::EINPARALLEL_DETAIL
