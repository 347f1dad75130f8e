#pragma once
// Plain functions that launch the kernels on device memory; nothing else launches kernels.
//
// They are compiled by nvcc once, in einparallel::cuda (source/cuda.hpp); a test runs the same bodies on the processor.
// Every call returns at once, and its work runs in the order of the stream. Extents and strides are in elements; the
// caller has fused and sorted the loops (device/blocks.hpp). A failed launch throws.

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

/// Largest number of loops of one launch. A join with more loops needs several launches.
inline constexpr int most_loops = 10;
/// Largest number of operands of one launch.
inline constexpr int most_operands = 12;

/// Z (⊕)= ⊕ f(X1, …, Xr) with f and ⊕ of an op program. The loops of the output come first, slowest first, then
/// the summed loops. A tensor has stride 0 in a loop whose label it lacks.
struct strided_join {
    void* output = nullptr;
    const void* operands[most_operands] = {};
    int operand_count = 0;
    int loops = 0;         ///< number of loops; if a summed extent is 0, neutral elements are written
    int output_loops = 0;  ///< number of output loops; extents and the output's strides are not 0 in them
    bool combine = false;  ///< true: Z = Z ⊕ (⊕ …), otherwise Z = ⊕ …
    index extents[most_loops] = {};
    index strides[most_loops][1 + most_operands] = {};  ///< of the output, then of the operands
    void* workspace = nullptr;                          ///< join_shape::workspace_bytes bytes, aligned for any element
    std::uint32_t* divided =
        nullptr;  ///< becomes 1 where an integer is divided by zero outside of functors; may be null
};

/// Copies or transposes Z = X, one operand whose elements have 1, 2, 4, 8 or 16 bytes.
void copy(stream on, const strided_join& work, std::size_t element_bytes);

/// A dimension in which data choose the position, for each point of a launch.
struct chosen_index {
    element_type element;  ///< type of the data, an integer
    index first;           ///< first position of the block in the dimension
    index size;            ///< number of positions of the block
    index strides[2];      ///< strides along the dimension of the output and of the first operand
};
inline constexpr int most_chosen = 4;

/// Copies Z = X for every point of all loops, at the positions that data choose; the data are operands 1, 2, …. If the
/// block does not have such a position, nothing is copied, or, with `fills`, the output element becomes 0; the output
/// must then have none of the chosen dimensions. If several points write one element, any one of them wins.
void select(stream on, const strided_join& work, const chosen_index* chosen, std::size_t element_bytes, bool fills);

/// An op program in device code.
struct device_program;
/// Translates an op program into device code. @throws error where a device cannot run the program
std::shared_ptr<const device_program> device_program_of(const op_program& program);

/// Computes a join. The order of its sums depends on extents and strides only.
void join(stream on, const strided_join& work, const device_program& program);

/// Computes Z, the softmax of X along the last loop: exp(x − max x) / Σ exp(x − max x). All other loops are output
/// loops. `element` is float or double. Z and X must not overlap.
void softmax(stream on, const strided_join& work, element_type element);

}  // namespace detail::launch

namespace detail {

/// The launch functions of a kernel that calls functors of the application. functor_launch.hpp makes them where nvcc
/// compiles the statement.
struct device_functor {
    /// @param functors  a functor_join
    using launch_function = void (*)(launch::stream on, const launch::strided_join& work, const void* functors);

    launch_function join;     ///< Z (⊕)= ⊕ f(X1, …, Xr)
    launch_function combine;  ///< Z (⊕)= ⊕ X
};

}  // namespace detail
}  // namespace einparallel
