// Elementary functions of rows with each instruction set that this processor has: errors against long double in units
// in the last place, special values against the C library, rows of any length, in place.

#include "../instruction_sets.hpp"

#include <einparallel/kernel/simd/vector_math.hpp>
#include <einparallel/notation/operations/op_code.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace vector_math_test {

namespace {

using einparallel::index;
using einparallel::op_code;
using namespace einparallel::detail;
using kernel_test::sets_here;

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

/// A function, the bound on its error, and arguments between which it is no constant.
struct function {
    const char* name;
    op_code code;
    double bound;
    double low, high;
};

constexpr function functions[] = {{"exp", op_code::exp, 2, -746, 710},
                                  {"log", op_code::log, 2, 0, 8},
                                  {"expm1", op_code::expm1, 2, -40, 710},
                                  {"log1p", op_code::log1p, 2, -1, 8},
                                  {"tanh", op_code::tanh, 4, -20, 20},
                                  {"sin", op_code::sin, 4, -0x1p20, 0x1p20},
                                  {"cos", op_code::cos, 4, -0x1p20, 0x1p20},
                                  {"erf", op_code::erf, 2, -6, 6},
                                  {"sigmoid", op_code::sigmoid, 2, -746, 40},
                                  {"silu", op_code::silu, 4, -753, 40},
                                  {"gelu", op_code::gelu, 4, -37, 9},
                                  {"power", op_code::power, 2, 0, 50},
                                  {"shifted_exponential", op_code::shifted_exponential, 2, -300, 300}};

template <class T, instruction_set Set>
void run_with(op_code code, T* into, const T* x, const T* y, index count) {
    const auto run = [&]<op_code... Codes>(std::integer_sequence<op_code, Codes...>) {
        static_assert((has_vector_math<Codes, T> && ...));
        ((code == Codes ? vector_math<T, Set>::template row<Codes>(into, x, y, count) : void()), ...);
    };
    run(std::integer_sequence<op_code, op_code::exp, op_code::log, op_code::expm1, op_code::tanh, op_code::sin,
                              op_code::cos, op_code::erf, op_code::sigmoid, op_code::silu, op_code::gelu,
                              op_code::power, op_code::log1p, op_code::shifted_exponential>{});
}

template <class T>
void run_row(instruction_set set, op_code code, T* into, const T* x, const T* y, std::size_t count) {
    with_instruction_set(set, [&](auto found) { run_with<T, found.value>(code, into, x, y, index(count)); });
}

/// The function as the C library has it, in long double.
long double exact(op_code code, long double x, long double y) {
    switch (code) {
        case op_code::exp:
            return std::exp(x);
        case op_code::log:
            return std::log(x);
        case op_code::expm1:
            return std::expm1(x);
        case op_code::log1p:
            return std::log1p(x);
        case op_code::tanh:
            return std::tanh(x);
        case op_code::sin:
            return std::sin(x);
        case op_code::cos:
            return std::cos(x);
        case op_code::erf:
            return std::erf(x);
        case op_code::sigmoid:
            return 1 / (1 + std::exp(-x));
        case op_code::silu:
            return x * (1 / (1 + std::exp(-x)));
        case op_code::gelu:
            return x * (std::erfc(-x * 0.707106781186547524400844362104849039L) / 2);
        case op_code::power:
            return std::pow(x, y);
        default:
            return std::exp(x - y);
    }
}

template <class T>
double units_apart(T found, long double exact) {
    using limits = std::numeric_limits<T>;
    const long double beyond = std::ldexp(1.0L, limits::max_exponent);
    exact = std::clamp(exact, -beyond, beyond);
    const long double value = std::isinf(found) ? std::copysign(beyond, static_cast<long double>(found)) : found;
    const int exponent = exact == 0 ? limits::min_exponent
                                    : std::clamp(std::ilogb(exact) + 1, limits::min_exponent, limits::max_exponent);
    return static_cast<double>(std::abs(std::ldexp(value - exact, limits::digits - exponent)));
}

/// Uniform in the function's range and in its logarithm; the results of power are of all sizes.
template <class T>
void draw(const function& f, std::mt19937_64& random, T& x, T& y) {
    std::uniform_real_distribution<double> share(0, 1);
    const bool tiny = random() % 3 == 0;
    const double size = tiny ? std::exp2(-70 * share(random)) * f.high : f.low + share(random) * (f.high - f.low);
    x = static_cast<T>(tiny && f.low < 0 && random() % 2 == 0 ? -size : size);
    const double range = sizeof(T) == 8 ? 745 : 103;
    y = static_cast<T>(f.code == op_code::power ? (2 * share(random) - 1) * range / std::log(static_cast<double>(x))
                                                : 600 * share(random) - 300);
}

template <class T>
bool same(T a, T b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

TEST_CASE_TEMPLATE("elementary functions of rows are within some units in the last place", T, float, double) {
    for (const function& f : functions) {
        std::mt19937_64 random(11);
        std::vector<T> x(20011);
        std::vector<T> y(x.size());
        std::vector<long double> expected(x.size());
        for (std::size_t at = 0; at < x.size(); ++at) {
            draw(f, random, x[at], y[at]);
            const bool difference = f.code == op_code::shifted_exponential;
            const T argument = difference ? x[at] - y[at] : x[at];
            expected[at] = exact(f.code, argument, difference ? 0.0L : y[at]);
        }
        for (const instruction_set set : sets_here()) {
            std::vector<T> found(x.size());
            run_row(set, f.code, found.data(), x.data(), y.data(), x.size());
            double worst = 0;
            std::size_t where = 0;
            for (std::size_t at = 0; at < x.size(); ++at) {
                const double error = units_apart(found[at], expected[at]);
                where = error > worst ? at : where;
                worst = std::max(worst, error);
            }
            CAPTURE(std::string(f.name));
            CAPTURE(std::string(name_of(set)));
            CAPTURE(x[where]);
            CAPTURE(y[where]);
            CHECK(worst <= f.bound);
        }
    }
}

TEST_CASE_TEMPLATE("elementary functions of special values are those of the C library", T, float, double) {
    using limits = std::numeric_limits<T>;
    const std::vector<T> values{T(0),
                                infinity<T>,
                                limits::quiet_NaN(),
                                limits::denorm_min(),
                                limits::min(),
                                limits::min() / T(3),
                                limits::max(),
                                T(1),
                                T(2),
                                T(3),
                                T(0.5),
                                T(2.5),
                                T(1e9),
                                T(1048577),
                                T(40),
                                T(2000),
                                T(1) / T(3),
                                1 - limits::epsilon(),
                                T(16777217),
                                T(9007199254740993)};
    std::vector<T> x;
    std::vector<T> y;
    for (const T a : values) {
        for (const T b : values) {
            for (int signs = 0; signs < 4; ++signs) {
                x.push_back(signs % 2 == 0 ? a : -a);
                y.push_back(signs / 2 == 0 ? b : -b);
            }
        }
    }
    for (const function& f : functions) {
        for (const instruction_set set : sets_here()) {
            std::vector<T> found(x.size());
            run_row(set, f.code, found.data(), x.data(), y.data(), x.size());
            for (std::size_t at = 0; at < x.size(); ++at) {
                const T argument = f.code == op_code::shifted_exponential ? x[at] - y[at] : x[at];
                const long double expected = exact(f.code, argument, f.code == op_code::power ? y[at] : T(0));
                const bool right = std::isnan(expected) ? std::isnan(found[at])
                                                        : std::signbit(found[at]) == std::signbit(expected) &&
                                                              units_apart(found[at], expected) <= f.bound;
                if (!right) {
                    CAPTURE(std::string(f.name));
                    CAPTURE(std::string(name_of(set)));
                    CAPTURE(x[at]);
                    CAPTURE(y[at]);
                    CHECK(static_cast<double>(found[at]) == static_cast<double>(expected));
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("elementary functions of rows of any length and in place", T, float, double) {
    std::mt19937_64 random(7);
    for (const function& f : functions) {
        std::vector<T> x(41);
        std::vector<T> y(x.size());
        for (std::size_t at = 0; at < x.size(); ++at) {
            draw(f, random, x[at], y[at]);
        }
        x[5] = -infinity<T>;  // one lane for the C library
        for (const instruction_set set : sets_here()) {
            std::vector<T> whole(x.size());
            run_row(set, f.code, whole.data(), x.data(), y.data(), x.size());
            bool right = true;
            for (std::size_t length = 0; length < x.size(); ++length) {
                std::vector<T> apart(x.size(), T(7));
                std::vector<T> over_x = x;
                std::vector<T> over_y = y;
                run_row(set, f.code, apart.data(), x.data(), y.data(), length);
                run_row(set, f.code, over_x.data(), over_x.data(), y.data(), length);
                run_row(set, f.code, over_y.data(), x.data(), over_y.data(), length);
                for (std::size_t at = 0; at < x.size(); ++at) {
                    const bool inside = at < length;
                    right = right && same(apart[at], inside ? whole[at] : T(7)) &&
                            same(over_x[at], inside ? whole[at] : x[at]) &&
                            same(over_y[at], inside ? whole[at] : y[at]);
                }
            }
            CAPTURE(std::string(f.name));
            CAPTURE(std::string(name_of(set)));
            CHECK(right);
        }
    }
}

}  // namespace vector_math_test
