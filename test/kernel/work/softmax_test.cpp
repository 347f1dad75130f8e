// exp of rows against the C library, in units in the last place, and softmax of strided blocks against scalar loops.

#include <einparallel/array/array.hpp>
#include <einparallel/array/einsum.hpp>
#include <einparallel/kernel/simd/vector_math.hpp>
#include <einparallel/kernel/work/softmax.hpp>
#include <einparallel/notation/row_functions.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace softmax_test {

namespace {

namespace ep = einparallel;
using ep::index;
using ep::label_id;
using ep::detail::instruction_set;
using ep::detail::vector_math;

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
double units_apart(T found, T of_argument) {
    const long double exact = std::exp(static_cast<long double>(of_argument));
    const T rounded = static_cast<T>(exact);
    const long double unit = std::nextafter(rounded, infinity<T>) - rounded;
    return static_cast<double>(std::abs((static_cast<long double>(found) - exact) / unit));
}

template <class T, instruction_set Set>
void check_exponentials() {
    if (!ep::detail::supported(Set)) {
        return;
    }
    CAPTURE(ep::detail::name_of(Set));
    const T overflows = sizeof(T) == 8 ? T(709.79) : T(88.73);
    const T underflows = sizeof(T) == 8 ? T(-745.14) : T(-103.98);
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> anywhere(static_cast<double>(underflows),
                                                    static_cast<double>(overflows) - 0.1);
    std::uniform_real_distribution<double> near_zero(-1, 1);
    std::vector<T> arguments(4099);
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        arguments[at] = static_cast<T>(at % 2 == 0 ? anywhere(random) : near_zero(random));
    }
    std::vector<T> found = arguments;
    vector_math<T, Set>::template row<ep::op_code::exp>(found.data(), found.data(), nullptr,
                                                        static_cast<index>(found.size()));
    double worst = 0;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        worst = std::max(worst, units_apart(found[at], arguments[at]));
    }
    CHECK(worst < 2);
    // What lies beyond, in every lane and in rows shorter than a vector.
    const T none = std::numeric_limits<T>::quiet_NaN();
    for (std::size_t length = 1; length <= 19; ++length) {
        for (const auto& [argument, expected] : {std::array<T, 2>{T(0), T(1)},
                                                 {-T(0), T(1)},
                                                 {infinity<T>, infinity<T>},
                                                 {-infinity<T>, T(0)},
                                                 {overflows, infinity<T>},
                                                 {underflows * T(1.01), T(0)},
                                                 {T(-1e30F), T(0)},
                                                 {T(1e30F), infinity<T>}}) {
            std::vector<T> row(length + 1, argument);
            row.back() = T(7);
            vector_math<T, Set>::template row<ep::op_code::exp>(row.data(), row.data(), nullptr,
                                                                static_cast<index>(length));
            CHECK(std::all_of(row.begin(), row.end() - 1, [value = expected](T each) { return each == value; }));
            CHECK(row.back() == T(7));
        }
        std::vector<T> row(length, none);
        vector_math<T, Set>::template row<ep::op_code::exp>(row.data(), row.data(), nullptr,
                                                            static_cast<index>(length));
        CHECK(std::all_of(row.begin(), row.end(), [](T each) { return std::isnan(each); }));
    }
}

/// Memory for extents in a random order of dimensions, with gaps and reversals.
template <class T>
struct strided {
    std::vector<index> strides;
    std::vector<T> memory;
    index origin = 0;

    strided(const std::vector<index>& extents, bool dense, std::mt19937_64& random) : strides(extents.size()) {
        std::vector<std::size_t> order(extents.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random);
        index stride = dense ? 1 : 1 + static_cast<index>(random() % 2);
        for (const std::size_t dimension : order) {
            const index room = extents[dimension] + (dense ? 0 : static_cast<index>(random() % 3));
            const bool reversed = !dense && random() % 4 == 0;
            strides[dimension] = reversed ? -stride : stride;
            origin += reversed ? stride * std::max<index>(extents[dimension] - 1, 0) : 0;
            stride *= std::max<index>(room, 1);
        }
        memory.assign(static_cast<std::size_t>(stride + 1), T(-77));
    }
};

