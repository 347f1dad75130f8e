#pragma once
// The decision how a block is contracted on a device, as a value: matrix products for a BLAS, with transpositions where
// the order of labels needs them.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

/// Speeds by which the ways to contract are compared. Defaults are those of an H200 GPU.
struct device_limits {
    double bytes = 4.0e12;          ///< bytes read and written per second by copies and streaming kernels
    double multiply_adds = 2.5e13;  ///< multiply-adds of real numbers per second, in large products
    double of_halves = 4e14;        ///< multiply-adds per second, where operands are half-precision numbers
    double joined_points = 1.0e12;  ///< points per second of a join that multiplies and adds
    double launch = 4e-6;           ///< seconds per launch
    double processors = 132;        ///< number of multiprocessors; each works on one tile of a product
};

/// A matrix of a product as a BLAS takes it: its columns, or those of its transpose, are contiguous.
struct blas_matrix {
    bool transpose = false;
    index leading = 1;  ///< distance between columns, in elements
    index step = 0;     ///< distance between the matrices of a batch, not negative; 0 where the batch shares one
};

/// A batch of matrix products as cublas<T>gemmStridedBatched takes them: C (+)= op(A) · op(B), C of m rows and n
/// columns.
struct blas_product {
    index m = 1;
    index n = 1;
    index k = 1;
    index batch = 1;
    blas_matrix a{};
    blas_matrix b{};
    blas_matrix c{};
};

/// The ways to compute the sum of products of two blocks on a device.
enum class device_way : std::uint8_t {
    nothing,  ///< nothing to do: an output extent is 0
    join,     ///< a join: faster than products, or needed for integers, a summed extent of 0, or work in place
    products  ///< matrix products
};

/// How Z (+)= scale · Σ X · Y of two blocks runs on a device. It depends on shapes, strides, types, the mode, and
/// whether the call is in place, but on no addresses otherwise.
struct device_contraction {
    /// A tensor that is copied to or from dense workspace for the products.
    struct staged {
        loop_nest loops{2};  ///< slot 0: the workspace, with stride 0 in loops that the copy sums; slot 1: the tensor
        index elements = 0;  ///< elements in the workspace; 0: the tensor is used where it lies
        bool sums = false;   ///< true: the copy sums along some loops
        std::size_t at = 0;  ///< first byte in the workspace
    };

    device_way way = device_way::nothing;
    element_type element;
    element_type operand;  ///< type of X and Y: `element`, or a half-precision type whose products are summed in float
    write_mode mode = write_mode::overwrite;
    index repeats = 1;                 ///< factor for labels of no tensor: each term occurs so often
    std::array<staged, 3> copies;      ///< of Z, X and Y
    bool swapped = false;              ///< A is Y and B is X
    blas_product product;              ///< the innermost loops
    loop_nest loops{3};                ///< host loops around the product, over Z, X, Y; summed loops are outermost
    index outputs = 1;                 ///< points of the host loops that are not summed
    std::size_t workspace_bytes = 0;   ///< for the copies, and for long sums in them
    std::size_t transposed_bytes = 0;  ///< bytes of X, Y and Z that the copies read or write
    double seconds = 0;                ///< estimated time on a current GPU, by which ways are compared

    /// Bytes of an element of Z, X or Y.
    [[nodiscard]] std::size_t bytes_of(std::size_t slot) const { return (slot == 0 ? element : operand).bytes; }
    /// The number of batches of products that the host starts.
    [[nodiscard]] index calls() const { return element_count(loops.extents); }
    /// The decision in words: "12 calls of 36 products of m = 1728, n = 24, k = 36; x transposed".
    EINPARALLEL_INLINE [[nodiscard]] std::string text() const;
};

/// True where the output is the memory of an operand. A matrix product cannot write there.
EINPARALLEL_INLINE bool is_in_place(const block_call& call);

/// Decides how a call is computed. `type`: type of the output; `operand`: type of both operands, where it is another
/// one.
/// @pre the call has two operands
EINPARALLEL_INLINE device_contraction decide_on_device(const block_call& call, element_type type,
                                                       const device_limits& limits = {}, element_type operand = {});

}  // namespace einparallel::EINPARALLEL_DETAIL
