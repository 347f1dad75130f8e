#pragma once
// Σ of products of two operands along a label that is contiguous in both: dot products for each element of the output.

#include <einparallel/kernel/block_call.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/kernel/product/product_loops.hpp>
#include <einparallel/kernel/progress.hpp>
#include <einparallel/kernel/rows.hpp>
#include <einparallel/kernel/simd/convert.hpp>
#include <einparallel/kernel/simd/packing.hpp>
#include <einparallel/kernel/simd/vector_product.hpp>
#include <einparallel/kernel/small_vector.hpp>
#include <einparallel/kernel/threads.hpp>
#include <einparallel/kernel/workspace.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

template <Element T>
struct dot_products {
    const loop_nest& nest;  ///< sorted by the output
    row_operand x;
    row_operand y;
    T* z;
    T scale;
    write_mode mode;

    /// Computes dot products along the dot_loop, for each index of the other contracted loops.
    void run(int threads) {
        const std::size_t along = dot_loop(nest);
        const index length = nest.extents[along];
        const odometer::loop_list around =
            loops_that(nest, [&](std::size_t loop) { return !nest.in_output(loop) && loop != along; });
        odometer sums(nest, around);
        index at[3] = {0, 0, 0};
        bool is_first = true;
        do {
            dot_products each = *this;
            each.x.data = x.at(at[x_slot]);
            each.y.data = y.at(at[y_slot]);
            each.mode = std::exchange(is_first, false) ? mode : write_mode::combine;
            each.run_once(length, threads);
        } while (sums.advance(at));
    }

private:
    void run_once(index length, int threads) {
        const auto is_read = [](const row_operand& operand) {
            return operand.template is<T>() || (std::is_same_v<T, float> && is_multiplied_half(operand.element));
        };
        if (!is_read(x) || !is_read(y)) {
            converted_dots(length, threads);
            return;
        }
        const scratch_memory floats_of_x = as_floats(x_slot, x, length);
        const scratch_memory floats_of_y = as_floats(y_slot, y, length);
        dots(length, threads);
    }

    /// Where all dot products read the same halves of an operand, converts these to floats once. Returns the memory of
    /// the floats.
    scratch_memory as_floats(std::size_t slot, row_operand& operand, index length) {
        const bool moves = any_in(output_loops(nest), [&](std::size_t loop) { return nest.of(loop)[slot] != 0; });
        const bool wanted = !operand.template is<T>() && !moves;
        scratch_memory made(wanted ? std::size_t(length) * sizeof(T) : 0);
        if (wanted) {
            convert_row(operand.element, reinterpret_cast<T*>(made.data()), operand.data, length);
            operand = {made.data(), element_type_of<T>()};
        }
        return made;
    }

    /// Computes a dot product for each element of the output, where one label is contracted and contiguous in both
    /// operands. Several are computed at once along the output's innermost loop, where it is long enough; the last
    /// group may compute some again. A long dot product is summed in stretches of one length. So the order of summation
    /// does not depend on the number of threads.
    void dots(index length, int threads) {
        constexpr index stretch = index{1} << 16;
        constexpr int some = dot_functions<T>::rows;
        const dot_functions<T> dot(x.element, y.element);
        odometer::loop_list points = output_loops(nest);
        index extent = 1;
        index moves[3] = {0, 0, 0};
        bool inside = false;
        if (!points.empty()) {
            inside = move_rows_inside(nest, points);
            extent = nest.extents[points.back()];
            std::copy_n(nest.of(points.back()), 3, moves);
            points.resize(points.size() - 1);
        }
        const index stretches = (length + stretch - 1) / stretch;
        const bool together =
            stretches == 1 && extent >= some && (!x.template is<T>() || !y.template is<T>() || !inside);
        const index at_once = together ? some : 1;
        const index groups = (extent + at_once - 1) / at_once;
        const bool split = stretches > 1 && odometer(nest, points).size() * extent < threads;
        const auto visit = [&](const index* at, index from, index count) {
            for (index begin = from * at_once; begin < (from + count) * at_once; begin += at_once) {
                const index first = std::min(begin, extent - at_once);
                const std::byte* const left = x.at(at[x_slot] + first * moves[x_slot]);
                const std::byte* const right = y.at(at[y_slot] + first * moves[y_slot]);
                small_vector<T, 64> sums(std::size_t(std::max(stretches, at_once)));
                const auto add_up = [&](index share, index shares) {
                    const even_share own(stretches, share, shares);
                    for (index number = own.begin; number < own.end; ++number) {
                        const index start = number * stretch;
                        const index terms = std::min(stretch, length - start);
                        together ? dot.some(length, left, moves[x_slot], right, moves[y_slot], sums.data())
                                 : dot.one(terms, left + start * x.bytes(), 0, right + start * y.bytes(), 0,
                                           &sums[std::size_t(number)]);
                        report(nest.hook, at_once * terms);
                    }
                };
                on_threads(split ? threads : 1, add_up);
                for (std::size_t number = 1; !together && number < sums.size(); ++number) {
                    sums[0] += sums[number];
                }
                for (index row = begin; row < first + at_once; ++row) {
                    T& into = z[at[z_slot] + row * moves[z_slot]];
                    const T sum = sums[std::size_t(row - first)] * scale;
                    into = mode == write_mode::combine ? into + sum : sum;
                }
            }
        };
        visit_points(nest, points, groups, 0, split ? 1 : threads, visit);
    }

    /// Computes dot products of operands that have to be converted, some elements at a time.
    void converted_dots(index length, int threads) {
        constexpr index most = 2048;
        const dot_functions<T> dot(element_type_of<T>(), element_type_of<T>());
        for_each_stretch(
            nest, output_loops(nest), length, threads, [&](const index* at, index count, const index* moves) {
                alignas(64) T wide[2][most];
                for (index point = 0; point < count; ++point) {
                    T sum = 0;
                    for (index begin = 0; begin < length; begin += most) {
                        const index terms = std::min(most, length - begin);
                        const auto read = [&](const row_operand& operand, std::size_t slot, T* into) {
                            const std::byte* const from = operand.at(at[slot] + point * moves[slot] + begin);
                            if (operand.template is<T>()) {
                                return static_cast<const void*>(from);
                            }
                            convert_row(operand.element, into, from, terms);
                            return static_cast<const void*>(into);
                        };
                        T term = 0;
                        dot.one(terms, read(x, x_slot, wide[0]), 0, read(y, y_slot, wide[1]), 0, &term);
                        sum += term;
                    }
                    T& into = z[at[z_slot] + point * moves[z_slot]];
                    sum *= scale;
                    into = mode == write_mode::combine ? into + sum : sum;
                    report(nest.hook, length);
                }
            });
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL
