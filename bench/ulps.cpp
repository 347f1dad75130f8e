// Largest errors of the elementary functions of rows (kernel/simd/vector_math.hpp), in units in the last place of the
// result, for every instruction set of this processor, on all of its threads.
//
//     ulps [--only NAMES] [--stride N] [--points N]
//
// NAMES: functions separated by commas (log1p,expm1,exp,log,tanh,sin,cos,erf,sigmoid,silu,gelu,power); all of them
// where left out.
// --stride N (1): float arguments are every N-th of all 2^32 bit patterns; their errors are distances from the function
// in double, which is exact to 2^-29 of their unit.
// --points N (100000000): double arguments, and pairs of power in either type: half are uniform in the range where the
// function is no constant, a quarter uniform in the logarithm there, a quarter random bits (subnormals and tails).
// Errors are distances from the function in long double.
//
// An error of infinity: one is a NaN and the other is not.

#include "text.hpp"

#include <einparallel/kernel/simd/instruction_set.hpp>
#include <einparallel/kernel/simd/vector_math.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/operations/op_code.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

namespace ep = einparallel;
using ep::op_code;
using ep::detail::instruction_set;
using ep::detail::vector_math;

/// The type of reference values.
template <class T>
using wide = std::conditional_t<sizeof(T) == 4, double, long double>;

/// erfc(x / √2). The rounding of x / √2 would be felt in the tail of double.
template <class W>
W tail_of_normal(W x) {
    if constexpr (sizeof(W) == sizeof(double)) {
        return std::erfc(x * std::numbers::sqrt2 / 2);
    } else {
        const W high = x * 0x1.6ap-1L;  // exact
        const W low = x * 0x9.e667f3bcc908b2fb1p-17L;
        const W y = high + low;
        const W rest = (high - y) + low;
        return std::erfc(y) - rest * 2 * std::numbers::inv_sqrtpi_v<W> * std::exp(-y * y);
    }
}

template <op_code Code, class W>
W exact(W x, [[maybe_unused]] W y) {
    if constexpr (Code == op_code::exp) {
        return std::exp(x);
    } else if constexpr (Code == op_code::log) {
        return std::log(x);
    } else if constexpr (Code == op_code::expm1) {
        return std::expm1(x);
    } else if constexpr (Code == op_code::log1p) {
        return std::log1p(x);
    } else if constexpr (Code == op_code::tanh) {
        return std::tanh(x);
    } else if constexpr (Code == op_code::sin) {
        return std::sin(x);
    } else if constexpr (Code == op_code::cos) {
        return std::cos(x);
    } else if constexpr (Code == op_code::erf) {
        return std::erf(x);
    } else if constexpr (Code == op_code::sigmoid) {
        return 1 / (1 + std::exp(-x));
    } else if constexpr (Code == op_code::silu) {
        return x < -100000 && x > -std::numeric_limits<W>::infinity() ? -W(0) : x * (1 / (1 + std::exp(-x)));
    } else if constexpr (Code == op_code::gelu) {
        return x * (tail_of_normal(-x) / 2);
    } else {
        return std::pow(x, y);
    }
}

template <class T>
double units(T found, wide<T> expected) {
    using W = wide<T>;
    using limits = std::numeric_limits<T>;
    if (std::isnan(found) || std::isnan(expected)) {
        return std::isnan(found) && std::isnan(expected) ? 0 : limits::infinity();
    }
    const W beyond = std::ldexp(W(1), limits::max_exponent);  // stands for infinity
    const W result = std::isinf(found) ? std::copysign(beyond, W(found)) : W(found);
    const W value = std::clamp(expected, -beyond, beyond);
    const int exponent = std::clamp(value == 0 ? limits::min_exponent : std::ilogb(value) + 1, limits::min_exponent,
                                    limits::max_exponent);
    return static_cast<double>(std::abs(std::ldexp(result - value, limits::digits - exponent)));
}

struct worst {
    double error = 0;
    double x = 0;
    double y = 0;

    void join(const worst& other) { *this = other.error > error ? other : *this; }
};

constexpr std::array all_sets{instruction_set::baseline, instruction_set::avx2, instruction_set::avx512};
using worst_of_sets = std::array<worst, all_sets.size()>;

template <op_code Code, class T, instruction_set Set>
void compare(const std::vector<T>& x, const std::vector<T>& y, const std::vector<wide<T>>& expected, worst& found) {
    if (!ep::detail::supported(Set)) {
        return;
    }
    std::vector<T> result(x.size());
    vector_math<T, Set>::template row<Code>(result.data(), x.data(), y.data(), static_cast<ep::index>(x.size()));
    for (std::size_t at = 0; at < x.size(); ++at) {
        found.join({units<T>(result[at], expected[at]), static_cast<double>(x[at]), static_cast<double>(y[at])});
    }
}

/// All sets on arguments that `fill` writes, as long as it returns true.
template <op_code Code, class T, class Fill>
worst_of_sets worst_on(Fill fill) {
    worst_of_sets found;
    std::vector<T> x(4096);
    std::vector<T> y(x.size());
    std::vector<wide<T>> expected(x.size());
    while (fill(x, y)) {
        for (std::size_t at = 0; at < x.size(); ++at) {
            expected[at] = exact<Code, wide<T>>(x[at], y[at]);
        }
        compare<Code, T, instruction_set::baseline>(x, y, expected, found[0]);
#if EINPARALLEL_DETAIL_X86
        compare<Code, T, instruction_set::avx2>(x, y, expected, found[1]);
        compare<Code, T, instruction_set::avx512>(x, y, expected, found[2]);
#endif
    }
    return found;
}

