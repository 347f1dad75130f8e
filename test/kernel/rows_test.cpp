// Nests that are walked row by row: operands that lie across the rows, outputs that go past the caches, long sums to
// few elements. Against plain loops.

#include "block_oracle.hpp"

#include <einparallel/notation/operations/operators.hpp>

#include <support/kernels.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rows_test {

namespace {

using einparallel::index;
using einparallel::label_id;
using einparallel::strided_block;
using einparallel::write_mode;
using einparallel::testing::join_kernel;
using einparallel::testing::product_kernel;
using namespace kernel_test;

/// A case in which every tensor has every label, in an order of its own; small integers, so that all is exact.
template <class T>
random_case<T> elementwise_case(random_source& random, std::size_t operands, std::size_t rank, index largest) {
    random_case<T> made;
    std::vector<label_id> labels;
    for (std::size_t label = 0; label < rank; ++label) {
        labels.push_back(static_cast<label_id>(label));
        made.extents.push_back(pick(random, 1, largest));
    }
    const auto fill = [&](strided_tensor<stored<T>>& tensor) {
        for (auto& element : tensor.memory) {
            element = static_cast<stored<T>>(static_cast<float>(pick(random, -3, 3)));
        }
    };
    for (std::size_t operand = 0; operand < operands; ++operand) {
        std::shuffle(labels.begin(), labels.end(), random);
        made.operands.push_back(random_layout<stored<T>>(random, labels, made.extents, true));
        fill(made.operands.back());
    }
    std::shuffle(labels.begin(), labels.end(), random);
    made.output = random_layout<stored<T>>(random, labels, made.extents, false);
    fill(made.output);
    return made;
}

/// The output's memory after into ⊕= value(elements) at every point.
template <class T, class Value>
std::vector<stored<T>> expected_of(const random_case<T>& made, bool combine, const Value& value) {
    std::vector<stored<T>> expected = made.output.memory;
    std::vector<T> elements(made.operands.size());
    made.for_each(made.labels_of(true), [&](const std::vector<index>& point) {
        for (std::size_t operand = 0; operand < elements.size(); ++operand) {
            const auto& tensor = made.operands[operand];
            elements[operand] = static_cast<T>(tensor.memory[static_cast<std::size_t>(tensor.offset(point))]);
        }
        auto& into = expected[static_cast<std::size_t>(made.output.offset(point))];
        const T result = value(elements);
        into = static_cast<stored<T>>(combine ? static_cast<T>(static_cast<T>(into) + result) : result);
    });
    return expected;
}

struct product_less_one {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a * b - T(1));
    }
};

}  // namespace

TEST_CASE_TEMPLATE("element by element, every tensor in an order of its own", T, double, float, int, std::int8_t,
                   std::uint16_t, std::complex<float>, std::complex<double>) {
    random_source random(40);
    for (int repetition = 0; repetition < 120; ++repetition) {
        CAPTURE(repetition);
        const auto operands = static_cast<std::size_t>(pick(random, 1, 3));
        const auto rank = static_cast<std::size_t>(pick(random, 2, 4));
        random_case<T> made = elementwise_case<T>(random, operands, rank,
                                                  rank == 2   ? (repetition % 8 == 0 ? 600 : 90)
                                                  : rank == 3 ? 30
                                                              : 11);
        const bool combine = pick(random, 0, 1) == 1;
        const T scale = pick(random, 0, 1) == 0 ? T(1) : T(2);
        const auto mode = combine ? write_mode::combine : write_mode::overwrite;
        const auto expected = expected_of<T>(made, combine, [&](const std::vector<T>& x) {
            T product = scale;
            for (const T& factor : x) {
                product = static_cast<T>(product * factor);
            }
            return product;
        });
        const auto before = made.output.memory;
        std::vector<strided_block> blocks;
        product_kernel<T>(scale, operands).contract(call_of(made, blocks, mode));
        CHECK(made.output.memory == expected);
        if (operands == 2) {
            made.output.memory = before;
            const auto joined =
                expected_of<T>(made, combine, [](const std::vector<T>& x) { return product_less_one{}(x[0], x[1]); });
            const join_kernel<T, einparallel::op::sum_type, product_less_one, T, T> kernel({}, {});
            kernel.contract(call_of(made, blocks, mode));
            CHECK(made.output.memory == joined);
        }
    }
}

