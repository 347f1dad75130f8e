#pragma once

#include <einparallel/kernel/contraction_decision.hpp>

#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/kernel/product/few_points.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/product/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace einparallel::EINPARALLEL_DETAIL {

inline constexpr const char* way_texts[] = {"nothing",      "zeros",     "plain loops",    "element-wise pass",
                                            "dot products", "row loops", "small products", "packed product",
                                            "BLAS product"};  ///< by contraction_way

/// The loops of a nest of two operands that stand for m, n, k, and those that are a batch.
class product_groups {
public:
    struct group {
        index size = 1;
        std::size_t loops = 0;
        std::size_t last = 0;  ///< the only loop, where there is one
        index closest = 0;     ///< smallest distance of neighbours in the output, 0 where there is none
    };

    EINPARALLEL_INLINE explicit product_groups(const loop_nest& nest) {
        for (std::size_t loop = 0; loop < nest.size(); ++loop) {
            const index* const moves = nest.of(loop);
            const index extent = nest.extents[loop];
            group* const groups[] = {&m, &n, &k, &batch};  // by product_index
            group& own = *groups[std::size_t(index_of(nest, loop))];
            own.size *= extent;
            own.last = loop;
            ++own.loops;
            const index distance = moves[z_slot] < 0 ? -moves[z_slot] : moves[z_slot];
            own.closest = own.closest == 0 || distance < own.closest ? distance : own.closest;
            if (&own == &batch) {
                contiguous_batch =
                    contiguous_batch || (extent >= 8 && moves[z_slot] == 1 && moves[x_slot] == 1 && moves[y_slot] == 1);
            }
        }
    }

    contraction_decision sizes() const { return {contraction_way::nothing, m.size, n.size, k.size, batch.size}; }

    group m;
    group n;
    group k;
    group batch;
    bool contiguous_batch = false;
};