struct settings {
    std::string only;
    std::uint64_t stride = 1;
    std::uint64_t points = 100'000'000;
};

/// Arguments of thread `number` of `threads`.
template <op_code Code, class T>
auto arguments(const settings& asked, std::size_t number, std::size_t threads, double low, double high) {
    using bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr bool pairs = Code == op_code::power;
    const bool every = sizeof(T) == 4 && !pairs;
    const std::uint64_t end = every ? std::uint64_t{1} << 32 : asked.points;
    const std::uint64_t step = (every ? asked.stride : 1) * threads;
    return [=, at = number * step / threads, random = std::mt19937_64(number)](std::vector<T>& x,
                                                                               std::vector<T>& y) mutable {
        std::uniform_real_distribution<double> share(0, 1);
        const auto any_bits = [&] {
            const T value = std::bit_cast<T>(static_cast<bits>(random()));
            return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN()
                                     : value;  // pow(x, 0) is 1 for quiet ones only
        };
        const auto between = [&](double from, double to) { return from + share(random) * (to - from); };
        for (std::size_t place = 0; place < x.size(); ++place, at += step) {
            if (every) {
                x[place] = std::bit_cast<T>(static_cast<bits>(std::min(at, end - 1)));
                continue;
            }
            const std::uint64_t kind = random() % 4;
            const double size = std::exp2(between(-60, std::log2(high)));
            if (kind == 0) {
                x[place] = any_bits();
            } else if (kind == 1) {
                x[place] = static_cast<T>(low < 0 && random() % 2 == 0 ? -size : size);
            } else {
                x[place] = static_cast<T>(between(low, high));
            }
            if (pairs && kind == 0) {
                y[place] = random() % 2 == 0 ? static_cast<T>(static_cast<int>(random() % 64) - 32) : any_bits();
            } else if (pairs) {  // results of all sizes
                constexpr double range = sizeof(T) == 8 ? 745 : 104;
                x[place] =
                    kind == 1 ? static_cast<T>(1 + between(-1, 1) * std::exp2(between(-50, -1))) : std::abs(x[place]);
                y[place] = static_cast<T>(between(-range, range) / std::log(static_cast<double>(x[place])));
            }
        }
        return at < end + step * x.size();
    };
}

template <op_code Code, class T>
void report(const char* name, const settings& asked, double low, double high) {
    const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    std::vector<worst_of_sets> found(threads);
    std::vector<std::thread> running;
    for (std::size_t number = 0; number < threads; ++number) {
        running.emplace_back(
            [&, number] { found[number] = worst_on<Code, T>(arguments<Code, T>(asked, number, threads, low, high)); });
    }
    for (std::thread& each : running) {
        each.join();
    }
    for (std::size_t set = 0; set < all_sets.size(); ++set) {
        if (!ep::detail::supported(all_sets[set])) {
            continue;
        }
        worst all;
        for (const worst_of_sets& each : found) {
            all.join(each[set]);
        }
        std::printf("%-9s%-8s%-10s%8.3f   at %a", name, sizeof(T) == 4 ? "float" : "double",
                    ep::detail::name_of(all_sets[set]), all.error, all.x);
        Code == op_code::power ? std::printf(", %a\n", all.y) : std::printf("\n");
        std::fflush(stdout);
    }
}

template <op_code Code>
void report(const char* name, const settings& asked, double low, double high) {
    const std::vector<std::string> names = bench::separated(asked.only);
    if (asked.only.empty() || std::find(names.begin(), names.end(), name) != names.end()) {
        report<Code, float>(name, asked, low, high);
        report<Code, double>(name, asked, low, high);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        settings asked;
        bench::read_options(
            argc, argv,
            {{"--only", [&](const std::string& text) { asked.only = text; }},
             {"--stride", [&](const std::string& text) { asked.stride = std::uint64_t(bench::whole_number(text, 1)); }},
             {"--points",
              [&](const std::string& text) { asked.points = std::uint64_t(bench::whole_number(text, 1)); }}});
        std::printf("function type    set       units   at\n");
        report<op_code::exp>("exp", asked, -746, 710);
        report<op_code::log>("log", asked, 0, 4);
        report<op_code::expm1>("expm1", asked, -40, 710);
        report<op_code::log1p>("log1p", asked, -1, 4);
        report<op_code::tanh>("tanh", asked, -20, 20);
        report<op_code::sin>("sin", asked, -0x1p20, 0x1p20);
        report<op_code::cos>("cos", asked, -0x1p20, 0x1p20);
        report<op_code::erf>("erf", asked, -6, 6);
        report<op_code::sigmoid>("sigmoid", asked, -746, 40);
        report<op_code::silu>("silu", asked, -753, 40);
        report<op_code::gelu>("gelu", asked, -39, 9);
        report<op_code::power>("power", asked, 0, 1000);
    } catch (const std::exception& failure) {
        std::cerr << "ulps: " << failure.what() << '\n';
        return 1;
    }
}
