#pragma once
// Σ of products of two operands, run as contraction_decision.hpp decides.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/batch_in_lanes.hpp>
#include <einparallel/kernel/product/blas.hpp>
#include <einparallel/kernel/product/gemm.hpp>
#include <einparallel/kernel/product/pair_operands.hpp>
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

/// Contracts two operands.
template <Element T>
class pair_contraction : private pair_operands<T> {
public:
    pair_contraction(loop_nest& nest, const row_operand& x, const row_operand& y, T* z, T scale, write_mode mode)
        : pair_operands<T>(nest, x, y), z_(z), scale_(scale), mode_(mode) {}

    void run() {
        const std::size_t x_size = reduced_size(nest_, x_slot);
        const std::size_t y_size = reduced_size(nest_, y_slot);
        const bool converting = converts(x_) || converts(y_);
        if (x_size + y_size == 0 && !converting) {
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
        const scratch_memory x = as_elements(x_slot, x_);
        const scratch_memory y = as_elements(y_slot, y_);
        nest_.fuse();
        multiply();
    }

private:
    void multiply() {
        const contraction_decision decision = decide(nest_, element_type_of<T>(), mode_);
        if constexpr (std::is_floating_point_v<T>) {
            if (decision.way == contraction_way::elementwise && !has_others()) {
                elementwise(decision.threads);
                return;
            }
            if (decision.way == contraction_way::dots && (converts(x_) || converts(y_))) {
                converted_dots(decision.k, decision.threads);
                return;
            }
            if (decision.way == contraction_way::dots) {
                const scratch_memory x = as_floats(x_slot, x_, decision.k);
                const scratch_memory y = as_floats(y_slot, y_, decision.k);
                dots(decision.k, decision.threads);
                return;
            }
        }
        const bool small = decision.way == contraction_way::small_products && decision.batch > 1;
        const bool in_rows = decision.way == contraction_way::rows || decision.way == contraction_way::elementwise ||
                             (small && has_others());
        if (!in_rows) {
            products(decision);
            return;
        }
        nest_.sort_by(z_slot);
        row_operands operands;
        operands.push_back(x_);
        operands.push_back(y_);
        product_rows<T> worker(z_, operands, scale_, mode_);
        run_rows(nest_, worker);
    }

    /// A matrix product per point of the batch, of the transposes where the output has the rows contiguous.
    void products(const contraction_decision& decision) {
        const std::size_t a_slot = decision.swapped ? y_slot : x_slot;
        const std::size_t b_slot = decision.swapped ? x_slot : y_slot;
        const row_operand& a_operand = decision.swapped ? y_ : x_;
        const row_operand& b_operand = decision.swapped ? x_ : y_;
        const T* const a = a_operand.template elements<T>();
        const T* const b = b_operand.template elements<T>();
        gemm_call<T> call;
        call.scale = scale_;
        call.add = mode_ == write_mode::combine;
        const odometer::loop_list batch = sort_axes(nest_, a_slot, b_slot, call);
        if (has_others()) {
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

    void packed(gemm_call<T>& call, const odometer::loop_list& batch, const row_operand& a, std::size_t a_slot,
                const row_operand& b, std::size_t b_slot, const contraction_decision& decision) {
        tile_kernel kernel = product_tile_kernel<T>(best_instruction_set(), &call.scale);
        conversion<T> how{call.scale};
        if (has_others()) {
            kernel = converting_tile_kernel(a.element, b.element, how);
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
        plane.streams = on_lines && rows * plane.columns * bytes >= streamed_bytes && !plane.add &&
                        z_ != x_.template elements<T>() && z_ != y_.template elements<T>();
        const auto compute = [&](const product_plane<T>& part, const index* at, index first_row, index first) {
            with_best_instructions([&](auto set) {
                vector_product<T, set.value>::products(
                    part, z_ + (at[z_slot] + first_row * part.z_row + first),
                    x_.template elements<T>() + (at[x_slot] + first_row * part.x_row + (part.x_moves ? first : 0)),
                    y_.template elements<T>() + (at[y_slot] + first_row * part.y_row + (part.y_moves ? first : 0)));
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

    /// One label is contracted and contiguous in both operands: a dot product per element of the output, some at once
    /// along its innermost loop where that has them; the last ones at once are computed with some before them. A long
    /// one is summed in stretches of one length. So the order of summation does not depend on the number of threads.
    void dots(index length, int threads) {
        constexpr index stretch = index{1} << 16;
        constexpr int some = dot_functions<T>::rows;
        nest_.sort_by(z_slot);
        const dot_functions<T> dot(x_.element, y_.element);
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
        const bool together = stretches == 1 && extent >= some && (has_others() || !inside);
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

    /// The same of operands that are converted, a piece at a time.
    void converted_dots(index length, int threads) {
        constexpr index piece = 2048;
        nest_.sort_by(z_slot);
        const dot_functions<T> dot(element_type_of<T>(), element_type_of<T>());
        const odometer::loop_list points = output_loops(nest_);
        index moves[3] = {0, 0, 0};
        if (!points.empty()) {
            std::copy_n(nest_.of(points[points.size() - 1]), 3, moves);
        }
        for_each_stretch(nest_, points, length, threads, [&](const index* at, index first, index count) {
            alignas(64) T wide[2][piece];
            for (index point = first; point < first + count; ++point) {
                T sum = 0;
                for (index begin = 0; begin < length; begin += piece) {
                    const index terms = std::min(piece, length - begin);
                    const auto read = [&](const row_operand& operand, std::size_t slot, T* into) {
                        const std::byte* const from = operand.at(at[slot] + point * moves[slot] + begin);
                        if (operand.template is<T>()) {
                            return static_cast<const void*>(from);
                        }
                        convert_row(operand.element, into, from, terms);
                        return static_cast<const void*>(into);
                    };
                    T part = 0;
                    dot.one(terms, read(x_, x_slot, wide[0]), 0, read(y_, y_slot, wide[1]), 0, &part);
                    sum += part;
                }
                T& into = z_[at[z_slot] + point * moves[z_slot]];
                sum *= scale_;
                into = mode_ == write_mode::combine ? into + sum : sum;
                report(nest_.hook, length);
            }
        });
    }

    using pair_operands<T>::nest_, pair_operands<T>::x_, pair_operands<T>::y_;
    using pair_operands<T>::has_others, pair_operands<T>::converts, pair_operands<T>::reduced;
    using pair_operands<T>::as_elements, pair_operands<T>::as_floats, pair_operands<T>::move_rows_inside;

    T* z_;
    T scale_;
    write_mode mode_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