/// Chooses among the ways. What has been summed ahead is no longer in the nest.
EINPARALLEL_INLINE class contraction_choice {
public:
    contraction_choice(loop_nest& nest, element_type type, write_mode mode)
        : nest_(nest), type_(type), mode_(mode), groups_(nest) {}

    contraction_decision decide() {
        contraction_decision made = groups_.sizes();
        made.swapped = groups_.m.closest != 0 && (groups_.n.closest == 0 || groups_.m.closest < groups_.n.closest);
        made.way = way(made);
        made.in_lanes = made.way == contraction_way::small_products && is_in_lanes(made);
        share(made);
        return made;
    }

private:
    static constexpr index tiny_side = 32;
    static constexpr index tiny_points = 512;
    static constexpr index longest_small_side = 64;
    static constexpr index most_small_points = 32768;
    static constexpr index shortest_dot = 16;
    static constexpr index few_rows = 6;
    static constexpr index least_library_points = index{1} << 18;

    /// Shares the work out: the points of the batch, or what is inside of each where they are too few.
    static void share(contraction_decision& made) {
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

    contraction_way way(const contraction_decision& made) {
        const index m = made.m;
        const index n = made.n;
        const index k = made.k;
        if (k == 1 && is_elementwise()) {
            return contraction_way::elementwise;
        }
        // A few rows past a large matrix read each of its elements once, where packing would touch it three times.
        const bool is_few = std::min(m, n) == 1 || (std::min(m, n) <= few_rows && m * n * k > most_small_points);
        if (is_few && k > 1 && is_dots()) {
            return contraction_way::dots;
        }
        if (is_in_lanes(made)) {
            return contraction_way::small_products;
        }
        // A row of batch labels that lie side by side beats products too small to reuse what they load.
        const bool little_reuse = groups_.contiguous_batch && m * n * k < 4 * (m * k + k * n + m * n);
        const bool tiny = m <= tiny_side && n <= tiny_side && k <= tiny_side && m * n * k <= tiny_points;
        if (little_reuse || (!tiny && (m == 1 || n == 1 || k == 1)) || (tiny && m * n == 1)) {
            return contraction_way::rows;
        }
        const bool small = m <= longest_small_side && n <= longest_small_side && k <= longest_small_side;
        if (tiny || (small && has_small_columns(made) && (m * n * k <= most_small_points || stays_cached(made)))) {
            return contraction_way::small_products;
        }
        return is_for_library(made) ? contraction_way::library_product : contraction_way::packed_product;
    }

    /// Points of the batch lie side by side, and their products are small but have two multiply-adds or more for each
    /// element: then packing pays.
    bool is_in_lanes(const contraction_decision& made) const {
        return groups_.contiguous_batch && type_.kind == 'f' &&
               std::max({made.m, made.n, made.k}) <= longest_small_side &&
               made.m * made.n * made.k >= 2 * (made.m * made.k + made.k * made.n + made.m * made.n);
    }

    /// Nothing is summed, and the operands are contiguous or constant along the output's rows.
    bool is_elementwise() {
        if (type_.kind != 'f' || !nest_.all_in_output() || nest_.size() == 0) {
            return false;
        }
        nest_.sort_by(z_slot);
        const index* const along = nest_.of(nest_.size() - 1);
        return along[z_slot] == 1 && (along[x_slot] | along[y_slot]) >= 0 && along[x_slot] <= 1 && along[y_slot] <= 1 &&
               nest_.extents[nest_.size() - 1] * index(type_.bytes) >= 32;
    }

    /// One label is contracted and contiguous in both operands.
    bool is_dots() const {
        if (type_.kind != 'f' || groups_.k.loops != 1 || nest_.extents[groups_.k.last] < shortest_dot) {
            return false;
        }
        const index* const along = nest_.of(groups_.k.last);
        return along[x_slot] == 1 && along[y_slot] == 1;
    }

    /// Whole vectors of columns lie side by side in the output and in the operand that has them.
    bool has_small_columns(const contraction_decision& made) const {
        const product_groups::group& columns = made.swapped ? groups_.m : groups_.n;
        if (type_.kind != 'f' || columns.loops != 1) {
            return false;
        }
        const index* const along = nest_.of(columns.last);
        const auto least = index(16 / type_.bytes);
        return along[z_slot] == 1 && along[made.swapped ? x_slot : y_slot] == 1 && columns.size >= least &&
               (mode_ == write_mode::overwrite || columns.size % least == 0);
    }

    /// The operand that every row of the output reads does not fall into few sets of the first-level cache.
    bool stays_cached(const contraction_decision& made) const {
        constexpr index ways = 8;
        const index step = nest_.of(groups_.k.last)[made.swapped ? x_slot : y_slot] * index(type_.bytes);
        return groups_.k.loops == 1 && made.k <= ways * lines_of_a_way(step);
    }

    /// Matrices as BLAS knows them, large enough to be worth the call.
    bool is_for_library(const contraction_decision& made) const {
        if (made.m * made.n * made.k < least_library_points || !blas_computes(type_) || groups_.m.loops != 1 ||
            groups_.n.loops != 1 || groups_.k.loops != 1) {
            return false;
        }
        const index* const m = nest_.of(groups_.m.last);
        const index* const n = nest_.of(groups_.n.last);
        const index* const k = nest_.of(groups_.k.last);
        return is_blas_matrix(m[z_slot], made.m, n[z_slot], made.n) &&
               is_blas_matrix(m[x_slot], made.m, k[x_slot], made.k) &&
               is_blas_matrix(k[y_slot], made.k, n[y_slot], made.n);
    }

    loop_nest& nest_;
    element_type type_;
    write_mode mode_;
    product_groups groups_;
};

EINPARALLEL_INLINE contraction_decision decide(loop_nest& nest, element_type type, write_mode mode) {
    return contraction_choice(nest, type, mode).decide();
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE contraction_decision decide(const block_call& call, element_type type) {
    detail::loop_nest nest(call);
    if (nest.output_empty || nest.sum_empty) {
        return {nest.output_empty ? contraction_way::nothing : contraction_way::identities};
    }
    detail::drop_resting(nest);
    if (detail::few_loops(call).fits) {
        contraction_decision made = detail::product_groups(nest).sizes();
        made.way = contraction_way::few_points;
        return made;
    }
    bool sums[2] = {false, false};
    for (const std::size_t slot : {detail::x_slot, detail::y_slot}) {
        sums[slot - 1] = detail::reduced_size(nest, slot) > 0;
        if (sums[slot - 1]) {
            static_cast<void>(detail::take_one_sided(nest, slot));
        }
    }
    if (sums[0] || sums[1]) {
        nest.fuse();
    }
    contraction_decision made = detail::decide(nest, type, call.mode);
    made.sums_first = sums[0];
    made.sums_second = sums[1];
    return made;
}

EINPARALLEL_INLINE std::string contraction_decision::text() const {
    std::string text = detail::way_texts[std::size_t(way)];
    if (way == contraction_way::nothing || way == contraction_way::identities) {
        return text;
    }
    text += " of m = " + std::to_string(m) + ", n = " + std::to_string(n) + ", k = " + std::to_string(k);
    text += batch > 1 ? ", batch " + std::to_string(batch) : "";
    text += in_lanes ? " along vectors" : "";
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
