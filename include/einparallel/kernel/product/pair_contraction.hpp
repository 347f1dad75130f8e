#pragma once
// Σ of products of two operands, run as contraction_decision.hpp decides.

#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/batch_in_lanes.hpp>
#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/kernel/product/gemm.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/product/product_rows.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/half_tile.hpp>
#include <einparallel/kernel/simd/micro_kernel.hpp>
#include <einparallel/kernel/simd/small_product.hpp>
#include <einparallel/kernel/simd/vector_copy.hpp>
#include <einparallel/kernel/simd/vector_product.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// An operand with elements of type T; of a product of floats also with halves.
template <Element T>
struct product_operand {
    const void* data = nullptr;
    half_bits half = 0;

    [[nodiscard]] index bytes() const { return half != 0 ? 2 : index(sizeof(T)); }
    [[nodiscard]] const T* elements() const { return static_cast<const T*>(data); }
    [[nodiscard]] const std::byte* at(index offset) const {
        return static_cast<const std::byte*>(data) + offset * bytes();
    }
    [[nodiscard]] row_operand row() const { return {at(0), bytes(), half}; }
};

/// Contracts two operands.
template <Element T>
class pair_contraction {
public:
    pair_contraction(loop_nest& nest, const product_operand<T>& x, const product_operand<T>& y, T* z, T scale,
                     write_mode mode)
        : nest_(nest), x_(x), y_(y), z_(z), scale_(scale), mode_(mode) {}

    void run() {
        const std::size_t x_size = reduced_size(nest_, x_slot);
        const std::size_t y_size = reduced_size(nest_, y_slot);
        if (x_size + y_size == 0) {
            multiply();
            return;
        }
        const scratch_memory memory((x_size + y_size) * sizeof(T));
        T* const scratch = reinterpret_cast<T*>(memory.data());
        if (x_size > 0) {
            x_ = reduced(x_slot, x_, scratch);
        }
        if (y_size > 0) {
            y_ = reduced(y_slot, y_, scratch + x_size);
        }
        nest_.fuse();
        multiply();
    }

private:
    /// Sums the operand over its one-sided labels into dense scratch.
    product_operand<T> reduced(std::size_t slot, const product_operand<T>& from, T* scratch) {
        const loop_nest reduction = take_one_sided(nest_, slot);
        row_operands rows;
        rows.push_back(from.row());
        product_rows<T> worker(scratch, rows, T(1), write_mode::overwrite);
        run_rows(reduction, worker);
        return {scratch};
    }
    [[nodiscard]] bool has_halves() const { return std::is_same_v<T, float> && (x_.half | y_.half) != 0; }

    void multiply() {
        const contraction_decision decision = decide(nest_, element_type_of<T>(), mode_);
        if constexpr (std::is_floating_point_v<T>) {
            if (decision.way == contraction_way::elementwise && !has_halves()) {
                elementwise(decision.threads);
                return;
            }
            if (decision.way == contraction_way::dots) {
                const scratch_memory x = as_elements(x_slot, x_, decision.k);
                const scratch_memory y = as_elements(y_slot, y_, decision.k);
                dots(decision.k, decision.threads);
                return;
            }
        }
        const bool small = decision.way == contraction_way::small_products && decision.batch > 1;
        const bool in_rows = decision.way == contraction_way::rows || decision.way == contraction_way::elementwise ||
                             (small && has_halves());
        if (!in_rows) {
            products(decision);
            return;
        }
        nest_.sort_by(z_slot);
        row_operands operands;
        operands.push_back(x_.row());
        operands.push_back(y_.row());
        product_rows<T> worker(z_, operands, scale_, mode_);
        run_rows(nest_, worker);
    }

    /// Of halves that all dot products read floats are made once.
    scratch_memory as_elements(std::size_t slot, product_operand<T>& operand, index length) {
        bool moves = false;
        for (std::size_t loop = 0; loop < nest_.size(); ++loop) {
            moves = moves || (nest_.in_output(loop) && nest_.of(loop)[slot] != 0);
        }
        const bool wanted = operand.half != 0 && !moves;
        scratch_memory made(wanted ? std::size_t(length) * sizeof(T) : 0);
        if constexpr (std::is_same_v<T, float>) {
            if (wanted) {
                widen(operand.half, reinterpret_cast<float*>(made.data()), operand.data, length);
                operand = {made.data()};
            }
        }
        return made;
    }

