#pragma once
// The kernels on device memory as plain functions: nothing else launches work on a device.
//
// Compiled by nvcc once, in einparallel::cuda (source/cuda.hpp); a test links the same bodies run on the processor.
// Every call returns at once, and its work is done in the order of the stream. Extents and strides are in elements,
// fused and sorted by the caller (device/blocks.hpp makes them of calls on blocks). A failed launch throws.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

struct CUstream_st;  // CUDA's: cudaStream_t is a pointer to one

namespace einparallel {

class kernel;
class op_program;

namespace detail::launch {

using stream = CUstream_st*;

/// Loops of one launch: who has more launches once for each point of the outermost ones.
inline constexpr int most_loops = 10;
/// Operands of one launch.
inline constexpr int most_operands = 12;

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
    std::uint32_t* divided =
        nullptr;  ///< becomes 1 where an integer is divided by zero, but in functors; null: nobody asks
};

/// Z = X of one operand, whose elements have 1, 2, 4, 8 or 16 bytes: a copy, or a transposition.
void copy(stream on, const strided_join& work, std::size_t element_bytes);

/// A dimension that data choose a position of, for each point of a launch.
struct chosen_index {
    element_type element;  ///< of the data: an integer
    index first;           ///< position in the dimension where the block begins
    index size;            ///< positions of the block
    index strides[2];      ///< of a position in the output and in the first operand
};
inline constexpr int most_chosen = 4;

/// Z = X at every point of all loops, at the positions that the data choose, which are operands 1, 2, …: nothing
/// happens where the block does not have them, or with `fills` the output, which has no such dimension, is 0. Of points
/// that name one element any one stays.
void select(stream on, const strided_join& work, const chosen_index* chosen, std::size_t element_bytes, bool fills);

/// A program in device code.
struct device_program;
/// @throws error where a device cannot run it
std::shared_ptr<const device_program> device_program_of(const op_program& program);

/// Sums are taken in an order that depends on extents and strides alone.
void join(stream on, const strided_join& work, const device_program& program);

/// Z = softmax of X along the last loop, the only one behind those of rows: exp(x − max x) / Σ exp(x − max x). Element:
/// float or double. Z and X do not overlap.
void softmax(stream on, const strided_join& work, element_type element);

}  // namespace detail::launch

namespace detail {

/// Launches of a kernel that calls functors of the application's: functor_launch.hpp makes them where nvcc compiles
/// what is recorded.
struct device_functor {
    /// @param functors  a functor_join
    using launch_function = void (*)(launch::stream on, const launch::strided_join& work, const void* functors);

    launch_function join;     ///< Z (⊕)= ⊕ f(X1, …, Xr)
    launch_function combine;  ///< Z (⊕)= ⊕ X
};

}  // namespace detail
}  // namespace einparallel
