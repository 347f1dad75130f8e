// Σ of products on strided blocks against plain recursion over all labels.

#include <support/kernels.hpp>

#include "../block_oracle.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

namespace contract_test {

namespace {

using einparallel::block_call;
using einparallel::index;
using einparallel::label_id;
using einparallel::strided_block;
using einparallel::write_mode;
using einparallel::testing::product_kernel;
using namespace kernel_test;

// The oracle's own arithmetic.
template <class T>
struct plain_arithmetic {
    static T multiply(T a, T b) {
        if constexpr (std::is_same_v<T, bool>) {
            return a && b;
        } else if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
        } else {
            return a * b;
        }
    }
    static T add(T a, T b) {
        if constexpr (std::is_same_v<T, bool>) {
            return a || b;
        } else if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
        } else {
            return a + b;
        }
    }
};

template <class T>
double distance(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) {
        return a == b ? 0 : 1;
    } else if constexpr (std::is_integral_v<T>) {
        return a == b ? 0 : 1;
    } else {
        return static_cast<double>(std::abs(a - b));
    }
}

template <class T>
double tolerance() {
    if constexpr (std::is_integral_v<T>) {
        return 0;
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>) {
        return 1e-5;
    } else {
        return 1e-13;
    }
}

/// Runs the case through the kernel and through recursion, compares every element of the output's memory, also those
/// between its strides.
template <class T>
void check(random_case<T>& made, random_source& random) {
    using A = plain_arithmetic<T>;
    const bool combine = pick(random, 0, 1) == 1;
    const T scale = pick(random, 0, 1) == 0 ? T(1) : static_cast<T>(random_value<T>(random));
    for (auto& element : made.output.memory) {
        element = static_cast<stored<T>>(combine ? random_value<T>(random) : poison<T>());
    }
    auto expected = made.output.memory;
    std::vector<double> weight(expected.size(), 1.0);
    std::vector<bool> touched(expected.size(), false);
    const std::vector<label_id> outer = made.labels_of(true);
    std::vector<label_id> all = outer;
    for (const label_id label : made.labels_of(false)) {
        all.push_back(label);
    }
    std::vector<T> sums(expected.size(), T{});
    made.for_each(all, [&](const std::vector<index>& point) {
        T product = T(1);
        for (const auto& operand : made.operands) {
            product =
                A::multiply(product, static_cast<T>(operand.memory[static_cast<std::size_t>(operand.offset(point))]));
        }
        const auto at = static_cast<std::size_t>(made.output.offset(point));
        sums[at] = A::add(sums[at], A::multiply(scale, product));
        weight[at] += distance(product, T{}) * 4;
    });
    made.for_each(outer, [&](const std::vector<index>& point) {
        const auto at = static_cast<std::size_t>(made.output.offset(point));
        REQUIRE_FALSE(touched[at]);
        touched[at] = true;
        const T before = static_cast<T>(expected[at]);
        expected[at] = static_cast<stored<T>>(combine ? A::add(before, sums[at]) : T(sums[at]));
    });

    std::vector<strided_block> blocks;
    const product_kernel<T> kernel(scale, made.operands.size());
    kernel.contract(call_of(made, blocks, combine ? write_mode::combine : write_mode::overwrite));
    std::size_t wrong = 0;
    for (std::size_t at = 0; at < expected.size(); ++at) {
        const auto value = made.output.memory[at];
        if (touched[at]) {
            const double error = distance(static_cast<T>(value), static_cast<T>(expected[at]));
            wrong += error <= tolerance<T>() * weight[at] ? 0 : 1;
        } else if constexpr (std::is_integral_v<T>) {
            wrong += value == expected[at] ? 0 : 1;
        } else {
            wrong +=
                value == expected[at] || (std::isnan(std::abs(value)) && std::isnan(std::abs(expected[at]))) ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE_TEMPLATE("contract_product agrees with plain loops on random blocks", T, double, float, std::complex<double>,
                   std::complex<float>, int, std::int8_t, std::uint16_t, std::int64_t, bool) {
    random_source random(20);
    for (std::size_t operand_count = 1; operand_count <= 5; ++operand_count) {
        for (int repetition = 0; repetition < 150; ++repetition) {
            CAPTURE(operand_count);
            CAPTURE(repetition);
            random_case<T> made = make_case<T>(random, operand_count, 6, 7, 3000);
            check(made, random);
        }
    }
}

TEST_CASE_TEMPLATE("contract_product agrees with plain loops on pairs large enough for blocked products", T, double,
                   float, std::complex<double>, int) {
    random_source random(21);
    for (int repetition = 0; repetition < 150; ++repetition) {
        CAPTURE(repetition);
        random_case<T> made = make_case<T>(random, 2, 5, 67, 100000);
        check(made, random);
    }
}

TEST_CASE_TEMPLATE("batches of products that each ask for what the next one needs", T, double, float) {
    const label_id x = 0;
    const label_id i = 1;
    const label_id j = 2;
    const label_id k = 3;
    for (const auto& [m, n, depth] : {std::array<index, 3>{30, 32, 40}, {64, 64, 64}, {7, 48, 60}, {50, 17, 64}}) {
        for (const bool turned : {false, true}) {
            for (const bool shared : {false, true}) {
                const index batch = 5;
                const std::vector<index> extents{batch, m, depth, n};
                std::vector<T> a(static_cast<std::size_t>(batch * m * depth));
                std::vector<T> b(static_cast<std::size_t>((shared ? 1 : batch) * depth * n));
                std::vector<T> c(static_cast<std::size_t>(batch * m * n), T(-1));
                for (std::size_t at = 0; at < a.size(); ++at) {
                    a[at] = static_cast<T>(at * 7 % 9) - 4;
                }
                for (std::size_t at = 0; at < b.size(); ++at) {
                    b[at] = static_cast<T>(at * 5 % 11) - 5;
                }
                const std::vector<label_id> a_labels{x, i, j};
                const std::vector<label_id> b_labels{x, j, k};
                const std::vector<label_id> c_labels{x, i, k};
                const std::vector<index> a_strides{m * depth, turned ? 1 : depth, turned ? m : 1};
                const std::vector<index> b_strides{shared ? 0 : depth * n, n, 1};
                const std::vector<index> c_strides{m * n, n, 1};
                const std::vector<strided_block> operands{{a.data(), a_labels, a_strides},
                                                          {b.data(), b_labels, b_strides}};
                product_kernel<T>(T(2), 2).contract(
                    {extents, operands, {c.data(), c_labels, c_strides}, write_mode::overwrite});
                index wrong = 0;
                for (index number = 0; number < batch; ++number) {
                    for (index row = 0; row < m; ++row) {
                        for (index column = 0; column < n; ++column) {
                            T sum = 0;
                            for (index step = 0; step < depth; ++step) {
                                sum += a[static_cast<std::size_t>(number * a_strides[0] + row * a_strides[1] +
                                                                  step * a_strides[2])] *
                                       b[static_cast<std::size_t>(number * b_strides[0] + step * n + column)];
                            }
                            wrong += c[static_cast<std::size_t>((number * m + row) * n + column)] == 2 * sum ? 0 : 1;
                        }
                    }
                }
                CHECK(wrong == 0);
            }
        }
    }
}

TEST_CASE_TEMPLATE("batches along which all three tensors are contiguous", T, double, float, std::complex<double>,
                   int) {
    // a(i, p, j, x) · b(j, p, k, x), where the sum over (p, j) is two loops for b, and one for a only where it has no
    // gap.
    random_source random(23);
    const std::vector<label_id> a_labels{0, 1, 2, 4};
    const std::vector<label_id> b_labels{2, 1, 3, 4};
    const std::vector<label_id> c_labels{3, 0, 4};
    for (const auto& [m, p, depth, n] : {std::array<index, 4>{2, 1, 2, 16},
                                         {3, 1, 5, 7},
                                         {8, 1, 8, 8},
                                         {13, 2, 3, 5},
                                         {16, 4, 4, 16},
                                         {1, 8, 2, 9},
                                         {33, 1, 64, 6},
                                         {7, 3, 21, 64}}) {
        for (const index batch : {8, 9, 15, 33, 700}) {
            for (const write_mode mode : {write_mode::overwrite, write_mode::combine}) {
                CAPTURE(m);
                CAPTURE(batch);
                const index row = batch + 3;  // elements beside the points stay as they are
                const std::vector<index> extents{m, p, depth, n, batch};
                std::vector<T> a(static_cast<std::size_t>(m * p * depth * row));
                std::vector<T> b(static_cast<std::size_t>(depth * p * n * row));
                for (std::vector<T>* const filled : {&a, &b}) {
                    for (T& value : *filled) {
                        value = static_cast<T>(static_cast<int>(random() % 9) - 4);
                    }
                }
                std::vector<T> c(static_cast<std::size_t>(m * n * row), static_cast<T>(100));
                std::vector<T> expected = c;
                const std::vector<index> a_strides{p * depth * row, depth * row, row, 1};
                const std::vector<index> b_strides{p * n * row, n * row, row, 1};
                const std::vector<index> c_strides{m * row, row, 1};
                for (index i = 0; i < m; ++i) {
                    for (index k = 0; k < n; ++k) {
                        for (index x = 0; x < batch; ++x) {
                            T sum{};
                            for (index j = 0; j < depth; ++j) {
                                for (index q = 0; q < p; ++q) {
                                    sum += a[static_cast<std::size_t>(((i * p + q) * depth + j) * row + x)] *
                                           b[static_cast<std::size_t>(((j * p + q) * n + k) * row + x)];
                                }
                            }
                            T& into = expected[static_cast<std::size_t>((k * m + i) * row + x)];
                            into = static_cast<T>(mode == write_mode::combine ? into : T{}) + static_cast<T>(3) * sum;
                        }
                    }
                }
                const std::vector<strided_block> operands{{a.data(), a_labels, a_strides},
                                                          {b.data(), b_labels, b_strides}};
                product_kernel<T>(static_cast<T>(3), 2)
                    .contract({extents, operands, {c.data(), c_labels, c_strides}, mode});
                CHECK(c == expected);
            }
        }
    }
}

TEST_CASE_TEMPLATE("products with short labels in any layout", T, double, float, std::int32_t, std::int64_t,
                   std::uint64_t, std::complex<double>, std::int16_t) {
    // a(x, y, i, j) · b(x, y, j, k): the dimensions of each tensor lie in an order of their own, some of them
    // backwards, some with gaps. One label is long, or none.
    random_source random(64);
    const auto one_of = [&](std::initializer_list<index> list) { return list.begin()[random() % list.size()]; };
    enum : label_id { x, y, i, j, k };
    const std::array<std::vector<label_id>, 3> labels{{{x, y, i, k}, {x, y, i, j}, {x, y, j, k}}};
    for (int round = 0; round < 250; ++round) {
        std::vector<index> extents{one_of({1, 7, 8, 9, 33, 100}), one_of({1, 1, 2, 9}), one_of({1, 2, 3, 4, 5, 8, 13}),
                                   one_of({1, 2, 3, 4, 8, 16, 31}), one_of({1, 2, 3, 4, 5, 8, 13, 20})};
        extents[random() % 5] = one_of({2, 6, 31, 70, 517, 1030});
        if (einparallel::detail::element_count(extents) > 200000) {
            continue;
        }
        std::array<std::vector<T>, 3> memory;
        std::array<std::vector<index>, 3> strides;
        std::array<index, 3> first{};
        for (std::size_t tensor = 0; tensor < 3; ++tensor) {
            std::vector<std::size_t> order{0, 1, 2, 3};
            std::shuffle(order.begin(), order.end(), random);
            strides[tensor].resize(4);
            index size = 1;
            for (const std::size_t dimension : order) {
                const index extent = extents[static_cast<std::size_t>(labels[tensor][dimension])];
                strides[tensor][dimension] = size;
                size *= extent + (random() % 5 == 0 ? 1 : 0);
                if (random() % 6 == 0) {
                    first[tensor] += (extent - 1) * strides[tensor][dimension];
                    strides[tensor][dimension] *= -1;
                }
            }
            for (index element = 0; element < size; ++element) {
                memory[tensor].push_back(static_cast<T>(static_cast<int>(random() % 9) - 4));
            }
        }
        const write_mode mode = random() % 3 == 0 ? write_mode::combine : write_mode::overwrite;
        const T scale = static_cast<T>(std::array{1, 1, 3, -1}[random() % 4]);
        std::vector<T> expected = memory[0];
        const auto at = [&](std::size_t tensor, std::array<index, 4> point) {
            index place = first[tensor];
            for (std::size_t dimension = 0; dimension < 4; ++dimension) {
                place += point[dimension] * strides[tensor][dimension];
            }
            return static_cast<std::size_t>(place);
        };
        for (index each = 0; each < extents[x] * extents[y] * extents[i] * extents[k]; ++each) {
            const index column = each % extents[k];
            const index row = each / extents[k] % extents[i];
            const index one = each / (extents[k] * extents[i]) % extents[y];
            const index other = each / (extents[k] * extents[i] * extents[y]);
            T sum{};
            for (index depth = 0; depth < extents[j]; ++depth) {
                sum = plain_arithmetic<T>::add(
                    sum, plain_arithmetic<T>::multiply(memory[1][at(1, {other, one, row, depth})],
                                                       memory[2][at(2, {other, one, depth, column})]));
            }
            T& into = expected[at(0, {other, one, row, column})];
            into = plain_arithmetic<T>::add(mode == write_mode::combine ? into : T{},
                                            plain_arithmetic<T>::multiply(scale, sum));
        }
        const std::vector<strided_block> operands{{memory[1].data() + first[1], labels[1], strides[1]},
                                                  {memory[2].data() + first[2], labels[2], strides[2]}};
        product_kernel<T>(scale, 2).contract(
            {extents, operands, {memory[0].data() + first[0], labels[0], strides[0]}, mode});
        INFO("round " << round);
        CHECK(memory[0] == expected);
    }
}

/// z(i, j) (+)= Σ over s and k of x(s, i, j, k) · y(s, i, k), dense, with operands of type X.
template <class T, class X>
void check_dots(index sums, index rows, index length, write_mode mode) {
    CAPTURE(sums);
    CAPTURE(rows);
    CAPTURE(length);
    const std::vector<label_id> matrix{3, 0, 1, 2};
    const std::vector<label_id> vector{3, 0, 2};
    const std::vector<label_id> result{0, 1};
    const std::vector<index> extents{3, rows, length, sums};
    std::vector<X> x(static_cast<std::size_t>(sums * 3 * rows * length));
    std::vector<X> y(static_cast<std::size_t>(sums * 3 * length));
    for (std::size_t at = 0; at < x.size(); ++at) {
        x[at] = static_cast<X>(static_cast<float>(at * 7 % 9) - 4);
    }
    for (std::size_t at = 0; at < y.size(); ++at) {
        y[at] = static_cast<X>(static_cast<float>(at * 5 % 11) - 5);
    }
    std::vector<T> z(static_cast<std::size_t>(3 * rows), T(100));
    std::vector<T> expected = z;
    for (index at = 0; at < 3 * rows; ++at) {
        T sum = mode == write_mode::combine ? T(100) : T(0);
        for (index each = 0; each < sums; ++each) {
            for (index step = 0; step < length; ++step) {
                sum += static_cast<T>(x[static_cast<std::size_t>((each * 3 * rows + at) * length + step)]) *
                       static_cast<T>(y[static_cast<std::size_t>((each * 3 + at / rows) * length + step)]);
            }
        }
        expected[static_cast<std::size_t>(at)] = sum;
    }
    const std::vector<index> x_strides{3 * rows * length, rows * length, length, 1};
    const std::vector<index> y_strides{3 * length, length, 1};
    const std::vector<index> z_strides{rows, 1};
    const auto type = einparallel::element_type_of<X>();
    const std::vector<strided_block> operands{{x.data(), type, matrix, x_strides}, {y.data(), type, vector, y_strides}};
    const strided_block output{z.data(), einparallel::element_type_of<T>(), result, z_strides};
    einparallel::detail::contract_product<T>({extents, operands, output, mode}, T(1));
    CHECK(z == expected);
}

TEST_CASE_TEMPLATE("dot products along the output, some at once", T, double, float) {
    for (const index sums : {1, 2, 5}) {
        for (const index rows : {1, 3, 4, 5, 7, 9, 30}) {
            for (const index length : {16, 33, 300, 70000}) {
                for (const write_mode mode : {write_mode::overwrite, write_mode::combine}) {
                    if (sums == 1 || length < 70000) {
                        check_dots<T, T>(sums, rows, length, mode);
                        check_dots<T, float>(sums, rows, length, mode);
                        check_dots<T, einparallel::bfloat16>(sums, rows, length, mode);
                    }
                }
            }
        }
    }
}

TEST_CASE("contract_product: more labels than fit the stack") {
    random_source random(22);
    for (int repetition = 0; repetition < 60; ++repetition) {
        CAPTURE(repetition);
        random_case<double> made = make_case<double>(random, 1 + static_cast<std::size_t>(repetition) % 3, 40, 2, 2000);
        check(made, random);
    }
}

TEST_CASE("contract_product leaves an element-wise product in place") {
    std::vector<double> x{1, 2, 3, 4, 5, 6};
    const std::vector<double> y{10, 20, 30};
    const std::vector<label_id> matrix{0, 1};
    const std::vector<label_id> vector{1};
    const std::vector<index> strides{3, 1};
    const std::vector<index> one{1};
    const std::vector<index> extents{2, 3};
    const std::vector<strided_block> operands{{x.data(), matrix, strides}, {y.data(), vector, one}};
    product_kernel<double>(1.0, 2).contract({extents, operands, {x.data(), matrix, strides}, write_mode::overwrite});
    CHECK(x == std::vector<double>{10, 40, 90, 40, 100, 180});
}

TEST_CASE("product_kernel combines boxes and says what it is") {
    random_source random(23);
    const product_kernel<float> kernel(1.0F, 2);
    std::vector<float> into(60);
    std::vector<float> from(60);
    for (std::size_t at = 0; at < 60; ++at) {
        into[at] = random_value<float>(random);
        from[at] = random_value<float>(random);
    }
    std::vector<float> expected = into;
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
            expected[20 * i + 2 * j] += from[i + 3 * j];
        }
    }
    const std::vector<index> extents{3, 4};
    const std::vector<index> into_strides{20, 2};
    const std::vector<index> from_strides{1, 3};
    kernel.combine(extents, into.data(), into_strides, from.data(), from_strides);
    CHECK(into == expected);
    const std::vector<index> nothing{3, 0};
    kernel.combine(nothing, into.data(), into_strides, from.data(), from_strides);
    CHECK(into == expected);
    CHECK(kernel.is_contraction());
    CHECK(kernel.operations_per_point() == 2.0);
    CHECK(kernel.program().formula() == "sum x*y");
    CHECK(kernel.program().type() == einparallel::element_type{'f', 4});
    CHECK_FALSE(product_kernel<float>(1.0F, 3).is_contraction());
}

}  // namespace contract_test