    /// A matrix product per point of the batch, of the transposes where the output has the rows contiguous.
    void products(const contraction_decision& decision) {
        const std::size_t a_slot = decision.swapped ? y_slot : x_slot;
        const std::size_t b_slot = decision.swapped ? x_slot : y_slot;
        const product_operand<T>& a_operand = decision.swapped ? y_ : x_;
        const product_operand<T>& b_operand = decision.swapped ? x_ : y_;
        const T* const a = a_operand.elements();
        const T* const b = b_operand.elements();
        gemm_call<T> call;
        call.scale = scale_;
        call.add = mode_ == write_mode::combine;
        const odometer::loop_list batch = sort_axes(nest_, a_slot, b_slot, call);
        if (has_halves()) {
            packed(call, batch, a_operand, a_slot, b_operand, b_slot, decision);
            return;
        }
        if constexpr (std::is_floating_point_v<T>) {
            if (decision.in_lanes) {
                const batch_in_lanes<T> product(call);
                for_each_stretch(nest_, batch, 0, decision.threads, [&](const index* at, index first, index count) {
                    product.run(a + (at[a_slot] + first), b + (at[b_slot] + first), z_ + (at[z_slot] + first), count,
                                nest_.hook);
                });
                return;
            }
        }
        if (decision.way == contraction_way::small_products) {
            small_product<T> product(call);
            index moves[3] = {0, 0, 0};
            if (!batch.empty()) {
                std::copy_n(nest_.of(batch[batch.size() - 1]), 3, moves);
            }
            const index work = decision.m * decision.n * decision.k;
            for_each_stretch(nest_, batch, work, decision.threads, [&](const index* at, index first, index count) {
                product.run(a + (at[a_slot] + first * moves[a_slot]), b + (at[b_slot] + first * moves[b_slot]),
                            z_ + (at[z_slot] + first * moves[z_slot]), count, moves[a_slot], moves[b_slot],
                            moves[z_slot]);
            });
            return;
        }
        if (decision.way == contraction_way::library_product) {
            if constexpr (!std::is_integral_v<T>) {
                library_products(call, batch, a, a_slot, b, b_slot);
            }
            return;
        }
        packed(call, batch, a_operand, a_slot, b_operand, b_slot, decision);
    }

    void packed(gemm_call<T>& call, const odometer::loop_list& batch, const product_operand<T>& a, std::size_t a_slot,
                const product_operand<T>& b, std::size_t b_slot, const contraction_decision& decision) {
        tile_kernel kernel = product_tile_kernel<T>(best_instruction_set(), &call.scale);
        if constexpr (std::is_same_v<T, float>) {
            kernel = has_halves() ? half_tile_kernel(a.half, b.half, &call.scale) : kernel;
        }
        run_blocked(
            kernel, call,
            {nest_, batch, a.data, a_slot, b.data, b_slot, z_, call.add, decision.threads, decision.threads_inside});
    }
    /// A library's product does not report. Where there is a hook it is computed in pieces of the longer side of the
    /// output, as many whatever the hook does: 8 at most, each 256 long and of 2^26 multiply-adds (some milliseconds)
    /// at least, since the other operand is packed anew for each.
    void library_products(const gemm_call<T>& call, const odometer::loop_list& batch, const T* a, std::size_t a_slot,
                          const T* b, std::size_t b_slot) {
        const gemm_axis::loop& k = call.k.loops[0];
        const bool by_rows = call.m.size >= call.n.size;
        const index length = by_rows ? call.m.size : call.n.size;
        const index most = std::min({index{8}, length / 256, call.m.size * call.n.size * k.extent >> 26});
        const index pieces = nest_.hook == nullptr ? 1 : std::max<index>(most, 1);
        for_each_point(nest_, batch, 1, [&](const index* at) {
            for (index piece = 0; piece < pieces; ++piece) {
                const even_part own(length, piece, pieces);
                gemm_axis::loop m = call.m.loops[0];
                gemm_axis::loop n = call.n.loops[0];
                (by_rows ? m : n).extent = own.end - own.begin;
                const index row = by_rows ? own.begin : 0;
                const index column = by_rows ? 0 : own.begin;
                blas_gemm(m, n, k, scale_, a + at[a_slot] + row * m.first, b + at[b_slot] + column * n.first,
                          z_ + at[z_slot] + row * m.second + column * n.second, call.add);
                report(nest_.hook, m.extent * n.extent * k.extent);
            }
        });
    }

