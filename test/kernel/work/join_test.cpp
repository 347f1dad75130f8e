// General ⊕ and ⊗ on strided blocks against plain recursion over all labels.

#include <support/kernels.hpp>

#include "../block_oracle.hpp"

#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace join_test {

namespace {

using einparallel::index;
using einparallel::label_id;
using einparallel::strided_block;
using einparallel::write_mode;
using einparallel::testing::join_kernel;
using namespace kernel_test;

struct largest {
    template <class T>
    static constexpr T identity() {
        return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                    : std::numeric_limits<T>::lowest();
    }
    template <class T>
    T operator()(T a, T b) const {
        return a < b || b != b ? b : a;
    }
};
struct total {
    template <class T>
    static constexpr T identity() {
        return T(0);
    }
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a + b);
    }
};
struct all_of {
    template <class T>
    static constexpr T identity() {
        return T(true);
    }
    bool operator()(bool a, bool b) const { return a && b; }
};

struct apart {
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? static_cast<T>(b - a) : static_cast<T>(a - b);
    }
};
struct square_of_difference {
    template <class T>
    T operator()(T a, T b) const {
        return (a - b) * (a - b);
    }
};
struct shifted {
    int by;
    template <class T>
    T operator()(T a) const {
        return static_cast<T>(a + static_cast<T>(by));
    }
};
struct fused {
    template <class T>
    T operator()(T a, T b, T c) const {
        return a * b - c;
    }
};
struct first_or_not_second {
    bool operator()(bool a, bool b) const { return a || !b; }
};

template <class T>
bool close(T a, T b, double weight) {
    if constexpr (std::is_integral_v<T>) {
        return a == b;
    } else {
        return static_cast<double>(std::abs(a - b)) <=
               64 * weight * static_cast<double>(std::numeric_limits<T>::epsilon());
    }
}

/// The same case through the kernel and through recursion that starts from the first point, not from the identity.
template <class T, class Reduce, class Function, std::size_t Operands>
void check(Reduce reduce, Function function, std::uint64_t seed) {
    random_source random(seed);
    for (int repetition = 0; repetition < 250; ++repetition) {
        CAPTURE(repetition);
        random_case<T> made = repetition % 10 == 0 ? make_case<T>(random, Operands, 4, 300, 30000)
                                                   : make_case<T>(random, Operands, 6, 7, 2000);
        const bool combine = pick(random, 0, 1) == 1;
        for (auto& element : made.output.memory) {
            element = static_cast<stored<T>>(combine ? random_value<T>(random) : poison<T>());
        }
        const auto before = made.output.memory;
        // In double, lest the oracle's own rounding be what is measured.
        using W = std::conditional_t<std::is_same_v<T, float>, double, T>;
        std::vector<std::optional<W>> results(before.size());
        std::vector<double> weight(before.size(), 8);
        const std::vector<label_id> outer = made.labels_of(true);
        std::vector<label_id> all = outer;
        for (const label_id label : made.labels_of(false)) {
            all.push_back(label);
        }
        made.for_each(outer, [&](const std::vector<index>& point) {
            results[static_cast<std::size_t>(made.output.offset(point))] = Reduce::template identity<W>();
        });
        const bool aggregated = all.size() > outer.size();
        made.for_each(all, [&](const std::vector<index>& point) {
            const W value = [&]<std::size_t... R>(std::index_sequence<R...>) {
                return static_cast<W>(function(static_cast<W>(
                    made.operands[R].memory[static_cast<std::size_t>(made.operands[R].offset(point))])...));
            }
            (std::make_index_sequence<Operands>{});
            std::optional<W>& result = results[static_cast<std::size_t>(made.output.offset(point))];
            result = aggregated ? static_cast<W>(reduce(*result, value)) : value;
            weight[static_cast<std::size_t>(made.output.offset(point))] += std::abs(static_cast<double>(value));
        });
        std::vector<strided_block> blocks;
        [&]<std::size_t... R>(std::index_sequence<R...>) {
            const join_kernel<T, Reduce, Function, std::conditional_t<R == R, T, T>...> kernel(reduce, function);
            kernel.contract(call_of(made, blocks, combine ? write_mode::combine : write_mode::overwrite));
        }
        (std::make_index_sequence<Operands>{});
        std::size_t wrong = 0;
        for (std::size_t at = 0; at < before.size(); ++at) {
            const T now = static_cast<T>(made.output.memory[at]);
            const T then = static_cast<T>(before[at]);
            if (!results[at].has_value()) {
                wrong += now == then || (now != now && then != then) ? 0 : 1;
            } else {
                const T expected =
                    static_cast<T>(combine ? static_cast<W>(reduce(static_cast<W>(then), *results[at])) : *results[at]);
                wrong += now == expected || close<T>(now, expected, weight[at]) ? 0 : 1;
            }
        }
        CHECK(wrong == 0);
    }
}

}  // namespace

// First, for what is found out once is found out here.
TEST_CASE("join_kernel: maxima of numbers raise no flag and no signal, whatever the output held") {
    const std::vector<double> x(32 * 32, 1.0);
    std::vector<double> z(32 * 32, std::numeric_limits<double>::quiet_NaN());
    const std::vector<index> extents{32, 32, 32};
    const std::vector<index> strides{32, 1};
    const std::vector<label_id> a{0, 1};
    const std::vector<label_id> b{1, 2};
    const std::vector<label_id> c{0, 2};
    const std::vector<strided_block> operands{{x.data(), a, strides}, {x.data(), b, strides}};
    const join_kernel<double, einparallel::op::max_type, einparallel::detail::plus, double, double> kernel({}, {});
    std::feclearexcept(FE_ALL_EXCEPT);
#if defined(__GLIBC__)
    feenableexcept(FE_INVALID);
#endif
    kernel.contract({extents, operands, {z.data(), c, strides}, write_mode::overwrite});
#if defined(__GLIBC__)
    fedisableexcept(FE_INVALID);
#endif
    CHECK(std::fetestexcept(FE_INVALID) == 0);
    CHECK(z == std::vector<double>(32 * 32, 2.0));
}

