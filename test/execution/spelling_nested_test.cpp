// Statements in which what has a type of its own is nested, and numbers that an operand's type does not hold.

#include "spelling_kinds.hpp"

#include <algorithm>
#include <type_traits>

namespace spelling_test {

namespace {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using c8 = std::complex<float>;
using c16 = std::complex<double>;

constexpr kind_options few{.least = 1, .is_small = true};

number real_number(long double x) {
    return number_in({'f', 16}, {x, 0});
}
long double real_of(const number& x) {
    return as({'f', 16}, x).value.real();
}
const number& larger(const number& a, const number& b) {
    return a < b ? b : a;
}

/// S: the type of the statement, D: that of the numbers beside an int.
template <class S, class Out, class A>
void try_large_numbers(kinds& all) {
    using D = std::conditional_t<(sizeof(A) < 4), i32, A>;
    all.attempt<S, Out, A, A, 2>(
        "larger than a number", [](auto&& z, const auto& o) { z(i, j) = ep::max(o.x(i, j), 300) - 1; },
        of_j([](const tables& t, index a, index b) {
            return as(of<S>, larger(t.x(a, b), number_of(300))) - as(of<S>, number_of(1));
        }));
    all.attempt<S, Out, A, A, 2>(
        "a number is chosen", [](auto&& z, const auto& o) { z(i, j) = ep::where(o.x(i, j) < 300, 1000, o.y(i, j)); },
        of_j([](const tables& t, index a, index b) {
            return as(of<S>, t.x(a, b) < number_of(300) ? number_of(1000) : t.y(a, b));
        }));
    all.attempt<S, Out, A, A, 2>(
        "divided by numbers",
        [](auto&& z, const auto& o) { z(i, j) = (o.x(i, j) + o.y(i, j)) / 300 + o.x(i, j) % 7 - 1000 / o.y(i, j); },
        of_j([](const tables& t, index a, index b) {
            const auto in = [](const number& x) { return as(of<D>, x); };
            return as(of<S>, (in(t.x(a, b)) + in(t.y(a, b))) / in(number_of(300))) +
                   as(of<S>, in(t.x(a, b)) % in(number_of(7))) - as(of<S>, in(number_of(1000)) / in(t.y(a, b)));
        }));
    all.attempt<S, Out, A, A, 1>(
        "counted where sums are small",
        [](auto&& z, const auto& o) { z(i) = ep::sum(j, o.x(i, j) + o.y(i, j) < 300) + ep::sum(j, o.x(i, j)); },
        of_j([](const tables& t, index a, index /*none*/) {
            return sum_of(t.n, of<S>,
                          [&](index b) {
                              return number_of(as(of<D>, t.x(a, b)) + as(of<D>, t.y(a, b)) < number_of(300));
                          }) +
                   sum_of(t.n, of<S>, [&](index b) { return t.x(a, b); });
        }));
}
template <class S, class Out, class A>
void try_signs(kinds& all) {
    all.attempt<S, Out, A, A, 2>(
        "signs", [](auto&& z, const auto& o) { z(i, j) = ep::sign(o.x(i, j)) + ep::relu(o.y(i, j)); },
        of_j([](const tables& t, index a, index b) {
            const number zero = number_of(0);
            return as(of<S>, number_of(t.x(a, b) < zero   ? -1
                                       : zero < t.x(a, b) ? 1
                                                          : 0)) +
                   as(of<S>, larger(t.y(a, b), zero));
        }));
    all.attempt<S, Out, A, A, 2>(
        "negated", [](auto&& z, const auto& o) { z(i, j) = -ep::abs(o.x(i, j)) - ep::floor(o.y(i, j)); },
        of_j([](const tables& t, index a, index b) {
            const number none = as(of<S>, number_of(false)), x = as(of<S>, t.x(a, b));
            const number y = is_integer(of<A>) ? t.y(a, b) : real_number(std::floor(real_of(t.y(a, b))));
            return none - (t.x(a, b) < none ? none - x : x) - as(of<S>, y);
        }));
}
template <class S, class Out, class A>
void try_products(kinds& all) {
    all.attempt<S, Out, A, A, 1>(
        "product of all",
        [](auto&& z, const auto& o) { z(i) = ep::prod(j, o.x(i, j)) - ep::max(j, o.x(i, j) * o.y(i, j)); },
        of_j([](const tables& t, index a, index /*none*/) {
            number product = as(of<S>, number_of(true)), most = as(of<S>, t.x(a, 0)) * as(of<S>, t.y(a, 0));
            for (index b = 0; b < t.n; ++b) {
                product = product * as(of<S>, t.x(a, b));
                most = larger(most, as(of<S>, t.x(a, b)) * as(of<S>, t.y(a, b)));
            }
            return product - most;
        }),
        {.least = 1});
}
/// C: the common type of A and B.
template <class S, class Out, class A, class B, class C>
void try_sums_compared(kinds& all) {
    const auto sum_in = [](const tables& t, index a, bool of_x) {
        return sum_of(t.n, of<C>, [&](index b) { return of_x ? t.x(a, b) : t.y(a, b); });
    };
    all.attempt<S, Out, A, B, 1>(
        "sums that are compared",
        [](auto&& z, const auto& o) {
            z(i) = ep::where(ep::sum(j, o.x(i, j)) < ep::sum(j, o.y(i, j)), ep::sum(j, o.x(i, j)), 5);
        },
        of_j([=](const tables& t, index a, index /*none*/) {
            return sum_in(t, a, true) < sum_in(t, a, false) ? sum_of(t.n, of<S>, [&](index b) { return t.x(a, b); })
                                                            : as(of<S>, number_of(5));
        }));
    all.attempt<S, Out, A, B, 2>(
        "running sums that are compared",
        [](auto&& z, const auto& o) {
            z(i, j) = ep::cumsum(j, o.x(i, j) < o.y(i, j)) + ep::where(ep::cumsum(j, o.x(i, j)) < o.y(i, j), 1, 0);
        },
        of_j([](const tables& t, index a, index b) {
            return sum_of(b + 1, of<S>, [&](index c) { return number_of(t.x(a, c) < t.y(a, c)); }) +
                   as(of<S>,
                      number_of(sum_of(b + 1, of<C>, [&](index c) { return t.x(a, c); }) < as(of<C>, t.y(a, b))));
        }),
        {.only_host = true});
    all.attempt<index, index, A, B, 1>(
        "places of differences", [](auto&& z, const auto& o) { z(i) = ep::argmax(j, o.x(i, j) - o.y(i, j)); },
        of_j([](const tables& t, index a, index /*none*/) {
            index found = 0;
            const auto at = [&](index b) { return as(of<C>, t.x(a, b)) - as(of<C>, t.y(a, b)); };
            for (index b = 1; b < t.n; ++b) {
                found = at(found) < at(b) ? b : found;
            }
            return number_of(found);
        }),
        few);
}
/// A sum that is divided is taken in the type of the division.
template <class D, class S, class Out, class A, class B>
void try_sums_divided(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "sums that are divided",
        [](auto&& z, const auto& o) { z(i, j) = ep::sum(k, o.w(j, k)) / o.x(i, j) + o.x(i, j) * ep::iota(j); },
        of_j([](const tables& t, index a, index b) {
            const number sum = sum_of(t.o, of<D>, [&](index c) { return t.w(b, c); });
            return as(of<S>, sum / as(of<D>, t.x(a, b))) + as(of<S>, t.x(a, b)) * as(of<S>, number_of(b));
        }));
    all.attempt<S, Out, A, B, 1>(
        "sum of quotients", [](auto&& z, const auto& o) { z(i) = ep::sum(j, o.y(i, j) / o.x(i, j)); },
        of_j([](const tables& t, index a, index /*none*/) {
            return sum_of(t.n, of<S>, [&](index b) { return as(of<D>, t.y(a, b)) / as(of<D>, t.x(a, b)); });
        }));
}
template <class Out, class A, class B>
void try_functions_of_sums(kinds& all) {
    constexpr kind_options rounded_few{.least = 1, .units = 16, .is_small = true};
    all.attempt<double, Out, A, B, 1>(
        "functions of sums",
        [](auto&& z, const auto& o) {
            z(i) = ep::sqrt(ep::sum(j, o.x(i, j) * o.x(i, j))) + ep::mean(j, o.y(i, j) * o.y(i, j) * 100);
        },
        of_j([](const tables& t, index a, index /*none*/) {
            long double squares = 0, others = 0;
            for (index b = 0; b < t.n; ++b) {
                squares += real_of(t.x(a, b)) * real_of(t.x(a, b));
                others += 100 * real_of(t.y(a, b)) * real_of(t.y(a, b));
            }
            return real_number(std::sqrt(squares) + others / static_cast<long double>(t.n));
        }),
        rounded_few);
    all.attempt<double, Out, A, B, 2>(
        "powers", [](auto&& z, const auto& o) { z(i, j) = ep::pow(ep::abs(o.x(i, j)), 2) + ep::exp(o.y(i, j)); },
        of_j([](const tables& t, index a, index b) {
            return real_number(real_of(t.x(a, b)) * real_of(t.x(a, b)) + std::exp(real_of(t.y(a, b))));
        }),
        rounded_few);
}
/// Nothing to compare: the lowest number of the statement, or of uint64.
template <class S, class Out, class A>
void try_extreme_of_nothing(kinds& all) {
    all.attempt<S, Out, A, A, 1>(
        "largest of none or more", [](auto&& z, const auto& o) { z(i) = ep::max(j, o.x(i, j)); },
        of_j([](const tables& t, index a, index /*none*/) {
            using Ordered = std::conditional_t<std::is_same_v<A, u64>, A, S>;
            using limits = std::numeric_limits<Ordered>;
            number most = number_of(Ordered(limits::has_infinity ? -limits::infinity() : limits::lowest()));
            for (index b = 0; b < t.n; ++b) {
                most = b == 0 ? t.x(a, b) : larger(most, t.x(a, b));
            }
            return as(of<S>, most);
        }));
}
template <class S, class Out, class A, class B>
void try_complex(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "conjugated",
        [](auto&& z, const auto& o) { z(i, k) = ep::conj(o.x(i, j)) * o.w(j, k) + ep::sum(j, ep::abs(o.v(j))); },
        of_k([](const tables& t, index a, index c) {
            return sum_of(t.n, of<S>,
                          [&](index b) {
                              number x = as(of<S>, t.x(a, b));
                              x.value = std::conj(x.value);
                              return x * as(of<S>, t.w(b, c));
                          }) +
                   sum_of(t.n, of<S>, [&](index b) { return number_of(static_cast<double>(magnitude(t.v(b)))); });
        }));
    all.attempt<bool, bool, A, B, 2>(
        "equal", [](auto&& z, const auto& o) { z(i, j) = o.x(i, j) == o.y(i, j) || o.x(i, j) != o.x(i, j) * 1; },
        of_j([](const tables& t, index a, index b) {
            return number_of(as({'c', 32}, t.x(a, b)) == as({'c', 32}, t.y(a, b)));
        }),
        {.is_small = true});
}

}  // namespace

