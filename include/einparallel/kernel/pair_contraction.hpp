#pragma once
// Σ of products of two operands: from a loop nest to matrix products on fused labels.

#include <einparallel/kernel/arithmetic.hpp>
#include <einparallel/kernel/copy.hpp>
#include <einparallel/kernel/few_points.hpp>
#include <einparallel/kernel/gemm.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product_rows.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/small_product.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace einparallel::detail {

/// Contracts two operands: sorts the loops of the nest into batch, m, n and k, and picks the way to run them.
template <Element T>
class pair_contraction {
    using semiring = sum_of_products<T>;

public:
    pair_contraction(loop_nest& nest, const T* x, const T* y, T* z, T scale, write_mode mode)
        : nest_(nest), x_(x), y_(y), z_(z), scale_(scale), mode_(mode) {}

    void run() {
        if (product_of_few_points(nest_, x_, y_, z_, scale_, mode_)) {
            return;
        }
        const std::size_t scratch_size = reduced_size(1) + reduced_size(2);
        if (scratch_size == 0) {
            multiply();
            return;
        }
        const scratch_lease<scratch_purpose::reduction> lease(scratch_size * sizeof(T));
        T* const scratch = reinterpret_cast<T*>(lease.data());
        const std::size_t x_size = reduced_size(1);
        if (x_size > 0) {
            reduce(1, x_, scratch);
            x_ = scratch;
        }
        if (reduced_size(2) > 0) {
            reduce(2, y_, scratch + x_size);
            y_ = scratch + x_size;
        }
        for (std::size_t loop = nest_.size(); loop-- > 0;) {
            if (is_one_sided(loop, 1) || is_one_sided(loop, 2)) {
                nest_.remove(loop);
            }
        }
        nest_.fuse();
        multiply();
    }

private:
    static constexpr std::size_t z_slot = 0;
    static constexpr std::size_t x_slot = 1;
    static constexpr std::size_t y_slot = 2;
    static constexpr index tiny_side = 32;
    static constexpr index tiny_points = 512;

    /// A contracted label that only the operand of this slot has.
    [[nodiscard]] bool is_one_sided(std::size_t loop, std::size_t slot) const {
        const index* moves = nest_.of(loop);
        return moves[z_slot] == 0 && moves[slot] != 0 && moves[x_slot + y_slot - slot] == 0;
    }

