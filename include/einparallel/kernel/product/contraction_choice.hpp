#pragma once
// The choice among the ways to compute a sum of products: by rules where a way is clearly best, else by estimates.

#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/kernel/product/panel_cost.hpp>
#include <einparallel/kernel/product/panel_plan.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/tile_kernel.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/tuning.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <tuple>

namespace einparallel::EINPARALLEL_DETAIL {

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
        std::copy_n(loops.operands, 2, operands_);
        converts_ = operands_[0] != type || operands_[1] != type;
    }

    /// @param made  the decision, which has only its sizes so far
    void decide(contraction_decision& made, panel_plan& panels) const {
        made.way = way(made);
        choose_panels(made, panels);
        // Threads share the points of the batch, or each product where these are too few.
        const index points = made.m * made.n * made.k;
        const int all = threads_for(points * made.batch);
        if (made.way == contraction_way::packed_product) {
            std::tie(made.threads, made.threads_inside) = threads_for_batch(points, made.batch);
        } else if (made.way == contraction_way::small_products) {
            made.threads = int(std::min<index>(all, made.batch));
        } else if (made.way == contraction_way::elementwise || made.way == contraction_way::dots ||
                   made.way == contraction_way::panels) {
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
        if (folds_rows()) {
            return contraction_way::rows;
        }
        // A product of a few rows and a large matrix reads each element of the matrix once; packing would touch it
        // three times.
        const bool is_few = std::min(m, n) == 1 || (std::min(m, n) <= few_rows && m * n * k > most_small_points);
        if (is_few && k > 1 && is_dots(m * n * made.batch)) {
            return contraction_way::dots;
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

    /// Cuts the product into panels, where an estimate says that this takes less time.
    void choose_panels(contraction_decision& made, panel_plan& panels) const {
        constexpr double fewest_points = 4096;
        constexpr index longest_short = 64;  // of the shortest label
        const double points = double(made.m) * double(made.n) * double(made.k) * double(made.batch);
        if ((made.way == contraction_way::elementwise && !has_short_rows()) ||
            made.way == contraction_way::library_product || !(in_vectors() || type_.kind == 'c') ||
            points < fewest_points || std::min({made.m, made.n, made.k}) > longest_short) {
            return;
        }
        constexpr double shortest = 8000;  // nanoseconds: below, planning takes as long as it saves
        const bool are_products =
            made.way == contraction_way::small_products || made.way == contraction_way::packed_product;
        const bool is_alone = made.way == contraction_way::small_products && made.batch == 1;
        const double lines = are_products && !is_alone ? product_lines() : 0;
        made.nanoseconds = lines + nanoseconds(made);
        // Where each element of a matrix is read once, all ways wait for memory.
        const bool is_plain = type_.kind == 'f' && !converts_;
        const bool reads_once =
            std::min(made.m, made.n) == 1 &&
            ((is_plain && made.way == contraction_way::dots) ||
             (has_long_rows() && (is_plain || type_.kind == 'c' || std::max(made.m, made.n) == 1)) ||
             (made.way == contraction_way::rows && folds_rows()));
        // Small products need no plan, unless they would wait for parts of cache lines.
        const bool is_small = made.way == contraction_way::small_products && has_small_columns() && !converts_ &&
                              lines < made.nanoseconds / 2;
        if (made.nanoseconds < shortest || reads_once || is_small) {
            return;
        }
        panel_plan found = cheapest_panels(nest_, type_, operands_);
        // Threads share the panels of the output. Other ways share a long sum, too.
        constexpr double shared_points = 1 << 22;
        if (found.lanes == lane_role::terms && points >= shared_points && panels_of(found, nest_, found.outputs) < 8 &&
            has_threads()) {
            return;
        }
        made.panel_nanoseconds = found.nanoseconds;
        // Packed products of sides that are not short are seldom much slower than any other way.
        const bool is_packed = made.way == contraction_way::packed_product && std::min({made.m, made.n, made.k}) >= 16;
        if (found.lanes != lane_role::none && found.nanoseconds < (is_packed ? 0.7 : 0.9) * made.nanoseconds) {
            made.way = contraction_way::panels;
            made.lanes = found.lanes;
            made.swapped = found.swapped;
            std::copy_n(found.packs, 3, made.packs);
            panels = found;
        }
    }

    /// An estimate of the ways that are not panels, on one thread, without product_lines() and what every way reads and
    /// writes once.
    double nanoseconds(const contraction_decision& made) const {
        const index m = axes_.m.size;  // rows and columns of the matrix products
        const index n = axes_.n.size;
        const index k = axes_.k.size;
        const auto count = double(made.batch);
        const double points = double(m) * double(n) * double(k);
        const index lanes = vector_bytes(best_instruction_set()) / index(type_.bytes);
        const double vectors = double((n + lanes - 1) / lanes);
        const tile_nanoseconds one(type_);
        switch (made.way) {
            case contraction_way::packed_product: {
                const double tiles = double(rounded_up(m, 6) / 6) * double(rounded_up(n, 2 * lanes) / (2 * lanes));
                const double multiply_adds = (type_.kind == 'c' ? 48 : 12) * tiles * double(k);
                const index written = is_contiguous(&gemm_axis::loop::second) ? n % (2 * lanes) : n;  // by elements
                const bool is_far = count * double(m * k + k * n + m * n) * double(type_.bytes) > last_cache_bytes;
                const double packed = 0.3 + (is_far ? 0.05 * double(type_.bytes) : 0);
                return count * (540 + 14 * tiles + one.multiply_add * multiply_adds + packed * double(m * k + k * n) +
                                0.5 * double(m * written));
            }
            case contraction_way::small_products:
                return count * (has_small_columns() && !converts_
                                    ? double((m + 5) / 6) * double((n + 2 * lanes - 1) / (2 * lanes)) *
                                              (one.tile + one.step * double(k)) +
                                          one.multiply_add * double(m * k) * vectors + 4
                                    : (type_.kind == 'c' ? 3 : 1.3) * points + 2 * double(m * n));
            case contraction_way::elementwise:
                return converts_ ? count * points
                                 : count * points * (0.06 + 12 / double(nest_.extents[nest_.size() - 1]));
            case contraction_way::dots:
                return count * (0.9 * points / double(lanes) + 28 * double(m * n));
            default:
                return (type_.kind == 'c' ? 3
                        : has_long_rows() ? (type_.kind == 'f' ? 0.25 : 1.2)
                                          : 1) *
                       count * points;
        }
    }

    /// What products of whole matrices, one after the other, wait for cache lines.
    double product_lines() const {
        panel_plan products;
        products.block.resize(nest_.size(), 1);
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            if (index_of(nest_, loop) == product_index::batch) {
                products.outputs.push_back(loop);
            } else {
                products.block[loop] = nest_.extents[loop];
            }
        }
        return line_nanoseconds(nest_, products, type_, operands_);
    }

    /// True where an operand is a matrix whose short rows are multiplied and then summed in the lanes of vectors. Long
    /// rows of floating-point numbers are dot products.
    bool folds_rows() const {
        const index length = axes_.k.size;
        const index longest = type_.kind != 'f' ? row_worker::least_width / 4
                              : converts_       ? 96
                                                : 160 / index(type_.bytes);
        if (std::min(axes_.m.size, axes_.n.size) != 1 || !(in_vectors() || type_.kind == 'c') || length >= longest ||
            (std::max(axes_.m.size, axes_.n.size) > 1 && length * index(type_.bytes) < 16)) {
            return false;
        }
        const row_order order = order_rows(nest_, {row_worker::least_width / 4});
        return order.folds && std::all_of(nest_.of(order.inner) + 1, nest_.of(order.inner) + nest_.slots,
                                          [](index move) { return move == 1; });
    }

    /// True where all tensors are contiguous or constant along a long loop.
    bool has_long_rows() const {
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            const index* const moves = nest_.of(loop);
            if (nest_.extents[loop] >= 64 &&
                std::all_of(moves, moves + nest_.slots, [](index move) { return move == 0 || move == 1; })) {
                return true;
            }
        }
        return false;
    }

    /// True where an element-wise pass would take longer for its rows than for their elements, or convert them.
    bool has_short_rows() const {
        constexpr index shortest = 256;  // bytes
        return converts_ || nest_.extents[nest_.size() - 1] * index(type_.bytes) < shortest;
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

    /// True where both operands are contiguous along a contracted label, and the sums along it are many or long, where
    /// there are other contracted labels.
    /// @param sums  elements of the output
    bool is_dots(index sums) const {
        constexpr index fewest_terms = 4096;  // of all sums along the label
        const std::size_t along = type_.kind == 'f' ? dot_loop(nest_) : nest_.size();
        return along < nest_.size() && nest_.extents[along] >= shortest_dot &&
               (axes_.k.loops.size() == 1 || sums * nest_.extents[along] >= fewest_terms);
    }

    /// True where columns lie side by side in the output and in the operand that has them, and fill a vector at least;
    /// where the call combines, they fill whole vectors.
    bool has_small_columns() const {
        return in_vectors() && is_contiguous(&gemm_axis::loop::first) && is_contiguous(&gemm_axis::loop::second) &&
               columns_fill();
    }

    /// True where columns fill a vector at least, and whole vectors where the call combines, or where there are masks.
    bool columns_fill() const {
        const auto least = index(16 / type_.bytes);
        return has_masks(best_instruction_set()) ||
               (axes_.n.size >= least && (mode_ == write_mode::overwrite || axes_.n.size % least == 0));
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
    element_type operands_[2];
    bool converts_ = false;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
