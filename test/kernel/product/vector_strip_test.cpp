// Products in place by strips, against plain loops, with each instruction set that this processor has.

#include "../instruction_sets.hpp"

#include <einparallel/kernel/product/small_call.hpp>
#include <einparallel/kernel/product/vector_strip.hpp>
#include <einparallel/kernel/simd/instruction_set.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace vector_strip_test {

namespace {

using einparallel::index;
using namespace einparallel::detail;
using kernel_test::pick;
using kernel_test::small_integer;
using kernel_test::with_each_set;

/// Products in place with vectors of Bytes bytes, at two points. A is transposed and runs backwards along k, which is
/// even or made of two halves.
template <class T, instruction_set Set, index Bytes>
void check_small_product(std::mt19937& random, index m, index n, bool halves) {
    constexpr index lanes = Bytes / static_cast<index>(sizeof(T));
    constexpr index gap = 5;  // between the points
    const index k = halves ? 2 * pick(random, 1, 5) : pick(random, 1, 9);
    const bool add = (n % lanes == 0 || has_masks(Set)) && m % 2 == 0;
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    CAPTURE(add);
    CAPTURE(halves);
    std::vector<index> a_rows, c_rows;
    std::vector<small_step> along;
    for (index row = 0; row < m; ++row) {
        a_rows.push_back(row);
        c_rows.push_back(row * (n + 3));
    }
    for (index step = 0; step < k; ++step) {
        const index shift = halves && step >= k / 2 ? 7 : 0;
        along.push_back({shift + (k - 1 - step) * m, shift + step * n});
    }
    const index a_point = k * m + 7 + gap;
    const index b_point = k * n + 7 + gap;
    const index c_point = m * (n + 3) + gap;
    std::vector<T> a(static_cast<std::size_t>(2 * a_point));
    std::vector<T> b(static_cast<std::size_t>(2 * b_point));
    std::vector<T> c(static_cast<std::size_t>(2 * c_point), T(7));
    for (auto* values : {&a, &b}) {
        for (T& value : *values) {
            value = small_integer<T>(random);
        }
    }
    std::vector<T> expected = c;
    for (index point = 0; point < 2; ++point) {
        for (index row = 0; row < m; ++row) {
            for (index column = 0; column < n; ++column) {
                T sum = 0;
                for (const small_step& step : along) {
                    sum += a[static_cast<std::size_t>(point * a_point + step.a + row)] *
                           b[static_cast<std::size_t>(point * b_point + step.b + column)];
                }
                T& into = expected[static_cast<std::size_t>(point * c_point + row * (n + 3) + column)];
                into = (add ? into : T(0)) + 3 * sum;
            }
        }
    }
    const T scale(3);
    small_call call{m, n, k, a_rows.data(), along.data(), c_rows.data(), &scale};
    call.is_even = are_even(call);
    CHECK(call.is_even == !(halves && k > 2));
    call.is_far = pick(random, 0, 1) == 1;
    call.points = 2;
    call.a_point = a_point;
    call.b_point = b_point;
    call.c_point = c_point;
    vector_strip<T, Set>::template small<Bytes>(call, a.data(), b.data(), c.data(), add);
    CHECK(c == expected);
}

/// Products of matrices whose elements lie `pitch` apart and are contiguous along the batch, packed and in place.
template <class T, instruction_set Set>
void check_batch(std::mt19937& random, index m, index n, index depth, index points) {
    using code = vector_strip<T, Set>;
    constexpr index bytes = code::lanes * static_cast<index>(sizeof(T));
    const index pitch = points + 5;
    const index vectors = (points + code::lanes - 1) / code::lanes;
    struct matrix {
        std::vector<index> rows, columns;
        std::vector<T> memory, packed;  // packed: for each vector of points, element after element
        index step = 0;
    };
    // Calls copy(element in memory, element in packed memory) for each element at each point.
    const auto for_each = [&](matrix& of, const auto& copy) {
        for (std::size_t row = 0; row < of.rows.size(); ++row) {
            for (std::size_t column = 0; column < of.columns.size(); ++column) {
                for (index point = 0; point < points; ++point) {
                    const auto number = static_cast<index>(row * of.columns.size() + column);
                    const index into = point / code::lanes * of.step + number * code::lanes + point % code::lanes;
                    copy(of.memory[static_cast<std::size_t>(of.rows[row] + of.columns[column] + point)],
                         of.packed[static_cast<std::size_t>(into)]);
                }
            }
        }
    };
    const auto make = [&](index rows, index columns) {
        matrix made;
        for (index row = 0; row < rows; ++row) {
            made.rows.push_back(row * columns * pitch);
        }
        for (index column = 0; column < columns; ++column) {
            made.columns.push_back((columns - 1 - column) * pitch);
        }
        made.memory.resize(static_cast<std::size_t>(rows * columns * pitch));
        std::generate(made.memory.begin(), made.memory.end(), [&] { return small_integer<T>(random); });
        made.step = rows * columns * code::lanes;
        made.packed.assign(static_cast<std::size_t>(made.step * vectors), T(0));
        for_each(made, [](const T& from, T& into) { into = from; });
        return made;
    };
    matrix a = make(m, depth);
    matrix b = make(depth, n);
    matrix c = make(m, n);
    std::vector<index> a_rows, c_rows;
    for (index row = 0; row < m; ++row) {
        a_rows.push_back(row * depth * code::lanes);
        c_rows.push_back(row * n * code::lanes);
    }
    std::vector<small_step> along;
    for (index step = 0; step < depth; ++step) {
        along.push_back({step * code::lanes, step * n * code::lanes});
    }
    std::vector<T> expected = c.memory;
    for (index row = 0; row < m; ++row) {
        for (index column = 0; column < n; ++column) {
            for (index step = 0; step < depth; ++step) {
                for (index point = 0; point < points; ++point) {
                    const auto at = [&](const matrix& of, index i, index j) {
                        return static_cast<std::size_t>(of.rows[static_cast<std::size_t>(i)] +
                                                        of.columns[static_cast<std::size_t>(j)] + point);
                    };
                    expected[at(c, row, column)] += 2 * a.memory[at(a, row, step)] * b.memory[at(b, step, column)];
                }
            }
        }
    }
    const T scale = 2;
    small_call call{m, n, depth, a_rows.data(), along.data(), c_rows.data(), &scale};
    call.is_even = are_even(call);
    call.points = vectors;
    call.a_point = a.step;
    call.b_point = b.step;
    call.c_point = c.step;
    call.b_column = call.c_column = code::lanes;
    code::template small<bytes, small_vectors::points>(call, a.packed.data(), b.packed.data(), c.packed.data(), true);
    for_each(c, [](T& into, const T& from) { into = from; });
    CHECK(c.memory == expected);
}

/// A product whose many long rows of A lie one behind the other, or a little apart: they are prefetched.
template <class T, instruction_set Set, index Bytes>
void check_long_rows(std::mt19937& random, index m, index n, index apart) {
    constexpr index k = 256 / static_cast<index>(sizeof(T)) + 3;
    constexpr index lanes = Bytes / static_cast<index>(sizeof(T));
    const bool add = n % lanes == 0 || has_masks(Set);
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(apart);
    std::vector<index> a_rows, c_rows;
    std::vector<small_step> along;
    for (index row = 0; row < m; ++row) {
        a_rows.push_back(row * (k + apart));
        c_rows.push_back(row * (n + apart));
    }
    for (index step = 0; step < k; ++step) {
        along.push_back({step, step * n});
    }
    std::vector<T> a(static_cast<std::size_t>(m * (k + apart)));
    std::vector<T> b(static_cast<std::size_t>(k * n));
    std::vector<T> c(static_cast<std::size_t>(m * (n + apart)), T(7));
    for (auto* values : {&a, &b}) {
        std::generate(values->begin(), values->end(), [&] { return small_integer<T>(random); });
    }
    std::vector<T> expected = c;
    for (index row = 0; row < m; ++row) {
        for (index column = 0; column < n; ++column) {
            T sum = 0;
            for (index step = 0; step < k; ++step) {
                sum += a[static_cast<std::size_t>(row * (k + apart) + step)] *
                       b[static_cast<std::size_t>(step * n + column)];
            }
            T& into = expected[static_cast<std::size_t>(row * (n + apart) + column)];
            into = (add ? into : T(0)) + sum;
        }
    }
    const T scale(1);
    small_call call{m, n, k, a_rows.data(), along.data(), c_rows.data(), &scale};
    call.is_even = are_even(call);
    vector_strip<T, Set>::template small<Bytes>(call, a.data(), b.data(), c.data(), add);
    CHECK(c == expected);
}

template <class T, instruction_set Set>
void check_small(std::mt19937& random) {
    using code = vector_strip<T, Set>;
    constexpr index bytes = code::lanes * static_cast<index>(sizeof(T));
    for (index m = 1; m <= 20; ++m) {
        for (const bool halves : {false, true}) {
            for (const index n :
                 {code::lanes, code::lanes + 1, 2 * code::lanes - 1, 2 * code::lanes, 3 * code::lanes - 1,
                  3 * code::lanes, 3 * code::lanes + 1, 5 * code::lanes, index{64}}) {
                check_small_product<T, Set, bytes>(random, m, n, halves);
            }
            for (index n = 1; has_masks(Set) && n <= 2 * code::lanes; ++n) {
                check_small_product<T, Set, bytes>(random, m, n, halves);
                check_small_product<T, Set, 16>(random, m, n, halves);
            }
            if constexpr (Set == instruction_set::avx2) {
                constexpr index half = code::lanes / 2;
                for (const index n : {half, half + 1, 2 * half}) {
                    check_small_product<T, Set, bytes / 2>(random, m, n, halves);
                }
            }
        }
    }
    for (const index m : {1, 2, 5, 6, 7, 9, 13}) {
        for (const index n : {1, 2, 3, 6}) {
            for (const index points : {1, 7, 16, 37}) {
                check_batch<T, Set>(random, m, n, 4, points);
            }
        }
    }
    for (const index m : {65, 70, 77, 100}) {
        for (const index n : {code::lanes, 2 * code::lanes, 3 * code::lanes, 4 * code::lanes, 5 * code::lanes + 1}) {
            check_long_rows<T, Set, bytes>(random, m, n, 0);
            check_long_rows<T, Set, bytes>(random, m, n, 5);
        }
    }
}

TEST_CASE_TEMPLATE("products in place", T, double, float, std::uint32_t) {
    std::mt19937 random(5);
    with_each_set([&]<instruction_set Set>() { check_small<T, Set>(random); });
}

}  // namespace

}  // namespace vector_strip_test
