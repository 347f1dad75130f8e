#pragma once

#include <einparallel/kernel/contraction_decision.hpp>

#include <einparallel/kernel/product/few_points.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/product/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

inline constexpr const char* way_texts[] = {"nothing",      "zeros",     "plain loops",    "element-wise pass",
                                            "dot products", "row loops", "small products", "packed product",
                                            "BLAS product"};  ///< names by contraction_way

/// Chooses the contraction_way. Labels that are summed first are no longer in the nest.
EINPARALLEL_INLINE class contraction_choice {
public:
    contraction_choice(const pair_loops& loops, element_type type)
        : nest_(loops.nest), axes_(loops.axes), type_(type), mode_(loops.mode) {
        if (!loops.batch.empty()) {
            const index* const moves = nest_.of(loops.batch.back());
            contiguous_batch_ = nest_.extents[loops.batch.back()] >= 8 && moves[z_slot] == 1 && moves[x_slot] == 1 &&
                                moves[y_slot] == 1;
        }
        if (loops.operands[0] == type && loops.operands[1] == type) {
            for (const std::size_t loop : loops.batch) {
                const index* const moves = nest_.of(loop);
                const bool is_longer = panel_loop_ == no_loop || nest_.extents[loop] > nest_.extents[panel_loop_];
                panel_loop_ = moves[x_slot] != 0 && moves[y_slot] != 0 && is_longer ? loop : panel_loop_;
            }
        }
    }

    /// @param made  the decision, which has only its sizes so far
    /// @param batch  loops around the products; the last one is that whose points panels hold
    void decide(contraction_decision& made, odometer::loop_list& batch) const {
        made.way = way(made);
        made.in_lanes = made.way == contraction_way::small_products && is_in_lanes(made);
        if (choose_panels(made)) {
            const auto found = std::find(batch.begin(), batch.end(), panel_loop_);
            std::rotate(found, found + 1, batch.end());
        }
        // Threads share the points of the batch, or each product where these are too few.
        const index points = made.m * made.n * made.k;
        const int all = threads_for(points * made.batch);
        if (made.way == contraction_way::packed_product) {
            std::tie(made.threads, made.threads_inside) = threads_for_batch(points, made.batch);
        } else if (made.way == contraction_way::small_products) {
            made.threads = int(std::min<index>(all, made.batch));
        } else if (made.way == contraction_way::elementwise || made.way == contraction_way::dots) {
            made.threads = all;
        }
    }

private:
    static constexpr index tiny_side = 32;
    static constexpr index tiny_points = 512;
    static constexpr index longest_small_side = 64;
    static constexpr index most_small_points = 32768;
    static constexpr index shortest_dot = 16;
    static constexpr index few_rows = 6;
    static constexpr index least_library_points = index{1} << 18;

    contraction_way way(const contraction_decision& made) const {
        const index m = made.m;
        const index n = made.n;
        const index k = made.k;
        if (k == 1 && is_elementwise()) {
            return contraction_way::elementwise;
        }
        // A product of a few rows and a large matrix reads each element of the matrix once; packing would touch it
        // three times.
        const bool is_few = std::min(m, n) == 1 || (std::min(m, n) <= few_rows && m * n * k > most_small_points);
        if (is_few && k > 1 && is_dots()) {
            return contraction_way::dots;
        }
        if (is_in_lanes(made)) {
            return contraction_way::small_products;
        }
        // A row of batch labels that lie side by side beats products too small to reuse what they load.
        const bool is_row_type = !in_vectors() || type_.kind == 'f';  // rows of integers are not computed in vectors
        const bool little_reuse = contiguous_batch_ && is_row_type && m * n * k < 4 * (m * k + k * n + m * n);
        const bool tiny = m <= tiny_side && n <= tiny_side && k <= tiny_side && m * n * k <= tiny_points;
        if (little_reuse || (!tiny && (m == 1 || n == 1 || k == 1)) || (tiny && m * n == 1)) {
            return contraction_way::rows;
        }
        const bool small = m <= longest_small_side && n <= longest_small_side && k <= longest_small_side;
        if (tiny || (small && has_small_columns() && (m * n * k <= most_small_points || stays_cached()))) {
            return contraction_way::small_products;
        }
        return is_for_library() ? contraction_way::library_product : contraction_way::packed_product;
    }

    /// True for elements whose small products are computed in vectors.
    bool in_vectors() const {
        return type_.kind == 'f' || ((type_.kind == 'u' || type_.kind == 'i') && type_.bytes >= 4);
    }

    /// True where points of the batch lie side by side, and their products are small, but have at least two
    /// multiply-adds for each element, so that packing pays.
    bool is_in_lanes(const contraction_decision& made) const {
        return contiguous_batch_ && in_vectors() && std::max({made.m, made.n, made.k}) <= longest_small_side &&
               made.m * made.n * made.k >= 2 * (made.m * made.k + made.k * made.n + made.m * made.n);
    }

    /// Where small products have no columns that vectors can read and write in place, chooses what is copied for some
    /// points of the batch at a time: what costs least, by estimates in nanoseconds for a point.
    bool choose_panels(contraction_decision& made) const {
        constexpr index fewest_points = 8;
        const index m = axes_.m.size;  // rows and columns of the matrix products
        const index n = axes_.n.size;
        const index k = axes_.k.size;
        const bool is_small = std::max({m, n, k}) <= longest_small_side && m * n * k <= most_small_points;
        const bool is_plain =
            made.way == contraction_way::small_products || made.way == contraction_way::packed_product;
        if (made.in_lanes || !is_plain || !is_small || std::min({m, n, k}) < 2 || !in_vectors() ||
            panel_loop_ == no_loop || nest_.extents[panel_loop_] < fewest_points || has_small_columns()) {
            return false;
        }
        const index* const moves = nest_.of(panel_loop_);
        const auto bytes = index(type_.bytes);
        const index lanes = vector_bytes(best_instruction_set()) / bytes;
        const double element = bytes == 4 ? 0.4 : 0.7;  // copied from one layout to another
        const auto copied = [&](index rows, index columns, index by) {
            return double(rows * columns) * (by == 1 ? 0.3 : std::min(rows, columns) < 4 ? 2 : 1) * element;
        };
        const double reads_c = mode_ == write_mode::combine ? 2 : 1;
        const double points = double(m) * double(n) * double(k);
        const double plain = made.way == contraction_way::packed_product ? 300 + 0.1 * points : points;
        const double along = copied(m, k, moves[made.swapped ? y_slot : x_slot]) +
                             copied(k, n, moves[made.swapped ? x_slot : y_slot]) +
                             reads_c * copied(m, n, moves[z_slot]) + 0.35 * points / double(lanes);
        const bool packs_b = !is_contiguous(&gemm_axis::loop::first);
        const bool packs_c = !is_contiguous(&gemm_axis::loop::second);
        const double by_columns = (packs_b ? copied(k, n, 0) : 0) + (packs_c ? reads_c * copied(m, n, 0) : 0) +
                                  0.4 * double(m * k * ((n + lanes - 1) / lanes)) + 5;
        if (columns_fill() && by_columns < std::min(along, plain)) {
            made.packs_columns = packs_b;
            made.packs_output = packs_c;
        } else if (along < plain) {
            made.in_lanes = true;
        } else {
            return false;
        }
        made.way = contraction_way::small_products;
        return true;
    }

    /// True where columns lie side by side on one side of n.
    bool is_contiguous(index gemm_axis::loop::*side) const {
        const auto& n = axes_.n.loops;
        return n.size() == 1 && n[0].*side == 1;
    }

    /// True where nothing is summed, and the operands are contiguous or constant along the output's rows.
    bool is_elementwise() const {
        if (type_.kind != 'f' || !nest_.all_in_output() || nest_.size() == 0) {
            return false;
        }
        const index* const along = nest_.of(nest_.size() - 1);
        return along[z_slot] == 1 && (along[x_slot] | along[y_slot]) >= 0 && along[x_slot] <= 1 && along[y_slot] <= 1 &&
               nest_.extents[nest_.size() - 1] * index(type_.bytes) >= 32;
    }

    /// True where one label is contracted, and both operands are contiguous along it.
    bool is_dots() const {
        const auto& k = axes_.k.loops;
        return type_.kind == 'f' && k.size() == 1 && k[0].extent >= shortest_dot && k[0].first == 1 && k[0].second == 1;
    }

    /// True where columns lie side by side in the output and in the operand that has them, and fill a vector at least;
    /// where the call combines, they fill whole vectors.
    bool has_small_columns() const {
        return in_vectors() && is_contiguous(&gemm_axis::loop::first) && is_contiguous(&gemm_axis::loop::second) &&
               columns_fill();
    }

    /// True where columns fill a vector at least, and whole vectors where the call combines.
    bool columns_fill() const {
        const auto least = index(16 / type_.bytes);
        return axes_.n.size >= least && (mode_ == write_mode::overwrite || axes_.n.size % least == 0);
    }

    /// True where the operand that every row of the output reads stays in the first-level cache: its cache lines do not
    /// fall into few sets.
    bool stays_cached() const {
        constexpr index ways = 8;
        const auto& k = axes_.k.loops;
        return k.size() == 1 && k[0].extent <= ways * lines_of_a_way(k[0].second * index(type_.bytes));
    }

    /// True where the matrices are such as BLAS knows, and large enough to be worth the call.
    bool is_for_library() const {
        const auto& [m, n, k] = axes_;
        if (m.size * n.size * k.size < least_library_points || !blas_computes(type_) || m.loops.size() != 1 ||
            n.loops.size() != 1 || k.loops.size() != 1) {
            return false;
        }
        return is_blas_matrix(m.loops[0].second, m.size, n.loops[0].second, n.size) &&
               is_blas_matrix(m.loops[0].first, m.size, k.loops[0].first, k.size) &&
               is_blas_matrix(k.loops[0].second, k.size, n.loops[0].first, n.size);
    }

    const loop_nest& nest_;
    const gemm_axes& axes_;
    element_type type_;
    write_mode mode_;
    bool contiguous_batch_ = false;
    static constexpr std::size_t no_loop = std::size_t(-1);
    std::size_t panel_loop_ = no_loop;  ///< the longest loop that all three tensors have
};

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
    contraction_choice(*this, type).decide(decision, batch);
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE contraction_decision decide(const block_call& call, element_type type) {
    if (detail::few_loops(call).fits) {
        detail::loop_nest nest(call);
        detail::drop_resting(nest);
        detail::gemm_axes axes;
        const detail::odometer::loop_list batch = detail::sort_axes(nest, detail::x_slot, detail::y_slot, axes);
        return {contraction_way::few_points, axes.m.size, axes.n.size, axes.k.size,
                detail::odometer(nest, batch).size()};
    }
    return detail::pair_loops(call, type, type, type).decision;
}

EINPARALLEL_INLINE std::string contraction_decision::text() const {
    std::string text = detail::way_texts[std::size_t(way)];
    if (way == contraction_way::nothing || way == contraction_way::identities) {
        return text;
    }
    text += " of m = " + std::to_string(m) + ", n = " + std::to_string(n) + ", k = " + std::to_string(k);
    text += batch > 1 ? ", batch " + std::to_string(batch) : "";
    text += in_lanes ? " along vectors" : "";
    text += packs_columns ? ", columns of an operand copied side by side" : "";
    text += packs_output ? ", columns of the output copied from side by side" : "";
    const bool is_matrix = way == contraction_way::small_products || way == contraction_way::packed_product ||
                           way == contraction_way::library_product;
    text += is_matrix && swapped && !in_lanes ? " with n as rows" : "";
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
