#pragma once
// Local contraction on a device, as a value: matrix products for a BLAS, with transpositions where labels need them.

#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/function_ref.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace einparallel {

/// A batch of matrix products as cublas<T>gemmStridedBatched takes them: columns are contiguous, C (+)= op(A) · op(B),
/// C of m rows and n columns.
struct blas_product {
    bool transpose_a = false;
    bool transpose_b = false;
    index m = 1;
    index n = 1;
    index k = 1;
    index a_leading = 1;  ///< distance of A's columns
    index b_leading = 1;  ///< … of B's
    index c_leading = 1;  ///< … of C's
    index batch = 1;
    index a_step = 0;  ///< distance of the batch's matrices, not negative; 0 where all have one
    index b_step = 0;
    index c_step = 0;

    friend bool operator==(const blas_product&, const blas_product&) = default;
};

namespace EINPARALLEL_DETAIL {

/// Calls for one batch of products: C = alpha · A · B, or added to C.
using product_call = function_ref<void(const blas_product& product, const void* a, const void* b, void* c, bool add)>;

/// The ways to run Σ of a product of two blocks on a device.
enum class device_way : std::uint8_t {
    nothing,  ///< an output extent is 0
    join,     ///< one pass of a join: nothing to reuse, integers, a summed extent of 0
    products  ///< matrix products
};

/// How Z (+)= scale · Σ X · Y of two blocks runs on a device: a pure function of shapes, strides, type and mode,
/// whatever the addresses. Compares and prints.
struct device_contraction {
    /// A tensor that lies in dense workspace for the products: its loops in the call's memory and there.
    struct staged {
        std::vector<index> extents;
        std::vector<index> strides;  ///< of the call's tensor
        std::vector<index> dense;    ///< in the workspace; 0 where elements are summed on the way
        std::size_t at = 0;          ///< first byte in the workspace
        std::size_t bytes = 0;       ///< 0: the tensor is used where it lies

        friend bool operator==(const staged&, const staged&) = default;
    };
    /// A loop of the host around the products.
    struct host_loop {
        index extent = 1;
        std::array<index, 3> steps{};  ///< of Z, X and Y, in elements
        bool sums = false;             ///< its products are added up

        friend bool operator==(const host_loop&, const host_loop&) = default;
    };

    device_way way = device_way::nothing;
    element_type element;
    write_mode mode = write_mode::overwrite;
    index repeats = 1;                 ///< a factor: how many equal terms there are of each
    std::array<staged, 3> sums;        ///< of X and Y (1 and 2): summed over labels of one operand before all else
    std::array<staged, 3> copies;      ///< of Z, X and Y
    std::array<index, 3> first{};      ///< of Z, X and Y: where the products begin, in elements
    bool swapped = false;              ///< A is Y and B is X
    blas_product product;              ///< the innermost loops
    std::vector<host_loop> loops;      ///< around it, slowest first
    std::size_t workspace_bytes = 0;   ///< sums and copies
    std::size_t transposed_bytes = 0;  ///< of tensors that are copied

    /// "128 products of m = 1728, n = 24, k = 36; x transposed".
    EINPARALLEL_INLINE [[nodiscard]] std::string text() const;

    friend bool operator==(const device_contraction&, const device_contraction&) = default;
};

/// @pre the call has two operands
EINPARALLEL_INLINE device_contraction decide_on_device(const block_call& call, element_type type);

/// Runs it on the memory of the call. `product` is called on the host for each batch of products, in the order of the
/// stream; its scale is the vertex's times `repeats`.
/// @pre the decision's way is products
EINPARALLEL_INLINE void run_on_device(launch::stream on, const device_contraction& decision, const block_call& call,
                                      void* workspace, product_call product);

}  // namespace EINPARALLEL_DETAIL
}  // namespace einparallel
