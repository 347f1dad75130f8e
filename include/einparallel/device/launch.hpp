#pragma once
// The kernels on device memory as plain functions: the only place where work is launched on a device.
//
// Compiled by nvcc once, in einparallel::cuda (source/cuda.hpp); a test links the same bodies run on the processor.
// Every call returns at once, and its work is done in the order of the stream. Extents and strides are in elements,
// fused and sorted by the caller (device/blocks.hpp makes them of calls on blocks). A failed launch throws.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>

#include <type_traits>

struct CUstream_st;  // CUDA's: cudaStream_t is a pointer to one

namespace einparallel {

class op_program;

namespace detail::launch {

using stream = CUstream_st*;

/// Loops of one launch: who has more launches once for each point of the outermost ones.
inline constexpr int most_loops = 10;
/// Operands of one launch.
inline constexpr int most_operands = 12;

/// into[i] = from[i] for every i of a box: a copy, or a transposition.
struct strided_copy {
    void* into = nullptr;
    const void* from = nullptr;
    int element_bytes = 0;  ///< 1, 2, 4, 8 or 16
    int loops = 0;          ///< no extent is 0
    index extents[most_loops] = {};
    index into_strides[most_loops] = {};
    index from_strides[most_loops] = {};
};

/// Z (⊕)= ⊕ f(X1, …, Xr), f and ⊕ of an op program. Loops of the output come first, slowest first, then those that are
/// summed; a tensor without a label has stride 0 there.
struct strided_join {
    void* output = nullptr;
    const void* operands[most_operands] = {};
    int operand_count = 0;
    int loops = 0;         ///< no extent of the output is 0; where one is that is summed, identities are written
    int output_loops = 0;  ///< the first ones; the output's strides are not 0 there
    bool combine = false;  ///< Z = Z ⊕ (⊕ …), else Z = ⊕ …
    index extents[most_loops] = {};
    index strides[most_loops][1 + most_operands] = {};  ///< of the output, and of the operands
    void* workspace = nullptr;                          ///< join_shape::workspace_bytes, aligned for any element
};

static_assert(std::is_trivially_copyable_v<strided_copy> && std::is_trivially_copyable_v<strided_join>);

void copy(stream on, const strided_copy& work);

/// Sums are taken in an order that depends on extents and strides alone.
void join(stream on, const strided_join& work, const op_program& program);

/// Z = softmax of X along the last loop, the only one behind those of rows: exp(x − max x) / Σ exp(x − max x). Element:
/// float or double. A row that fits into a block's shared memory is read once, else three times. Z and X do not
/// overlap.
void softmax(stream on, const strided_join& work, element_type element);

}  // namespace detail::launch
}  // namespace einparallel
