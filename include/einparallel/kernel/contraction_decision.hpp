#pragma once
// How two blocks are contracted, as a value: what became m, n, k and the batch of a matrix product, and the way to run
// it.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace einparallel {

/// The ways to run Σ of a product of two blocks.
enum class contraction_way : std::uint8_t {
    nothing,          ///< an output extent is 0
    identities,       ///< a summed extent is 0: zeros, unless they would be added
    few_points,       ///< plain loops, since looking for a better way would take longer
    elementwise,      ///< nothing is summed: one pass in the order of the output
    dots,             ///< a dot product of neighbours per element of the output
    rows,             ///< row by row of the output: a vector, an outer product, a batch of contiguous labels
    small_products,   ///< products too small to be packed one by one, at every point of the batch
    packed_product,   ///< the library's blocked product, packed from the strided operands, at every point of the batch
    library_product,  ///< a BLAS, which needs no packing of ours here, at every point of the batch
};

/// What a contraction of two blocks comes down to once labels of extent 1 are dropped, labels of a single operand
/// summed and neighbours fused. Compares and prints.
struct contraction_decision {
    contraction_way way = contraction_way::nothing;
    index m = 1;      ///< product of the extents of the labels of output and first operand only
    index n = 1;      ///< … of output and second operand only
    index k = 1;      ///< … of both operands only
    index batch = 1;  ///< … of all three
    /// The rows of the matrix product are n and its columns m, since the output is contiguous along m.
    bool swapped = false;
    bool in_lanes = false;     ///< vectors hold points of the batch, not columns
    bool sums_first = false;   ///< the first operand has labels of its own, which are summed ahead
    bool sums_second = false;  ///< the second operand has
    int threads = 1;           ///< that share the batch, or the elements of a pass
    int threads_inside = 1;    ///< that share each matrix product

    /// "packed product of m = 384, n = 376, k = 147456 with n as rows; 1 thread".
    EINPARALLEL_INLINE [[nodiscard]] std::string text() const;

    template <class Traits>
    friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream,
                                                        const contraction_decision& shown) {
        return stream << shown.text();
    }

    friend bool operator==(const contraction_decision&, const contraction_decision&) = default;
};

namespace EINPARALLEL_DETAIL {

/// How often this thread has decided how calls are computed.
EINPARALLEL_INLINE std::uint64_t& decisions_made();

/// What a decision depends on beside its call, as it is now in this process.
struct host_limits {
    instruction_set set = best_instruction_set();
    gemm_choice by = chosen_gemm().load(std::memory_order_relaxed);
    std::int64_t threads = thread_settings();

    friend bool operator==(const host_limits&, const host_limits&) = default;
};

/// An operand that is laid out densely before the product: summed over the labels that only it has, or converted.
struct laid_out_operand {
    std::size_t slot = 0;
    std::size_t elements = 0;  ///< of the dense memory
    loop_nest loops{2};        ///< slot 0: the dense memory; 1: the operand
};

/// How Σ of products of two blocks is computed, wherever they are: what is done first, and the way and the loops of
/// the rest.
struct pair_loops {
    /// @param type  that of the output and of the products
    /// @param x, y  of the operands, whose elements are elements of the type
    EINPARALLEL_INLINE pair_loops(const block_call& call, element_type type, element_type x, element_type y);

    loop_nest nest;                         ///< sorted by the output
    gemm_axes axes;                         ///< of matrix products; braces would fill the inline memory with zeros
    odometer::loop_list batch;              ///< around them
    index repeats = 1;                      ///< equal terms of each that the loops visit, a factor
    element_type operands[2];               ///< as the product reads them
    std::vector<laid_out_operand> ahead{};  ///< in their order
    contraction_decision decision{};
    write_mode mode;

    /// One of the operands is converted row by row as it is read: halves in a product of floats are not.
    /// The operands as A and B of the matrix product.
    [[nodiscard]] std::size_t a_slot() const { return decision.swapped ? y_slot : x_slot; }
    [[nodiscard]] std::size_t b_slot() const { return decision.swapped ? x_slot : y_slot; }

    [[nodiscard]] bool converts(std::size_t slot, element_type type) const {
        const element_type of = operands[slot - 1];
        return of != type && !(type == element_type_of<float>() && is_multiplied_half(of));
    }

private:
    EINPARALLEL_INLINE void convert(std::size_t slot, element_type type);
};

}  // namespace EINPARALLEL_DETAIL

/// How scale · Σ x · y of elements of this type would be run. The addresses of the call are not looked at.
/// @pre the call has two operands
EINPARALLEL_INLINE contraction_decision decide(const block_call& call, element_type type);

}  // namespace einparallel