    /// Nothing is summed, and the operands are contiguous or constant along the output's rows: one pass. Threads share
    /// the rows, or, where these are few or longer than what is computed between two reports, each row's cache lines.
    void elementwise(int threads) {
        constexpr index line = 64;
        const auto bytes = index(sizeof(T));
        nest_.sort_by(z_slot);
        const std::size_t row = nest_.size() - 1;
        product_plane<T> plane;
        plane.columns = nest_.extents[row];
        plane.x_moves = nest_.of(row)[x_slot] == 1;
        plane.y_moves = nest_.of(row)[y_slot] == 1;
        plane.scale = scale_;
        plane.add = mode_ == write_mode::combine;
        odometer::loop_list outer;
        bool on_lines = reinterpret_cast<std::uintptr_t>(z_) % 64 == 0;
        for (std::size_t loop = 0; loop < row; ++loop) {
            const index* const moves = nest_.of(loop);
            on_lines = on_lines && moves[z_slot] * bytes % 64 == 0;
            outer.push_back(loop);
            plane.z_row = moves[z_slot];  // at last of the innermost of them
            plane.x_row = moves[x_slot];
            plane.y_row = moves[y_slot];
        }
        const index rows = odometer(nest_, outer).size();
        plane.streams =
            on_lines && rows * plane.columns * bytes >= streamed_bytes && !plane.add && z_ != x_.data && z_ != y_.data;
        const auto compute = [&](const product_plane<T>& part, const index* at, index first_row, index first) {
            with_best_instructions([&](auto set) {
                vector_product<T, set.value>::products(
                    part, z_ + (at[z_slot] + first_row * part.z_row + first),
                    x_.elements() + (at[x_slot] + first_row * part.x_row + (part.x_moves ? first : 0)),
                    y_.elements() + (at[y_slot] + first_row * part.y_row + (part.y_moves ? first : 0)));
            });
            if (part.streams) {
                end_streaming();
            }
        };
        if ((threads == 1 || rows >= 4 * threads) && plane.columns <= progress_hook::interval) {
            for_each_stretch(nest_, outer, plane.columns, threads, [&](const index* at, index first, index count) {
                product_plane<T> own = plane;
                own.rows = count;
                compute(own, at, first, 0);
            });
            return;
        }
        plane.rows = 1;
        const index lines = (plane.columns + line - 1) / line;
        visit_points(nest_, outer, lines, line, threads, [&](const index* at, index first, index count) {
            product_plane<T> own = plane;
            own.columns = std::min(count * line, plane.columns - first * line);
            compute(own, at, 0, first * line);
        });
    }

    /// Where both operands have rows that the other one passes, makes the fewest of them the innermost loop: what they
    /// all read is then read once.
    bool move_rows_inside(odometer::loop_list& points) const {
        auto fewest = points.end();
        bool has_rows[2] = {false, false};
        for (auto loop = points.begin(); loop != points.end(); ++loop) {
            const index* const moves = nest_.of(*loop);
            if ((moves[x_slot] == 0) != (moves[y_slot] == 0)) {
                has_rows[moves[x_slot] == 0 ? 1 : 0] = true;
                fewest = fewest == points.end() || nest_.extents[*loop] < nest_.extents[*fewest] ? loop : fewest;
            }
        }
        if (has_rows[0] && has_rows[1]) {
            std::rotate(fewest, fewest + 1, points.end());
        }
        return has_rows[0] && has_rows[1];
    }

    /// One label is contracted and contiguous in both operands: a dot product per element of the output, some at once
    /// along its innermost loop where that has them; the last ones at once are computed with some before them. A long
    /// one is summed in stretches of one length. So the order of summation does not depend on the number of threads.
    void dots(index length, int threads) {
        constexpr index stretch = index{1} << 16;
        constexpr int some = dot_functions<T>::rows;
        nest_.sort_by(z_slot);
        const dot_functions<T> dot(x_.half, y_.half);
        odometer::loop_list points = output_loops(nest_);
        index extent = 1;
        index moves[3] = {0, 0, 0};
        bool inside = false;
        if (!points.empty()) {
            inside = move_rows_inside(points);
            extent = nest_.extents[points.back()];
            std::copy_n(nest_.of(points.back()), 3, moves);
            points.resize(points.size() - 1);
        }
        const index stretches = (length + stretch - 1) / stretch;
        const bool together = stretches == 1 && extent >= some && (has_halves() || !inside);
        const index at_once = together ? some : 1;
        const index groups = (extent + at_once - 1) / at_once;
        const bool split = stretches > 1 && odometer(nest_, points).size() * extent < threads;
        const auto visit = [&](const index* at, index from, index count) {
            for (index begin = from * at_once; begin < (from + count) * at_once; begin += at_once) {
                const index first = std::min(begin, extent - at_once);
                const std::byte* const x = x_.at(at[x_slot] + first * moves[x_slot]);
                const std::byte* const y = y_.at(at[y_slot] + first * moves[y_slot]);
                small_vector<T, 64> sums(std::size_t(std::max(stretches, at_once)));
                const auto add_up = [&](index part, index parts) {
                    const even_part own(stretches, part, parts);
                    for (index number = own.begin; number < own.end; ++number) {
                        const index start = number * stretch;
                        const index terms = std::min(stretch, length - start);
                        together ? dot.some(length, x, moves[x_slot], y, moves[y_slot], sums.data())
                                 : dot.one(terms, x + start * x_.bytes(), 0, y + start * y_.bytes(), 0,
                                           &sums[std::size_t(number)]);
                        report(nest_.hook, at_once * terms);
                    }
                };
                on_threads(split ? threads : 1, add_up);
                for (std::size_t number = 1; !together && number < sums.size(); ++number) {
                    sums[0] += sums[number];
                }
                for (index row = begin; row < first + at_once; ++row) {
                    T& into = z_[at[z_slot] + row * moves[z_slot]];
                    const T sum = sums[std::size_t(row - first)] * scale_;
                    into = mode_ == write_mode::combine ? into + sum : sum;
                }
            }
        };
        visit_points(nest_, points, groups, 0, split ? 1 : threads, visit);
    }

    loop_nest& nest_;
    product_operand<T> x_;
    product_operand<T> y_;
    T* z_;
    T scale_;
    write_mode mode_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
