// Statements in which something has a type of its own, of operands of two types, on views and on ranks: comparisons,
// extremes, quotients of integers, functions, numbers with fractions.

#include "spelling_kinds.hpp"

namespace spelling_test {

namespace {

using c8 = std::complex<float>;
using c16 = std::complex<double>;

number chosen(bool which, const number& a, const number& b) {
    return which ? a : b;
}
number real_number(long double x) {
    return number_in({'f', 16}, {x, 0});
}
long double real_of(const number& x) {
    return as({'f', 16}, x).value.real();
}

template <class A, class B>
void try_comparisons(kinds& all) {
    constexpr kind_options small{.is_small = true};
    all.attempt<bool, bool, A, B, 2>(
        "less", [](auto&& z, const auto& o) { z(i, j) = o.x(i, j) < o.y(i, j); },
        of_j([](const tables& t, index a, index b) { return number_of(t.x(a, b) < t.y(a, b)); }));
    all.attempt<bool, bool, A, B, 2>(
        "logic", [](auto&& z, const auto& o) { z(i, j) = !(o.x(i, j) >= o.y(i, j)) || o.x(i, j) == o.v(j); },
        of_j([](const tables& t, index a, index b) {
            return number_of(t.x(a, b) < t.y(a, b) || !(t.x(a, b) < t.v(b) || t.v(b) < t.x(a, b)));
        }));
    all.attempt<int, int, A, B, 1>(
        "counted", [](auto&& z, const auto& o) { z(i) = ep::sum(j, o.x(i, j) != o.y(i, j)); },
        of_j([](const tables& t, index a, index /*none*/) {
            return sum_of(t.n, of<int>,
                          [&](index b) { return number_of(t.x(a, b) < t.y(a, b) || t.y(a, b) < t.x(a, b)); });
        }),
        small);
}
template <class S, class Out, class A, class B>
void try_chosen(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "where", [](auto&& z, const auto& o) { z(i, j) = ep::where(o.x(i, j) < o.v(j), o.x(i, j), o.y(i, j)); },
        of_j([](const tables& t, index a, index b) {
            return as(of<S>, chosen(t.x(a, b) < t.v(b), t.x(a, b), t.y(a, b)));
        }));
    all.attempt<S, Out, A, B, 2>(
        "larger and smaller",
        [](auto&& z, const auto& o) { z(i, j) = ep::max(o.x(i, j), o.y(i, j)) + ep::min(o.v(j), o.x(i, j)); },
        of_j([](const tables& t, index a, index b) {
            return as(of<S>, chosen(t.x(a, b) < t.y(a, b), t.y(a, b), t.x(a, b))) +
                   as(of<S>, chosen(t.x(a, b) < t.v(b), t.x(a, b), t.v(b)));
        }));
}
template <class S, class Out, class A, class B>
void try_extremes(kinds& all) {
    constexpr auto extreme = [](index count, const auto& at) {
        std::array<number, 2> least_and_most{at(0), at(0)};
        for (index b = 1; b < count; ++b) {
            const number next = at(b);
            least_and_most[0] = chosen(next < least_and_most[0], next, least_and_most[0]);
            least_and_most[1] = chosen(least_and_most[1] < next, next, least_and_most[1]);
        }
        return least_and_most;
    };
    all.attempt<S, Out, A, B, 1>("extremes",
                                 [](auto&& z, const auto& o) { z(i) = ep::max(j, o.x(i, j)) - ep::min(j, o.y(i, j)); },
                                 of_j([=](const tables& t, index a, index /*none*/) {
                                     return as(of<S>, extreme(t.n, [&](index b) { return t.x(a, b); })[1]) -
                                            as(of<S>, extreme(t.n, [&](index b) { return t.y(a, b); })[0]);
                                 }),
                                 {.least = 1});
    all.attempt<index, index, A, B, 1>(
        "places", [](auto&& z, const auto& o) { z(i) = 100 * ep::argmax(j, o.x(i, j)) + ep::argmin(j, o.y(i, j)); },
        of_j([](const tables& t, index a, index /*none*/) {
            std::array<index, 2> found{};
            for (index b = 1; b < t.n; ++b) {
                found[0] = t.x(a, found[0]) < t.x(a, b) ? b : found[0];
                found[1] = t.y(a, b) < t.y(a, found[1]) ? b : found[1];
            }
            return number_of(100 * found[0] + found[1]);
        }),
        {.least = 1, .is_small = true});
}
/// D: the type of the division.
template <class D, class S, class Out, class A, class B>
void try_quotients(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "quotient", [](auto&& z, const auto& o) { z(i, j) = o.x(i, j) / o.y(i, j) + o.v(j); },
        of_j([](const tables& t, index a, index b) {
            return as(of<S>, number_in(of<D>, t.x(a, b).integer / t.y(a, b).integer)) + as(of<S>, t.v(b));
        }));
    all.attempt<S, Out, A, B, 2>(
        "remainder, guarded",
        [](auto&& z, const auto& o) { z(i, j) = ep::where(o.v(j) != o.y(i, j), o.x(i, j) % (o.y(i, j) - o.v(j)), 7); },
        of_j([](const tables& t, index a, index b) {
            // A difference of unsigned numbers of 64 bits is one, too.
            constexpr ep::element_type type = std::is_same_v<B, std::uint64_t> ? of<B> : of<D>;
            const number divisor = as(type, t.y(a, b)) - as(type, t.v(b));
            return as(of<S>, t.y(a, b) == t.v(b) ? number_of(7)
                                                 : number_in(of<D>, as(of<D>, t.x(a, b)).integer % divisor.integer));
        }),
        {.is_small = true});
}
template <class S, class Out, class A, class B>
void try_divided(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "/=", [](auto&& z, const auto& o) { z(i, j) /= o.x(i, j); },
        of_j([](const tables& t, index a, index b) { return as(of<S>, t.z(a, b)) / as(of<S>, t.x(a, b)); }),
        {.units = is_integer(of<S>) ? 0 : 4});
}
/// Of integers: functions are of doubles.
template <class A, class B>
void try_functions(kinds& all) {
    constexpr kind_options few{.least = 1, .units = 8, .is_small = true};
    all.attempt<double, double, A, B, 2>(
        "exp", [](auto&& z, const auto& o) { z(i, j) = ep::exp(o.x(i, j)); },
        of_j([](const tables& t, index a, index b) { return real_number(std::exp(real_of(t.x(a, b)))); }), few);
    all.attempt<double, double, A, B, 2>(
        "sqrt", [](auto&& z, const auto& o) { z(i, j) = ep::sqrt(o.x(i, j) * o.x(i, j) + 1); },
        of_j([](const tables& t, index a, index b) {
            return real_number(std::sqrt(real_of(t.x(a, b)) * real_of(t.x(a, b)) + 1));
        }),
        few);
    all.attempt<double, double, A, B, 1>(
        "mean", [](auto&& z, const auto& o) { z(i) = ep::mean(j, o.x(i, j)); },
        of_j([](const tables& t, index a, index /*none*/) {
            long double sum = 0;
            for (index b = 0; b < t.n; ++b) {
                sum += real_of(t.x(a, b));
            }
            return real_number(sum / static_cast<long double>(t.n));
        }),
        few);
}
template <class C, class R>
void try_parts(kinds& all) {
    all.attempt<R, R, C, R, 2>(
        "absolute", [](auto&& z, const auto& o) { z(i, j) = ep::abs(o.x(i, j)); },
        of_j([](const tables& t, index a, index b) { return real_number(std::abs(t.x(a, b).value)); }), {.units = 4});
    all.attempt<R, R, C, R, 1>(
        "real and imaginary parts",
        [](auto&& z, const auto& o) {
            z(i) = ep::sum(j, ep::map([](C x) { return x.real(); }, o.x(i, j)) -
                                  ep::map([](C x) { return x.imag(); }, o.x(i, j)) * o.v(j));
        },
        of_j([](const tables& t, index a, index /*none*/) {
            return sum_of(t.n, of<R>, [&](index b) {
                const std::complex<long double> x = t.x(a, b).value;
                return real_number(x.real() - x.imag() * real_of(t.v(b)));
            });
        }));
}
/// Of a statement with a number that has a fraction.
template <class S, class Out, class A, class B>
void try_fractions(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "fractions", [](auto&& z, const auto& o) { z(i, j) = 0.5 * o.x(i, j) + 0.25 - o.y(i, j) / 4.0; },
        of_j([](const tables& t, index a, index b) {
            const auto number_of_statement = [](double x) { return as(of<S>, number_of(x)); };
            return number_of_statement(0.5) * as(of<S>, t.x(a, b)) + number_of_statement(0.25) -
                   as(of<S>, t.y(a, b)) / number_of_statement(4);
        }));
    all.attempt<bool, bool, A, B, 2>("compared with a fraction",
                                     [](auto&& z, const auto& o) { z(i, j) = o.x(i, j) < 1.5 && o.y(i, j) >= -0.5F; },
                                     of_j([](const tables& t, index a, index b) {
                                         return number_of(t.x(a, b) < number_of(1.5) && !(t.y(a, b) < number_of(-0.5)));
                                     }),
                                     {.is_small = true});
}

}  // namespace