template <class T>
void check_softmax(const std::vector<index>& extents, std::size_t along, bool dense, std::mt19937_64& random,
                   const std::vector<T>& special = {}) {
    strided<T> x(extents, dense, random);
    strided<T> z(extents, dense, random);
    std::uniform_real_distribution<double> values(-30, 30);
    for (T& each : x.memory) {
        each =
            !special.empty() && random() % 3 == 0 ? special[random() % special.size()] : static_cast<T>(values(random));
    }
    std::vector<label_id> labels(extents.size());
    std::iota(labels.begin(), labels.end(), label_id{0});
    const std::array<ep::strided_block, 1> operands{{{x.memory.data() + x.origin, labels, x.strides}}};
    const std::vector<T> before = z.memory;
    ep::detail::softmax_block<T>(
        {extents, operands, {z.memory.data() + z.origin, labels, z.strides}, ep::write_mode::overwrite},
        static_cast<label_id>(along));
    index points = 1;
    for (const index extent : extents) {
        points *= extent;
    }
    std::vector<bool> written(z.memory.size(), false);
    bool right = true;
    const T tolerance =
        static_cast<T>(16 + std::sqrt(4.0 * static_cast<double>(extents[along]))) * std::numeric_limits<T>::epsilon();
    for (index number = 0; number < points; ++number) {
        index rest = number;
        index x_at = x.origin;
        index z_at = z.origin;
        bool first = true;
        for (std::size_t dimension = extents.size(); dimension-- > 0;) {
            const index step = rest % extents[dimension];
            rest /= extents[dimension];
            x_at += step * x.strides[dimension];
            z_at += step * z.strides[dimension];
            first = first && (dimension != along || step == 0);
        }
        if (!first) {
            continue;
        }
        T largest = -infinity<T>;
        for (index step = 0; step < extents[along]; ++step) {
            const T value = x.memory[static_cast<std::size_t>(x_at + step * x.strides[along])];
            largest = std::isnan(value) || value > largest ? value : largest;
            if (std::isnan(largest)) {
                break;
            }
        }
        long double sum = 0;
        for (index step = 0; step < extents[along]; ++step) {
            sum += std::exp(
                static_cast<long double>(x.memory[static_cast<std::size_t>(x_at + step * x.strides[along])] - largest));
        }
        for (index step = 0; step < extents[along]; ++step) {
            const auto place = static_cast<std::size_t>(z_at + step * z.strides[along]);
            const T value = x.memory[static_cast<std::size_t>(x_at + step * x.strides[along])];
            const T expected = static_cast<T>(std::exp(static_cast<long double>(value - largest)) / sum);
            const T found = z.memory[place];
            const T apart = std::abs(found - expected);
            right = right && (std::isnan(expected) ? std::isnan(found)
                                                   : apart <= tolerance * expected + std::numeric_limits<T>::min());
            written[place] = true;
        }
    }
    CHECK(right);
    bool untouched = true;
    for (std::size_t place = 0; place < z.memory.size(); ++place) {
        untouched = untouched && (written[place] || z.memory[place] == before[place]);
    }
    CHECK(untouched);
}

}  // namespace

TEST_CASE_TEMPLATE("exponentials of rows", T, float, double) {
    check_exponentials<T, instruction_set::baseline>();
#if EINPARALLEL_DETAIL_X86
    check_exponentials<T, instruction_set::avx2>();
    check_exponentials<T, instruction_set::avx512>();
#endif
}

TEST_CASE_TEMPLATE("softmax of strided blocks against scalar loops", T, float, double) {
    std::mt19937_64 random(17);
    for (int round = 0; round < 400; ++round) {
        const auto rank = static_cast<std::size_t>(1 + random() % 4);
        std::vector<index> extents(rank);
        constexpr std::array<index, 9> lengths{1, 2, 3, 5, 7, 8, 13, 16, 29};
        for (index& extent : extents) {
            extent = lengths[random() % lengths.size()];
        }
        if (random() % 40 == 0) {
            extents[random() % rank] = 0;
        }
        check_softmax<T>(extents, random() % rank, random() % 2 == 0, random);
    }
    for (const index length : {2, 7, 31, 32}) {  // short rows, more than are computed together
        check_softmax<T>({7001, length}, 1, true, random);
        check_softmax<T>({length, 7001}, 0, false, random);
    }
    check_softmax<T>({3, 70001}, 1, true, random);
    check_softmax<T>({70001, 3}, 0, false, random);
    check_softmax<T>({513, 300}, 0, true, random);
}

TEST_CASE_TEMPLATE("softmax of infinities and of what is no number", T, float, double) {
    std::mt19937_64 random(23);
    for (int round = 0; round < 60; ++round) {
        const std::vector<T> special = round % 3 == 0   ? std::vector<T>{-infinity<T>}
                                       : round % 3 == 1 ? std::vector<T>{-infinity<T>, infinity<T>}
                                                        : std::vector<T>{std::numeric_limits<T>::quiet_NaN()};
        check_softmax<T>({5, 9, 4}, random() % 3, round % 2 == 0, random, special);
        check_softmax<T>({7, 41}, random() % 2, round % 2 == 0, random, special);
    }
}

TEST_CASE_TEMPLATE("maps that are an exp between two steps", T, float, double) {
    EINPARALLEL_LABELS(i, j);
    const index rows = 9;
    const index columns = 301;
    ep::array<T, 2> a({rows, columns});
    ep::array<T, 1> c({columns});
    for (index at = 0; at < a.size(); ++at) {
        a.data()[at] = static_cast<T>(at % 61 - 30) / T(4);
    }
    for (index at = 0; at < columns; ++at) {
        c.data()[at] = static_cast<T>(at % 7) / T(8);
    }
    ep::array<T, 2> z({rows, columns});
    ep::array<T, 1> sums({rows});
    const auto close = [](T found, double expected) {
        return std::abs(static_cast<double>(found) - expected) <=
               8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::abs(expected);
    };
    const auto check = [&](auto f) {
        bool right = true;
        for (index row = 0; row < rows; ++row) {
            for (index column = 0; column < columns; ++column) {
                right = right &&
                        close(z(row, column), f(static_cast<double>(a(row, column)), static_cast<double>(c(column))));
            }
        }
        CHECK(right);
    };
    z(i, j) = exp(a(i, j));
    check([](double x, double) { return std::exp(x); });
    z(i, j) = exp(a(i, j) - c(j));
    check([](double x, double y) { return std::exp(x - y); });
    z(i, j) = sigmoid(a(i, j) + c(j));
    check([](double x, double y) { return 1 / (1 + std::exp(-(x + y))); });
    z(i, j) = silu(a(i, j));
    check([](double x, double) { return x / (1 + std::exp(-x)); });
    sums(i) = ep::sum(j, exp(a(i, j) * c(j)));
    for (index row = 0; row < rows; ++row) {
        double expected = 0;
        for (index column = 0; column < columns; ++column) {
            expected += std::exp(static_cast<double>(a(row, column)) * static_cast<double>(c(column)));
        }
        CHECK(std::abs(static_cast<double>(sums(row)) - expected) <= (sizeof(T) == 8 ? 1e-12 : 1e-4) * expected);
    }
}

}  // namespace softmax_test
