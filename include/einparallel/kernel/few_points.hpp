#pragma once
// Σ of products over so few points that looking for the best way would take longer than plain loops.

#include <einparallel/kernel/arithmetic.hpp>
#include <einparallel/kernel/kernel.hpp>
#include <einparallel/kernel/loop_nest.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>

namespace einparallel::detail {

inline constexpr index few_points = 32;
inline constexpr std::size_t few_loops = 3;

/// So few points, at most two loops of them summed, that product_of_few_points takes them.
inline bool has_few_points(const loop_nest& nest) {
    index points = 1;
    std::size_t sums = 0;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        points *= nest.extents[loop];
        sums += nest.in_output(loop) ? 0 : 1;
    }
    return nest.size() <= few_loops && points <= few_points && sums <= 2;
}

/// z (+)= scale · Σ x · y over a nest of few points; false, and nothing done, where there are more.
template <Element T>
bool product_of_few_points(const loop_nest& nest, const T* x_first, const T* y_first, T* z, T scale, write_mode mode) {
    using semiring = sum_of_products<T>;
    if (nest.size() > few_loops) {
        return false;
    }
    struct plain_loop {
        index extent = 1;
        index z = 0;
        index x = 0;
        index y = 0;
    };
    plain_loop outputs[few_loops];
    plain_loop sums[few_loops];
    std::size_t output_count = 0;
    std::size_t sum_count = 0;
    index points = 1;
    for (std::size_t loop = 0; loop < nest.size(); ++loop) {
        const index* const moves = nest.of(loop);
        plain_loop& placed = nest.in_output(loop) ? outputs[output_count++] : sums[sum_count++];
        placed.extent = nest.extents[loop];
        placed.z = moves[0];
        placed.x = moves[1];
        placed.y = moves[2];
        points *= nest.extents[loop];
    }
    if (points > few_points || sum_count > 2) {
        return false;
    }
    for (index i = 0; i < outputs[0].extent; ++i) {
        for (index j = 0; j < outputs[1].extent; ++j) {
            for (index k = 0; k < outputs[2].extent; ++k) {
                const T* const x = x_first + i * outputs[0].x + j * outputs[1].x + k * outputs[2].x;
                const T* const y = y_first + i * outputs[0].y + j * outputs[1].y + k * outputs[2].y;
                T sum = semiring::times(*x, *y);  // not added to zero: an elementwise product keeps the sign of −0
                for (index p = 0; p < sums[0].extent; ++p) {
                    for (index q = p == 0 ? 1 : 0; q < sums[1].extent; ++q) {
                        sum = semiring::plus(
                            sum, semiring::times(x[p * sums[0].x + q * sums[1].x], y[p * sums[0].y + q * sums[1].y]));
                    }
                }
                sum = scale == semiring::one ? sum : semiring::times(scale, sum);
                T& into = z[i * outputs[0].z + j * outputs[1].z + k * outputs[2].z];
                into = mode == write_mode::combine ? semiring::plus(into, sum) : sum;
            }
        }
    }
    return true;
}

}  // namespace einparallel::detail
