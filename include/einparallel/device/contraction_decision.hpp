#pragma once
// How a block is contracted on a device, as a value: matrix products for a BLAS, with transpositions where labels need
// them.

#include <einparallel/device/blas_product.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

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

/// @pre the call has two operands
EINPARALLEL_INLINE device_contraction decide_on_device(const block_call& call, element_type type,
                                                       const device_rates& rates = {});

}  // namespace einparallel::EINPARALLEL_DETAIL
