#pragma once
// Bodies as kernels of a GPU, for units that nvcc compiles.

#include <einparallel/device/start.hpp>

#include <einparallel/cuda/check.hpp>
#include <einparallel/device/body.hpp>
#include <einparallel/device/launch.hpp>

#include <cuda_runtime.h>
#include <cstddef>

namespace einparallel::detail {

/// The context of a body on a GPU (device/body.hpp).
class gpu_context {
public:
    __device__ index block() const { return blockIdx.x; }
    __device__ int thread() const { return int(threadIdx.x); }
    __device__ int threads() const { return int(blockDim.x); }
    __device__ std::byte* shared() const {
        extern __shared__ ulonglong2 of_block[];
        return reinterpret_cast<std::byte*>(of_block);
    }
    __device__ void barrier() const { __syncthreads(); }
    template <class T>
    __device__ T load(bool active, const T* address) const {
        T held{};
        if (active) {
            held = *address;
        }
        return held;
    }
    template <class T>
    __device__ void store(bool active, T* address, const T& x) const {
        if (active) {
            *address = x;
        }
    }
};

template <class Body>
__global__ void __launch_bounds__(most_threads) run_body(const __grid_constant__ Body body) {
    gpu_context at;
    body(at);
}

template <class Body>
void start(launch::stream on, const Body& body, const launch_shape& shape) {
    static_assert(sizeof(Body) <= most_parameter_bytes);
    run_body<<<unsigned(shape.blocks), unsigned(shape.threads), std::size_t(shape.shared_bytes), on>>>(body);
    check_cuda(cudaGetLastError(), "a kernel's launch");
}

}  // namespace einparallel::detail
