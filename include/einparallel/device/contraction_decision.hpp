#pragma once
// How a block is contracted on a device, as a value: matrix products for a BLAS, with transpositions where labels need
// them.

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

/// By what ways to contract are compared: of a current GPU (H200).
struct device_limits {
    double bytes = 4.0e12;          ///< copied or streamed, read and written, each second
    double multiply_adds = 2.5e13;  ///< of real numbers in large products, each second
    double of_halves = 4e14;        ///< the same where operands are halves
    double joined_points = 1.0e12;  ///< of a join that multiplies and adds, each second
    double launch = 4e-6;           ///< seconds
    double processors = 132;        ///< multiprocessors, each at work on one tile of a product
};

/// A matrix of a product as a BLAS takes it: the columns of it, or of its transpose, are contiguous.
struct blas_matrix {
    bool transpose = false;
    index leading = 1;  ///< distance of columns
    index step = 0;     ///< distance of a batch's matrices, not negative; 0 where all have one
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

/// The ways to run Σ of a product of two blocks on a device.
enum class device_way : std::uint8_t {
    nothing,  ///< an output extent is 0
    join,     ///< one pass of a join: nothing to reuse, integers, a summed extent of 0
    products  ///< matrix products
};

/// How Z (+)= scale · Σ X · Y of two blocks runs on a device: a pure function of shapes, strides, type and mode,
/// whatever the addresses.
struct device_contraction {
    /// A tensor that lies in dense workspace for the products.
    struct staged {
        loop_nest loops{2};  ///< slot 0: the workspace, unmoved where elements are summed on the way; 1: the tensor
        index elements = 0;  ///< in the workspace; 0: the tensor is used where it lies
        bool sums = false;   ///< some are summed
        std::size_t at = 0;  ///< first byte in the workspace
    };

    device_way way = device_way::nothing;
    element_type element;
    element_type operand;  ///< of X and Y: that, or halves of which floats are made
    write_mode mode = write_mode::overwrite;
    index repeats = 1;                 ///< a factor: how many equal terms there are of each
    std::array<staged, 3> copies;      ///< of Z, X and Y
    bool swapped = false;              ///< A is Y and B is X
    blas_product product;              ///< the innermost loops
    loop_nest loops{3};                ///< the host's around it, of Z, X and Y; those that sum come first
    index outputs = 1;                 ///< points of the other ones
    std::size_t workspace_bytes = 0;   ///< of copies, and of long sums into them
    std::size_t transposed_bytes = 0;  ///< read for copies of X and Y, or written from one of Z
    double seconds = 0;                ///< estimated for a current GPU: what ways are compared by

    /// Bytes of an element of Z, X or Y.
    [[nodiscard]] std::size_t bytes_of(std::size_t slot) const { return (slot == 0 ? element : operand).bytes; }
    /// How many batches of products the host starts.
    [[nodiscard]] index calls() const { return element_count(loops.extents); }
    /// "12 calls of 36 products of m = 1728, n = 24, k = 36; x transposed".
    EINPARALLEL_INLINE [[nodiscard]] std::string text() const;
};

/// The output is an operand's memory, over which no matrix product writes.
EINPARALLEL_INLINE bool is_in_place(const block_call& call);

/// @param operand  the type of both operands, where it is not that of the output
/// @pre the call has two operands
EINPARALLEL_INLINE device_contraction decide_on_device(const block_call& call, element_type type,
                                                       const device_limits& limits = {}, element_type operand = {});

}  // namespace einparallel::EINPARALLEL_DETAIL