TEST_CASE("join_kernel agrees with plain loops on random blocks") {
    check<double, largest, apart, 2>({}, {}, 1);
    check<float, largest, apart, 2>({}, {}, 2);
    check<int, largest, apart, 2>({}, {}, 3);
    check<double, total, square_of_difference, 2>({}, {}, 4);
    check<float, total, square_of_difference, 2>({}, {}, 5);
    check<double, largest, shifted, 1>({}, {3}, 6);
    check<std::int64_t, total, shifted, 1>({}, {-2}, 7);
    check<double, total, fused, 3>({}, {}, 8);
    check<int, largest, fused, 3>({}, {}, 9);
    check<bool, all_of, first_or_not_second, 2>({}, {}, 10);
}

TEST_CASE("join_kernel: operands and output of different types") {
    const auto scaled = [](float x, std::complex<double> y, int z) {
        return static_cast<double>(x) * y.real() + static_cast<double>(z);
    };
    const std::vector<float> x{1, 2, 3};
    const std::vector<std::complex<double>> y{{1, 9}, {10, 9}};
    const std::vector<int> z{5, 6, 7, 8, 9, 10};
    std::vector<double> result(2, std::numeric_limits<double>::quiet_NaN());
    const std::vector<index> extents{3, 2};
    const std::vector<label_id> i{0}, j{1}, both{1, 0};
    const std::vector<index> one{1}, rows{3, 1};
    const std::vector<strided_block> operands{{x.data(), i, one}, {y.data(), j, one}, {z.data(), both, rows}};
    const join_kernel<double, total, decltype(scaled), float, std::complex<double>, int> kernel({}, scaled);
    kernel.contract({extents, operands, {result.data(), j, one}, write_mode::overwrite});
    CHECK(result == std::vector<double>{6.0 + 18.0, 60.0 + 27.0});
}

TEST_CASE("join_kernel works in place, element by element") {
    std::vector<double> x(1000);
    std::vector<double> expected(1000);
    std::vector<double> row(40);
    for (std::size_t at = 0; at < x.size(); ++at) {
        x[at] = static_cast<double>(at);
    }
    for (std::size_t at = 0; at < row.size(); ++at) {
        row[at] = 0.5 * static_cast<double>(at);
    }
    for (std::size_t at = 0; at < x.size(); ++at) {
        expected[at] = std::abs(x[at] - row[at / 25]);
    }
    const std::vector<index> extents{40, 25};
    const std::vector<label_id> both{0, 1}, i{0};
    const std::vector<index> rows{25, 1}, one{1};
    const std::vector<strided_block> operands{{x.data(), both, rows}, {row.data(), i, one}};
    const join_kernel<double, total, apart, double, double> kernel({}, {});
    kernel.contract({extents, operands, {x.data(), both, rows}, write_mode::overwrite});
    CHECK(x == expected);
    kernel.contract({extents, operands, {x.data(), both, rows}, write_mode::combine});
    for (std::size_t at = 0; at < x.size(); ++at) {
        expected[at] += std::abs(expected[at] - row[at / 25]);
    }
    CHECK(x == expected);
}

TEST_CASE("join_kernel: NaN, signed zero and what a functor throws pass through") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> x(700, 1.0);
    x[333] = nan;
    double result = 0;
    const std::vector<index> extents{700};
    const std::vector<label_id> i{0}, none;
    const std::vector<index> one{1}, no_strides;
    const std::vector<strided_block> operands{{x.data(), i, one}};
    const join_kernel<double, largest, shifted, double> kernel({}, {0});
    kernel.contract({extents, operands, {&result, none, no_strides}, write_mode::overwrite});
    CHECK(std::isnan(result));

    const auto negative_zero = [](double) { return -0.0; };
    const join_kernel<double, total, decltype(negative_zero), double> zeros({}, negative_zero);
    std::vector<double> z(700, nan);
    zeros.contract({extents, operands, {z.data(), i, one}, write_mode::overwrite});
    CHECK(std::signbit(z[0]));
    CHECK(std::signbit(z[699]));

    const auto throwing = [](double value) { return value != value ? throw std::runtime_error("no") : value; };
    const join_kernel<double, total, decltype(throwing), double> failing({}, throwing);
    CHECK_THROWS_AS(failing.contract({extents, operands, {z.data(), i, one}, write_mode::overwrite}),
                    std::runtime_error);
}

TEST_CASE("join_kernel combines boxes with its own reduction and says what it is") {
    const join_kernel<float, largest, shifted, float> kernel({}, {0});
    std::vector<float> into{1, 5, 3, 7, 2, 6};
    const std::vector<float> from{4, 0, 9, 3, 1, 8};
    const std::vector<index> extents{2, 3}, rows{3, 1}, columns{1, 2};
    kernel.combine(extents, into.data(), rows, from.data(), columns);
    CHECK(into == std::vector<float>{4, 9, 3, 7, 3, 8});
    CHECK_FALSE(kernel.is_contraction());
    CHECK(kernel.operations_per_point() == 2.0);
}

}  // namespace join_test
