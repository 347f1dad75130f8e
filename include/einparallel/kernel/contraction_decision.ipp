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

EINPARALLEL_INLINE std::uint64_t& decisions_made() {
    thread_local std::uint64_t made = 0;
    return made;
}

/// Makes elements of the type of a small operand of another one that is read several times, in the order in which they
/// lie.
EINPARALLEL_INLINE void pair_loops::convert(std::size_t slot, element_type type) {
    constexpr index most = 1 << 20;  // bytes
    odometer::loop_list loops;
    index count = 1;
    for (std::size_t loop = 0; loop < nest.size() && count <= most; ++loop) {
        if (nest.of(loop)[slot] != 0) {
            loops.push_back(loop);
            count *= nest.extents[loop];
        }
    }
    if (loops.size() == nest.size() || count * index(type.bytes) > most) {
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
    const bool converting = converts(x_slot, type) || converts(y_slot, type);
    const std::size_t sizes[] = {reduced_size(nest, x_slot), reduced_size(nest, y_slot)};
    for (const std::size_t slot : {x_slot, y_slot}) {
        if (const std::size_t size = sizes[slot - 1]; size > 0) {
            ahead.push_back({slot, size, take_one_sided(nest, slot)});
            operands[slot - 1] = type;
        }
    }
    for (const std::size_t slot : {x_slot, y_slot}) {
        if (converting && converts(slot, type)) {
            convert(slot, type);
        }
    }
    if (!ahead.empty() || converting) {
        nest.fuse();
    }
    decision = contraction_choice(nest, type, mode).decide();
    decision.sums_first = sizes[0] > 0;
    decision.sums_second = sizes[1] > 0;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE contraction_decision decide(const block_call& call, element_type type) {
    if (detail::few_loops(call).fits) {
        detail::loop_nest nest(call);
        detail::drop_resting(nest);
        contraction_decision made = detail::product_groups(nest).sizes();
        made.way = contraction_way::few_points;
        return made;
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
