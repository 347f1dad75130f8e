#pragma once
// Work of vertices on a device: matrix products by cuBLAS, all else by the kernels of device/.

#include <einparallel/cuda/check.hpp>
#include <einparallel/device/blocks.hpp>
#include <einparallel/device/contraction.hpp>
#include <einparallel/device/functor.hpp>
#include <einparallel/device/launch.hpp>
#include <einparallel/run/device_space.hpp>

#include <cublas_v2.h>
#include <complex>

namespace einparallel::EINPARALLEL_DETAIL {

/// Gives products to cuBLAS, in full precision.
EINPARALLEL_INLINE void multiply_on_device(cublasContext* handle, const blas_call& call) {
    const blas_product& of = call.product;
    const cublasOperation_t a_as = of.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t b_as = of.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const auto with = [&](auto scale, auto one, auto function, const char* name) {
        using number = decltype(scale);
        const number beta = call.add ? one : number{};
        check_cublas(function(handle, a_as, b_as, of.m, of.n, of.k, &scale, static_cast<const number*>(call.a),
                              of.a_leading, of.a_step, static_cast<const number*>(call.b), of.b_leading, of.b_step,
                              &beta, static_cast<number*>(call.c), of.c_leading, of.c_step, of.batch),
                     name);
    };
    const double real = call.scale.real();
    const double imaginary = call.scale.imag();
    if (call.element == element_type_of<float>()) {
        with(static_cast<float>(real), 1.0F, cublasSgemmStridedBatched_64, "cublasSgemmStridedBatched");
    } else if (call.element == element_type_of<double>()) {
        with(real, 1.0, cublasDgemmStridedBatched_64, "cublasDgemmStridedBatched");
    } else if (call.element == element_type_of<std::complex<float>>()) {
        with(cuComplex{static_cast<float>(real), static_cast<float>(imaginary)}, cuComplex{1, 0},
             cublasCgemmStridedBatched_64, "cublasCgemmStridedBatched");
    } else {
        with(cuDoubleComplex{real, imaginary}, cuDoubleComplex{1, 0}, cublasZgemmStridedBatched_64,
             "cublasZgemmStridedBatched");
    }
}

EINPARALLEL_INLINE std::size_t workspace_on_device(const kernel& work, const block_call& call) {
    return work.on_device() != nullptr ? join_workspace_bytes(work.program(), call)
                                       : workspace_on_device(work.program(), call);
}

EINPARALLEL_INLINE void contract_on_device(const device_queue& on, const kernel& work, const block_call& call) {
    if (const device_functor* const own = work.on_device()) {
        join_on_device(work.program(), call, on.workspace,
                       [&](const launch::strided_join& part) { own->join(on.work, part, work); });
        return;
    }
    contract_on_device(on.work, work.program(), call, on.workspace,
                       [&](const blas_call& products) { multiply_on_device(on.blas, products); });
}

EINPARALLEL_INLINE void combine_on_device(const device_queue& on, const kernel& work, std::span<const index> extents,
                                          void* into, std::span<const index> into_strides, const void* from,
                                          std::span<const index> from_strides) {
    const op_program sum = reduction_program(work.program().aggregates_by(), work.program().type());
    combine_on_device(sum, extents, into, into_strides, from, from_strides, [&](const launch::strided_join& part) {
        sum.is_opaque() ? work.on_device()->combine(on.work, part, work) : launch::join(on.work, part, sum);
    });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