TEST_CASE_TEMPLATE("short rows go on along a second label, summed or not", T, double, float, int, std::int8_t,
                   std::complex<float>) {
    random_source random(41);
    for (int repetition = 0; repetition < 250; ++repetition) {
        CAPTURE(repetition);
        random_case<T> made;
        made.extents = {pick(random, 2, 66), pick(random, 1, 300), pick(random, 1, 3)};
        const auto some = [&](bool all) {
            std::vector<label_id> labels;
            for (label_id label = 0; label < 3; ++label) {
                if (all || pick(random, 0, 2) > 0) {
                    labels.push_back(label);
                }
            }
            std::shuffle(labels.begin(), labels.end(), random);
            return labels;
        };
        const auto add = [&](const std::vector<label_id>& labels) {
            auto tensor = random_layout<stored<T>>(random, labels, made.extents, false);
            for (auto& element : tensor.memory) {
                element = static_cast<stored<T>>(static_cast<float>(pick(random, -3, 3)));
            }
            return tensor;
        };
        made.operands = {add(some(true)), add(some(false))};
        made.output = add(some(false));
        const bool combine = pick(random, 0, 1) == 1;
        std::vector<stored<T>> expected = made.output.memory;
        std::vector<bool> written(expected.size(), combine);
        made.for_each({0, 1, 2}, [&](const std::vector<index>& point) {
            const auto element = [&](const strided_tensor<stored<T>>& tensor) {
                return static_cast<T>(tensor.memory[static_cast<std::size_t>(tensor.offset(point))]);
            };
            const auto at = static_cast<std::size_t>(made.output.offset(point));
            const T value = product_less_one{}(element(made.operands[0]), element(made.operands[1]));
            expected[at] = written[at] ? static_cast<T>(expected[at] + value) : value;
            written[at] = true;
        });
        std::vector<strided_block> blocks;
        const join_kernel<T, einparallel::op::sum_type, product_less_one, T, T> kernel({}, {});
        kernel.contract(call_of(made, blocks, combine ? write_mode::combine : write_mode::overwrite));
        CHECK(made.output.memory == expected);
    }
}