    /// Elements of the operand once its one-sided labels are summed; 0 where it has none.
    [[nodiscard]] std::size_t reduced_size(std::size_t slot) const {
        index size = 1;
        bool one_sided = false;
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            one_sided = one_sided || is_one_sided(loop, slot);
            size *= nest_.of(loop)[slot] != 0 && !is_one_sided(loop, slot) ? nest_.extents[loop] : 1;
        }
        return one_sided ? static_cast<std::size_t>(size) : 0;
    }

    /// Sums the operand over its one-sided labels into dense scratch, and walks that from now on. The product
    /// distributes over the sum, so the labels need not enter the product's own loops.
    void reduce(std::size_t slot, const T* from, T* scratch) {
        loop_nest reduction(2);
        nest_.sort_by(slot);
        index size = 1;
        for (std::size_t loop = nest_.size(); loop-- > 0;) {
            index* const moves = nest_.of(loop);
            if (moves[slot] == 0) {
                continue;
            }
            index* const added = reduction.add(nest_.extents[loop]);
            added[1] = moves[slot];
            if (!is_one_sided(loop, slot)) {
                added[0] = size;
                moves[slot] = size;
                size *= nest_.extents[loop];
            }
        }
        reduction.fuse();
        reduction.sort_by(0);
        product_rows<T> worker(scratch, &from, 1, semiring::one, write_mode::overwrite);
        run_rows(reduction, worker);
    }

    void multiply() {
        index m = 1;
        index n = 1;
        index k = 1;
        bool contiguous_batch = false;
        index z_in_m = 0;  // smallest strides of the output along m and along n
        index z_in_n = 0;
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            const index* moves = nest_.of(loop);
            const index extent = nest_.extents[loop];
            if (moves[z_slot] == 0) {
                k *= extent;
            } else if (moves[x_slot] != 0 && moves[y_slot] == 0) {
                m *= extent;
                z_in_m = smaller(z_in_m, moves[z_slot]);
            } else if (moves[x_slot] == 0 && moves[y_slot] != 0) {
                n *= extent;
                z_in_n = smaller(z_in_n, moves[z_slot]);
            } else {
                contiguous_batch =
                    contiguous_batch || (extent >= 8 && moves[z_slot] == 1 && moves[x_slot] == 1 && moves[y_slot] == 1);
            }
        }
        // A row of batch labels that lie side by side beats products too small to reuse what they load.
        const bool little_reuse = contiguous_batch && m * n * k < 4 * (m * k + k * n + m * n);
        const bool tiny = m <= tiny_side && n <= tiny_side && k <= tiny_side && m * n * k <= tiny_points;
        if (k == 1 && elementwise()) {
            return;
        }
        if ((m == 1 || n == 1) && k > 1 && dots()) {
            return;
        }
        if (little_reuse || (!tiny && (m == 1 || n == 1 || k == 1)) || (tiny && m * n == 1)) {
            rows();
            return;
        }
        const bool swapped = z_in_m != 0 && (z_in_n == 0 || z_in_m < z_in_n);
        products(swapped, tiny);
    }

    /// The smaller distance of two strides, where 0 is none.
    static index smaller(index best, index stride) {
        const index distance = stride < 0 ? -stride : stride;
        return best == 0 || distance < best ? distance : best;
    }

    void rows() {
        nest_.sort_by(z_slot);
        const T* const operands[2] = {x_, y_};
        product_rows<T> worker(z_, operands, 2, scale_, mode_);
        run_rows(nest_, worker);
    }

    /// A matrix product per point of the batch. `swapped` computes the transpose, so that what the output has
    /// contiguous are the columns.
    void products(bool swapped, bool tiny) {
        const std::size_t a_slot = swapped ? y_slot : x_slot;
        const std::size_t b_slot = swapped ? x_slot : y_slot;
        gemm_call<T> call;
        call.scale = scale_;
        call.add = mode_ == write_mode::combine;
        odometer::loop_list batch;
        const auto has_unit = [&](std::size_t slot, bool in_output) {
            for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
                if (nest_.of(loop)[slot] == 1 && nest_.in_output(loop) == in_output) {
                    return true;
                }
            }
            return false;
        };
        // Columns run as the output has them, rows as A; the summed index as an operand has it where that lets a panel
        // be read contiguously.
        nest_.sort_by(has_unit(a_slot, false) || !has_unit(b_slot, false) ? a_slot : b_slot);
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            if (!nest_.in_output(loop)) {
                call.k.add(nest_.extents[loop], nest_.of(loop)[a_slot], nest_.of(loop)[b_slot]);
            }
        }
        nest_.sort_by(z_slot);
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            const index* moves = nest_.of(loop);
            if (moves[z_slot] == 0) {
                continue;
            }
            if (moves[a_slot] != 0 && moves[b_slot] == 0) {
                call.m.add(nest_.extents[loop], moves[a_slot], moves[z_slot]);
            } else if (moves[b_slot] != 0 && moves[a_slot] == 0) {
                call.n.add(nest_.extents[loop], moves[b_slot], moves[z_slot]);
            } else {
                batch.push_back(loop);
            }
        }
        call.m.move_contiguous(false);
        call.n.move_contiguous(true);
        const T* const a = swapped ? y_ : x_;
        const T* const b = swapped ? x_ : y_;
        if (tiny || small_product<T>::suits(call.m.size, call.n.size, call.k.size)) {
            const small_product<T> product(call);
            if (tiny || product.vectorised()) {
                for_each_point(batch, call.m.size * call.n.size * call.k.size,
                               [&](const index* at) { product.run(a + at[a_slot], b + at[b_slot], z_ + at[z_slot]); });
                return;
            }
        }
        const tile_kernel kernel = product_tile_kernel<T>(best_instruction_set(), &call.scale);
        const index points = call.m.size * call.n.size * call.k.size;
        const int threads = odometer(nest_, batch).size() < available_threads() ? threads_for(points) : 1;
        const blocked_gemm product(kernel, call.m, call.n, call.k, threads);
        for_each_point(batch, threads > 1 ? 0 : points, [&](const index* at) {
            product.run(a + at[a_slot], b + at[b_slot], z_ + at[z_slot], call.add);
        });
    }

    /// Calls visit(offsets) for every point, on several threads where `work` at each of them makes that worth it.
    template <class Visit>
    void for_each_point(const odometer::loop_list& batch, index work, const Visit& visit) {
        const index count = odometer(nest_, batch).size();
        on_threads(static_cast<int>(std::min<index>(threads_for(count * work), count)), [&](index part, index parts) {
            const even_part own(count, part, parts);
            odometer point(nest_, batch);
            index at[3] = {0, 0, 0};
            point.go_to(own.begin, at);
            for (index number = own.begin; number < own.end; ++number) {
                visit(at);
                point.advance(at);
            }
        });
    }

    /// Where nothing is summed, and the operands are contiguous or constant along the output's rows: one pass.
    bool elementwise() {
        const auto products_of = best_products<T>();
        if (products_of == nullptr || !nest_.all_in_output() || nest_.size() == 0) {
            return false;
        }
        nest_.sort_by(z_slot);
        const std::size_t row = nest_.size() - 1;
        const index* const along = nest_.of(row);
        if (along[z_slot] != 1 || (along[x_slot] | along[y_slot]) < 0 || along[x_slot] > 1 || along[y_slot] > 1) {
            return false;
        }
        product_plane<T> plane;
        plane.columns = nest_.extents[row];
        plane.rows = 1;
        plane.x_moves = along[x_slot] == 1;
        plane.y_moves = along[y_slot] == 1;
        plane.scale = scale_;
        plane.add = mode_ == write_mode::combine;
        odometer::loop_list outer;
        const auto bytes = static_cast<index>(sizeof(T));
        index total = plane.columns * bytes;
        bool on_lines = reinterpret_cast<std::uintptr_t>(z_) % 64 == 0;
        for (std::size_t loop = 0; loop < row; ++loop) {
            const index* const moves = nest_.of(loop);
            total *= nest_.extents[loop];
            on_lines = on_lines && moves[z_slot] * bytes % 64 == 0;
            if (loop + 1 < row) {
                outer.push_back(loop);
                continue;
            }
            plane.rows = nest_.extents[loop];
            plane.z_row = moves[z_slot];
            plane.x_row = moves[x_slot];
            plane.y_row = moves[y_slot];
        }
        plane.streams = on_lines && total >= streamed_bytes && !plane.add && z_ != x_ && z_ != y_;
        for_each_point(outer, plane.rows * plane.columns,
                       [&](const index* at) { products_of(plane, z_ + at[z_slot], x_ + at[x_slot], y_ + at[y_slot]); });
        if (plane.streams) {
            end_streaming();
        }
        return true;
    }

    /// Where one label is contracted and contiguous in both operands: a dot product per element of the output.
    bool dots() {
        T (*const dot)(index, const T*, const T*) = best_dot<T>();
        std::size_t summed = nest_.size();
        odometer::loop_list points;
        nest_.sort_by(z_slot);
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            if (nest_.in_output(loop)) {
                points.push_back(loop);
            } else if (summed == nest_.size() && nest_.of(loop)[x_slot] == 1 && nest_.of(loop)[y_slot] == 1) {
                summed = loop;
            } else {
                return false;
            }
        }
        if (dot == nullptr || summed == nest_.size() || nest_.extents[summed] < 16) {
            return false;
        }
        for_each_point(points, nest_.extents[summed], [&](const index* at) {
            const T sum = semiring::times(scale_, dot(nest_.extents[summed], x_ + at[x_slot], y_ + at[y_slot]));
            T& into = z_[at[z_slot]];
            into = mode_ == write_mode::combine ? semiring::plus(into, sum) : sum;
        });
        return true;
    }

    loop_nest& nest_;
    const T* x_;
    const T* y_;
    T* z_;
    T scale_;
    write_mode mode_;
};

}  // namespace einparallel::detail
