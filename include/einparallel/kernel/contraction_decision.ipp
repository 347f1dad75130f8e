#pragma once

#include <einparallel/kernel/contraction_decision.hpp>

#include <einparallel/kernel/product/contraction_choice.hpp>
#include <einparallel/kernel/product/few_points.hpp>
#include <einparallel/kernel/product/product_loops.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

inline constexpr const char* way_texts[] = {"nothing",        "zeros",       "plain loops",    "element-wise pass",
                                            "dot products",   "row loops",   "small products", "panels",
                                            "packed product", "BLAS product"};  ///< names by contraction_way

EINPARALLEL_INLINE std::uint64_t& decisions_made() {
    thread_local std::uint64_t made = 0;
    return made;
}

/// Where the operand of this slot is small and read several times, converts all of it to `type` before the product. Its
/// elements keep their order in memory.
EINPARALLEL_INLINE void pair_loops::convert(std::size_t slot, element_type type) {
    constexpr index most = 1 << 20;  // bytes
    odometer::loop_list loops = loops_that(nest, [&](std::size_t loop) { return nest.of(loop)[slot] != 0; });
    index count = odometer(nest, loops).size();
    if (loops.size() == nest.size() || count > most / index(type.bytes)) {
        return;
    }
    std::sort(loops.begin(), loops.end(), [&](std::size_t one, std::size_t other) {
        return std::abs(nest.of(one)[slot]) > std::abs(nest.of(other)[slot]);
    });
    laid_out_operand& made = ahead.emplace_back(laid_out_operand{slot, std::size_t(count)});
    for (const std::size_t loop : loops) {
        count /= nest.extents[loop];
        index* const moves = made.loops.add(nest.extents[loop]);
        moves[0] = count;
        moves[1] = std::exchange(nest.of(loop)[slot], count);
    }
    made.loops.fuse();
    operands[slot - 1] = type;
}

EINPARALLEL_INLINE pair_loops::pair_loops(const block_call& call, element_type type, element_type x, element_type y)
    : nest(call), operands{x, y}, mode(call.mode) {
    if (nest.output_empty || nest.sum_empty) {
        decision.way = nest.output_empty ? contraction_way::nothing : contraction_way::identities;
        return;
    }
    ++decisions_made();
    repeats = drop_resting(nest);
    const std::size_t sizes[] = {reduced_size(nest, x_slot), reduced_size(nest, y_slot)};
    for (const std::size_t slot : {x_slot, y_slot}) {
        if (const std::size_t size = sizes[slot - 1]; size > 0) {
            ahead.push_back({slot, size, take_one_sided(nest, slot)});
            operands[slot - 1] = type;
        }
    }
    for (const std::size_t slot : {x_slot, y_slot}) {
        if (converts(slot, type)) {
            convert(slot, type);
        }
    }
    if (!ahead.empty()) {
        nest.fuse();
    }
    nest.sort_by(z_slot);
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {  // columns are the last label that only one operand has
        const product_index own = index_of(nest, loop);
        decision.swapped = own == product_index::m || (decision.swapped && own != product_index::n);
    }
    batch = sort_axes(nest, a_slot(), b_slot(), axes);
    decision.m = (decision.swapped ? axes.n : axes.m).size;
    decision.n = (decision.swapped ? axes.m : axes.n).size;
    decision.k = axes.k.size;
    decision.batch = odometer(nest, batch).size();
    decision.sums_first = sizes[0] > 0;
    decision.sums_second = sizes[1] > 0;
    contraction_choice(*this, type).decide(decision, panels);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE contraction_decision decide(const block_call& call, element_type type) {
    const element_type x = detail::factor_type(type, call.operands[0].element);
    const element_type y = detail::factor_type(type, call.operands[1].element);
    if (x == type && y == type && detail::few_loops(call).fits) {
        detail::loop_nest nest(call);
        detail::drop_resting(nest);
        detail::gemm_axes axes;
        const detail::odometer::loop_list batch = detail::sort_axes(nest, detail::x_slot, detail::y_slot, axes);
        return {contraction_way::few_points, axes.m.size, axes.n.size, axes.k.size,
                detail::odometer(nest, batch).size()};
    }
    return detail::pair_loops(call, type, x, y).decision;
}

EINPARALLEL_INLINE std::string contraction_decision::text() const {
    std::string text = detail::way_texts[std::size_t(way)];
    if (way == contraction_way::nothing || way == contraction_way::identities) {
        return text;
    }
    text += " of m = " + std::to_string(m) + ", n = " + std::to_string(n) + ", k = " + std::to_string(k);
    text += batch > 1 ? ", batch " + std::to_string(batch) : "";
    if (way == contraction_way::panels) {
        text += lanes == lane_role::columns  ? ", vectors of columns"
                : lanes == lane_role::points ? ", vectors of points"
                                             : ", vectors of terms";
        const char* const names[] = {" output", " operand 1", " operand 2"};
        for (std::size_t slot = 0, copied = 0; slot < 3; ++slot) {
            text += packs[slot] ? (copied++ == 0 ? ", copied:" : " and") + std::string(names[slot]) : "";
        }
        text += "; about " + std::to_string(index(panel_nanoseconds / 1000) + 1) + " us, instead of " +
                std::to_string(index(nanoseconds / 1000) + 1);
    }
    const bool is_matrix = way == contraction_way::small_products || way == contraction_way::packed_product ||
                           way == contraction_way::library_product;
    text += is_matrix && swapped ? " with n as rows" : "";
    if (sums_first || sums_second) {
        text += sums_first && sums_second ? "; both operands are" : sums_first ? "; operand 1 is" : "; operand 2 is";
        text += " summed first over what only it has";
    }
    if (way == contraction_way::library_product) {
        return text + "; threads as the library has them";
    }
    const int most = std::max(threads, threads_inside);
    return text + "; " + std::to_string(most) + (most == 1 ? " thread" : " threads");
}

}  // namespace einparallel
