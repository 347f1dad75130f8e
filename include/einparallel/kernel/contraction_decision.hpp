#pragma once
// How two blocks are contracted, as a value: m, n, k and the batch of a matrix product, and the way to run it.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/gemm_axis.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/kernel/product/panel_plan.hpp>
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

/// The ways to compute a sum of products of two blocks.
enum class contraction_way : std::uint8_t {
    nothing,          ///< an output extent is 0
    identities,       ///< a summed extent is 0: the output becomes zero, unless the call combines
    few_points,       ///< plain loops, since looking for a better way would take longer
    elementwise,      ///< nothing is summed: one pass in the order of the output
    dots,             ///< for each element of the output a dot product of contiguous elements
    rows,             ///< the output row by row: product with a vector, outer product, batch along contiguous labels
    small_products,   ///< for each point of the batch a matrix product that is too small to pack by itself
    panels,           ///< panels of a product with short labels, copied where vectors cannot read them in place
    packed_product,   ///< for each point of the batch the library's blocked product, which packs the strided operands
    library_product,  ///< for each point of the batch a product by the BLAS, which needs no packing by us
};

/// How a contraction of two blocks is computed, after labels of extent 1 are dropped, labels of a single operand are
/// summed, and neighbouring labels are fused. It can be compared and printed.
struct contraction_decision {
    contraction_way way = contraction_way::nothing;
    index m = 1;      ///< product of the extents of the labels that only the output and the first operand have
    index n = 1;      ///< … that only the output and the second operand have
    index k = 1;      ///< … that only the two operands have
    index batch = 1;  ///< … that all three tensors have
    /// True where n are the rows of the matrix product and m its columns, because the output is contiguous along m.
    bool swapped = false;
    lane_role lanes = lane_role::none;  ///< what the lanes of vectors hold, where the product is cut into panels
    bool packs[3] = {};                 ///< whether panels of the output and of the operands are copied
    double nanoseconds = 0;             ///< an estimate for one thread, where the product may be cut into panels
    double panel_nanoseconds = 0;       ///< … for the best panels
    bool sums_first = false;            ///< labels that only the first operand has are summed first
    bool sums_second = false;           ///< labels that only the second operand has are summed first
    int threads = 1;                    ///< threads that share the batch, or the elements of the output
    int threads_inside = 1;             ///< threads that share each matrix product

    /// The decision in words, like "packed product of m = 384, n = 376, k = 147456 with n as rows; 1 thread".
    EINPARALLEL_INLINE [[nodiscard]] std::string text() const;

    template <class Traits>
    friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream,
                                                        const contraction_decision& shown) {
        return stream << shown.text();
    }

    friend bool operator==(const contraction_decision&, const contraction_decision&) = default;
};

namespace EINPARALLEL_DETAIL {

/// The element type as which a product that is summed in `own` reads an operand. Integers of one size are read as
/// elements of `own`, modulo 2ⁿ.
constexpr element_type factor_type(element_type own, element_type element) {
    const auto is_whole = [](element_type type) { return type.kind == 'i' || type.kind == 'u'; };
    return is_whole(element) && is_whole(own) && element.bytes == own.bytes ? own : element;
}

/// The number of times that this thread has decided how a call is computed.
EINPARALLEL_INLINE std::uint64_t& decisions_made();

/// The settings on which a decision depends besides its call, as they are now in this process.
struct host_limits {
    instruction_set set = best_instruction_set();
    gemm_choice by = chosen_gemm().load(std::memory_order_relaxed);
    std::int64_t threads = thread_settings();

    friend bool operator==(const host_limits&, const host_limits&) = default;
};

/// An operand that is written to dense memory before the product: summed over the labels that only it has, or
/// converted.
struct laid_out_operand {
    std::size_t slot = 0;
    std::size_t elements = 0;  ///< elements of the dense memory
    loop_nest loops{2};        ///< slot 0: the dense memory; 1: the operand
};

/// How a sum of products of two blocks is computed, at any addresses: the operands that are laid out first, then the
/// way and the loops of the product.
struct pair_loops {
    /// @param type  element type of the output and of the products
    /// @param x, y  element types of the operands; all their elements are elements of `type`
    EINPARALLEL_INLINE pair_loops(const block_call& call, element_type type, element_type x, element_type y);

    loop_nest nest;             ///< sorted by the output's strides
    gemm_axes axes;             ///< indices of the matrix products; braces would fill the inline memory with zeros
    odometer::loop_list batch;  ///< loops around the matrix products
    index repeats = 1;          ///< equal terms that each point stands for: a factor
    element_type operands[2];   ///< element types in which the product reads the operands
    std::vector<laid_out_operand> ahead{};  ///< operands that are laid out first, in their order
    contraction_decision decision{};
    write_mode mode;
    panel_plan panels;  ///< where the decision is panels

    /// The slots of the operands that are A and B of the matrix product.
    [[nodiscard]] std::size_t a_slot() const { return decision.swapped ? y_slot : x_slot; }
    [[nodiscard]] std::size_t b_slot() const { return decision.swapped ? x_slot : y_slot; }

    /// True where the operand of this slot is converted to `type` as the product reads it, row by row. Halves in a
    /// product of floats are not converted.
    [[nodiscard]] bool converts(std::size_t slot, element_type type) const {
        const element_type of = operands[slot - 1];
        return of != type && !(type == element_type_of<float>() && is_multiplied_half(of));
    }

private:
    EINPARALLEL_INLINE void convert(std::size_t slot, element_type type);
};

}  // namespace EINPARALLEL_DETAIL

/// How scale · Σ x · y would be computed, which is summed in `type`. The decision does not depend on the addresses in
/// the call.
/// @pre the call has two operands
EINPARALLEL_INLINE contraction_decision decide(const block_call& call, element_type type);

}  // namespace einparallel