TEST_CASE("numbers that an operand's type does not hold, signs and products") {
    kinds all(3060);
    try_large_numbers<u8, u8, u8>(all);
    try_large_numbers<i32, i32, u8>(all);
    try_large_numbers<i64, i64, i16>(all);
    try_large_numbers<double, double, i8>(all);
    try_signs<i8, i8, i8>(all);
    try_signs<i32, i32, i8>(all);
    try_signs<i64, i64, u64>(all);
    try_signs<u8, u8, u8>(all);
    try_signs<double, float, double>(all);
    try_signs<float, ep::bfloat16, ep::float16>(all);
    try_products<i32, i32, i8>(all);
    try_products<u8, u8, u8>(all);
    try_products<double, double, float>(all);
    try_extreme_of_nothing<i8, i8, i8>(all);
    try_extreme_of_nothing<i32, i32, i8>(all);
    try_extreme_of_nothing<i64, i64, u64>(all);
    try_extreme_of_nothing<i32, i32, bool>(all);
    try_extreme_of_nothing<float, ep::float16, ep::bfloat16>(all);
}

TEST_CASE("sums that are compared and divided, functions of sums, complex numbers") {
    kinds all(3061);
    try_sums_compared<i32, i32, i8, u8, i16>(all);
    try_sums_compared<i64, i64, i8, i8, i8>(all);
    try_sums_compared<i64, i64, bool, u8, u8>(all);
    try_sums_compared<double, double, ep::float16, float, float>(all);
    try_sums_divided<i8, i64, i64, i8, i8>(all);
    try_sums_divided<i16, double, double, u8, i8>(all);
    try_sums_divided<i64, i64, i32, u32, i32>(all);
    try_functions_of_sums<double, i8, u8>(all);
    try_functions_of_sums<float, i8, i8>(all);
    try_complex<c16, c16, c8, double>(all);
    try_complex<c16, c8, i16, c16>(all);
    try_complex<c8, c8, c8, ep::float16>(all);
}

}  // namespace spelling_test
