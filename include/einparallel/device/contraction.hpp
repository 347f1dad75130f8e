#pragma once
// Local contraction on a device, as a value: matrix products for a BLAS, with transpositions where labels need them.

#include <einparallel/device/launch.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/notation/op_program.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

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

/// One batch of products on its way to a BLAS: C = scale · op(A) · op(B), or added to C.
struct blas_call {
    element_type element;
    std::complex<double> scale;
    const blas_product& product;
    const void* a;
    const void* b;
    void* c;
    bool add;
};
/// Gives it to the stream.
using blas_function = function_ref<void(const blas_call&)>;

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
        index elements = 0;          ///< there; 0: the tensor is used where it lies
        std::size_t at = 0;          ///< first byte in the workspace

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
    std::array<index, 3> first{};      ///< of Z, X and Y: where the loops begin, in elements
    std::array<staged, 3> copies;      ///< of Z, X and Y
    bool swapped = false;              ///< A is Y and B is X
    blas_product product;              ///< the innermost loops
    std::vector<host_loop> loops;      ///< around it, slowest first
    std::size_t workspace_bytes = 0;   ///< of copies, and of long sums into them
    std::size_t transposed_bytes = 0;  ///< read for copies of X and Y, or written from one of Z
    double seconds = 0;                ///< estimated for a current GPU: what ways are compared by

    /// How many batches of products the host starts.
    [[nodiscard]] index calls() const {
        index count = 1;
        for (const host_loop& each : loops) {
            count *= each.extent;
        }
        return count;
    }

    /// "12 calls of 36 products of m = 1728, n = 24, k = 36; x transposed".
    EINPARALLEL_INLINE [[nodiscard]] std::string text() const;

    friend bool operator==(const device_contraction&, const device_contraction&) = default;
};

/// By what ways to contract are compared: of a current GPU (H200).
struct device_rates {
    double bytes = 4.0e12;          ///< copied or streamed, read and written, each second
    double multiply_adds = 2.5e13;  ///< of real numbers in large products, each second
    double joined_points = 1.0e12;  ///< of a join that multiplies and adds, each second
    double launch = 4e-6;           ///< seconds
};

/// @pre the call has two operands
EINPARALLEL_INLINE device_contraction decide_on_device(const block_call& call, element_type type,
                                                       const device_rates& rates = {});

/// Runs it on the memory of the call, in the order of the stream. @pre the decision's way is products
EINPARALLEL_INLINE void run_on_device(launch::stream on, const device_contraction& decision, std::complex<double> scale,
                                      const block_call& call, void* workspace, blas_function blas);

/// Bytes of workspace that a block of this program needs on a device: products where it is a sum of products of two
/// operands, else a join.
EINPARALLEL_INLINE std::size_t workspace_on_device(const op_program& program, const block_call& call);
/// Computes the block, in the order of the stream.
EINPARALLEL_INLINE void contract_on_device(launch::stream on, const op_program& program, const block_call& call,
                                           void* workspace, blas_function blas);

}  // namespace einparallel::EINPARALLEL_DETAIL