TEST_CASE("element by element past the caches, operands of different types across the rows") {
    const std::vector<index> extents{1451, 1453};
    const std::vector<label_id> both{0, 1}, turned{1, 0};
    const std::vector<index> rows{1453, 1}, other_rows{1451, 1}, wider{1460, 1};
    const std::size_t points = 1451 * 1453;
    std::vector<float> x(points);
    std::vector<double> y(points);
    for (std::size_t at = 0; at < points; ++at) {
        x[at] = static_cast<float>(at % 1013);
        y[at] = static_cast<double>(at % 911);
    }
    std::vector<double> z(1451 * 1460, -1.0);
    const std::vector<strided_block> operands{{x.data(), turned, other_rows}, {y.data(), both, rows}};
    const auto difference = [](float a, double b) { return static_cast<double>(a) - b; };
    const join_kernel<double, einparallel::op::sum_type, decltype(difference), float, double> kernel({}, difference);
    kernel.contract({extents, operands, {z.data(), both, wider}, write_mode::overwrite});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 1451; ++i) {
        for (std::size_t j = 0; j < 1460; ++j) {
            const double expected = j < 1453 ? static_cast<double>(x[j * 1451 + i]) - y[i * 1453 + j] : -1.0;
            wrong += z[i * 1460 + j] == expected ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("sums of products of which one factor lies across the other", T, double, float, int) {
    // z(b) (+)= 2 · Σ x(b, i, j) · y(i, j, b) in several orders of y's dimensions, large and small.
    for (const index side : {3, 17, 40, 130}) {
        for (const index batch : {1, 2, 19}) {
            for (int order = 0; order < 4; ++order) {
                CAPTURE(side);
                CAPTURE(batch);
                CAPTURE(order);
                const index other = side + side / 2;
                const std::vector<index> extents{batch, side, other};
                const std::vector<label_id> all{0, 1, 2}, b{0};
                const std::vector<index> rows{side * other, other, 1}, apart{2};
                const std::vector<index> orders[4] = {{side * other, 1, side},
                                                      {1, other * batch, batch},
                                                      {side, 1, side * batch},
                                                      {-side * other, -1, -side}};
                const std::vector<index>& strides = orders[order];
                const index origin = order == 3 ? batch * side * other - 1 : 0;
                std::vector<T> x(static_cast<std::size_t>(batch * side * other));
                std::vector<T> y(x.size());
                for (std::size_t at = 0; at < x.size(); ++at) {
                    x[at] = static_cast<T>(static_cast<int>(at % 7) - 3);
                    y[at] = static_cast<T>(static_cast<int>(at % 5) - 2);
                }
                std::vector<T> z(static_cast<std::size_t>(2 * batch), T(1));
                std::vector<T> expected = z;
                for (index k = 0; k < batch; ++k) {
                    for (index i = 0; i < side; ++i) {
                        for (index j = 0; j < other; ++j) {
                            const index at = origin + k * strides[0] + i * strides[1] + j * strides[2];
                            expected[static_cast<std::size_t>(2 * k)] +=
                                T(2) * x[static_cast<std::size_t>((k * side + i) * other + j)] *
                                y[static_cast<std::size_t>(at)];
                        }
                    }
                }
                const std::vector<strided_block> operands{{x.data(), all, rows}, {y.data() + origin, all, strides}};
                product_kernel<T>(T(2), 2).contract({extents, operands, {z.data(), b, apart}, write_mode::combine});
                CHECK(z == expected);
                const join_kernel<T, einparallel::op::sum_type, product_less_one, T, T> kernel({}, {});
                kernel.contract({extents, operands, {z.data(), b, apart}, write_mode::overwrite});
                for (index k = 0; k < batch; ++k) {
                    const T doubled = expected[static_cast<std::size_t>(2 * k)] - T(1);
                    CHECK(z[static_cast<std::size_t>(2 * k)] + static_cast<T>(side * other) == doubled / T(2));
                }
            }
        }
    }
}

TEST_CASE("a factor across the rows is multiplied in place") {
    std::vector<double> x(70 * 50);
    std::vector<double> y(70 * 50);
    for (std::size_t at = 0; at < x.size(); ++at) {
        x[at] = static_cast<double>(at % 17);
        y[at] = static_cast<double>(at % 13);
    }
    std::vector<double> expected = x;
    for (std::size_t i = 0; i < 70; ++i) {
        for (std::size_t j = 0; j < 50; ++j) {
            expected[i * 50 + j] *= y[j * 70 + i];
        }
    }
    const std::vector<index> extents{70, 50};
    const std::vector<label_id> both{0, 1}, turned{1, 0};
    const std::vector<index> rows{50, 1}, other_rows{70, 1};
    const std::vector<strided_block> operands{{x.data(), both, rows}, {y.data(), turned, other_rows}};
    product_kernel<double>(1.0, 2).contract({extents, operands, {x.data(), both, rows}, write_mode::overwrite});
    CHECK(x == expected);
}

TEST_CASE_TEMPLATE("long sums and maxima to few elements", T, double, std::int64_t, float) {
    for (const index elements : {1, 2, 5, 16, 17}) {
        for (const bool across : {false, true}) {
            CAPTURE(elements);
            CAPTURE(across);
            const index length = (index{1} << 17) / elements + 1003;
            const index step = across ? elements : 1;  // along the sum
            const index other = across ? 1 : length;   // from one sum to the next
            const auto made = [&](index i, index j) { return static_cast<T>((i * 31 + j * 7) % 11 - 5); };
            std::vector<T> x(static_cast<std::size_t>(elements * length));
            std::vector<T> sums(static_cast<std::size_t>(elements), T(0));
            std::vector<T> most(static_cast<std::size_t>(elements), T(-100));
            for (index i = 0; i < elements; ++i) {
                for (index j = 0; j < length; ++j) {
                    const auto element = static_cast<std::size_t>(i);
                    x[static_cast<std::size_t>(i * other + j * step)] = made(i, j);
                    sums[element] = sums[element] + T(2) * made(i, j);
                    most[element] = std::max(most[element], static_cast<T>(made(i, j) + T(i)));
                }
            }
            std::vector<T> terms(static_cast<std::size_t>(elements));
            for (index i = 0; i < elements; ++i) {
                terms[static_cast<std::size_t>(i)] = static_cast<T>(i);
            }
            const std::vector<index> extents{elements, length};
            const std::vector<label_id> both{0, 1}, i{0};
            const std::vector<index> strides{other, step}, one{1}, apart{-3};
            std::vector<T> z(static_cast<std::size_t>(3 * elements), T(1));
            T* const last = z.data() + 3 * (elements - 1);
            const std::vector<strided_block> summed{{x.data(), both, strides}};
            product_kernel<T>(T(2), 1).contract({extents, summed, {last, i, apart}, write_mode::combine});
            const auto check = [&](const std::vector<T>& expected, T added) {
                for (index element = 0; element < elements; ++element) {
                    CHECK(last[-3 * element] == static_cast<T>(expected[static_cast<std::size_t>(element)] + added));
                }
            };
            check(sums, T(1));
            const auto plus = [](T a, T b) { return static_cast<T>(a + b); };
            const std::vector<strided_block> joined{{x.data(), both, strides}, {terms.data(), i, one}};
            const join_kernel<T, einparallel::op::max_type, decltype(plus), T, T> kernel({}, plus);
            kernel.contract({extents, joined, {last, i, apart}, write_mode::overwrite});
            check(most, T(0));
            CHECK(std::count(z.begin(), z.end(), T(1)) >= 2 * (elements - 1));
        }
    }
}

template <class T, class Reduce>
void check_short_rows(unsigned seed, const Reduce& reduce) {
    random_source random(seed);
    for (int repetition = 0; repetition < 200; ++repetition) {
        CAPTURE(repetition);
        random_case<T> made;
        // Label 0 is summed, above all where it is short; label 2 is summed in some cases.
        made.extents = {pick(random, 0, 3) == 0 ? pick(random, 100, 400) : pick(random, 1, 40), pick(random, 1, 100),
                        pick(random, 1, 3)};
        const auto add = [&](std::vector<label_id> labels, index largest) {
            if (pick(random, 0, 1) == 0) {
                std::shuffle(labels.begin(), labels.end(), random);
            }
            auto tensor = random_layout<stored<T>>(random, labels, made.extents, false);
            for (auto& element : tensor.memory) {
                element = static_cast<T>(pick(random, std::is_unsigned_v<T> ? 1 : -largest, largest));
            }
            return tensor;
        };
        const bool is_product = Reduce::code == einparallel::op_code::multiply;  // of 1 and −1, so that it is exact
        made.operands.push_back(add({1, 2, 0}, is_product ? 1 : 9));
        if constexpr (!std::is_unsigned_v<T>) {
            if (std::is_floating_point_v<T> && !is_product && pick(random, 0, 5) == 0) {
                auto& memory = made.operands[0].memory;
                memory[static_cast<std::size_t>(pick(random, 0, index(memory.size()) - 1))] =
                    static_cast<T>(std::numeric_limits<float>::quiet_NaN());
            }
        }
        made.output = add(pick(random, 0, 1) == 0 ? std::vector<label_id>{1} : std::vector<label_id>{1, 2}, 1);
        const bool combine = pick(random, 0, 1) == 1;
        std::vector<T> expected = made.output.memory;
        std::vector<bool> written(expected.size(), combine);
        made.for_each({0, 1, 2}, [&](const std::vector<index>& point) {
            const auto& x = made.operands[0];
            const T value = x.memory[static_cast<std::size_t>(x.offset(point))];
            const auto at = static_cast<std::size_t>(made.output.offset(point));
            expected[at] = written[at] ? reduce(expected[at], value) : value;
            written[at] = true;
        });
        std::vector<strided_block> blocks;
        const write_mode mode = combine ? write_mode::combine : write_mode::overwrite;
        using tree = einparallel::detail::tree_function<einparallel::detail::pick<0, T>>;
        using negated = decltype([](T x) { return static_cast<T>(T(0) - x); });
        if (pick(random, 0, 1) == 0) {
            join_kernel<T, Reduce, tree, T>(reduce, {}).contract(call_of(made, blocks, mode));
        } else {
            for (T& each : made.operands[0].memory) {
                each = static_cast<T>(T(0) - each);
            }
            join_kernel<T, Reduce, negated, T>(reduce, {}).contract(call_of(made, blocks, mode));
        }
        const bool is_same =
            std::equal(expected.begin(), expected.end(), made.output.memory.begin(),
                       [](T left, T right) { return left == right || (left != left && right != right); });
        CHECK(is_same);
    }
}

TEST_CASE_TEMPLATE("short rows are summed in the lanes of vectors", T, double, float, int, std::int64_t, std::uint32_t,
                   std::int8_t) {
    check_short_rows<T>(51, einparallel::op::sum_type{});
    check_short_rows<T>(52, einparallel::op::prod_type{});
    check_short_rows<T>(53, einparallel::op::max_type{});
    check_short_rows<T>(54, einparallel::op::min_type{});
}

}  // namespace rows_test