TEST_CASE("comparisons, choices and extremes of two types") {
    kinds all(3040);
    try_comparisons<std::int8_t, std::uint8_t>(all);
    try_comparisons<std::uint64_t, std::int64_t>(all);
    try_comparisons<float, std::int32_t>(all);
    try_comparisons<ep::bfloat16, double>(all);
    try_chosen<std::int64_t, std::int64_t, std::int32_t, std::uint32_t>(all);
    try_chosen<std::int64_t, std::uint64_t, std::int64_t, std::uint64_t>(all);
    try_chosen<double, double, float, std::uint8_t>(all);
    try_chosen<float, ep::bfloat16, ep::float16, std::int16_t>(all);
    try_extremes<std::int16_t, std::int8_t, std::int8_t, std::uint8_t>(all);
    try_extremes<std::int64_t, std::int64_t, std::uint64_t, std::int64_t>(all);
    try_extremes<double, float, ep::float16, double>(all);
}

TEST_CASE("quotients, functions, parts and numbers of two types") {
    kinds all(3041);
    try_quotients<std::int16_t, std::int32_t, std::int32_t, std::int8_t, std::uint8_t>(all);
    try_quotients<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::uint64_t>(all);
    try_quotients<std::uint16_t, std::uint16_t, std::uint8_t, std::uint16_t, std::uint8_t>(all);
    try_quotients<std::int32_t, double, double, std::int32_t, std::int8_t>(all);
    try_divided<std::int16_t, std::int16_t, std::int16_t, bool>(all);
    try_divided<double, float, double, float>(all);
    try_divided<c16, c8, double, float>(all);
    try_functions<std::int8_t, std::int8_t>(all);
    try_functions<std::uint64_t, bool>(all);
    try_parts<c8, float>(all);
    try_parts<c16, double>(all);
    try_fractions<double, double, std::int32_t, std::uint8_t>(all);
    try_fractions<double, double, float, std::int64_t>(all);
    try_fractions<float, ep::bfloat16, float, ep::float16>(all);
}

}  // namespace spelling_test
