// One rule for types (notation/operations/statement_type.hpp): every spelling of a statement is computed in its type,
// the common one of the left-hand side and of all operands whose values reach it. The oracle computes with whole
// numbers that every type of a statement holds exactly, or modulo 2ⁿ, as the type says.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/small_numbers.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

namespace statement_type_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::small_numbers;

namespace {

EINPARALLEL_LABELS(i, j, k, t);

__extension__ using whole = __int128;
__extension__ using natural = unsigned __int128;

/// A whole number as an element, modulo 2ⁿ where that is an integer.
template <class T>
T as(whole value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value != 0;
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<natural>(value));
    } else {
        return ep::detail::converted<T>(static_cast<double>(value));
    }
}
template <class T>
whole number_of(T value) {
    if constexpr (std::is_integral_v<T>) {
        return whole(value);
    } else if constexpr (ep::detail::is_complex<T>::value) {
        return whole(value.real());
    } else {
        return whole(double(value));
    }
}

/// A statement's type S, and the result of one of its operations as an element of Out.
template <class S, class Out>
Out result(whole value) {
    return ep::detail::converted<Out>(as<S>(value));
}

template <class Out, class... In>
using type_of = ep::detail::type_of_contribution<
    typename ep::detail::all_contributions<ep::detail::contribution<ep::detail::computed_t<Out>>,
                                           ep::detail::contribution<ep::detail::computed_t<In>>...>::type>;

template <class Out, class A, class B>
void try_types(std::mt19937& random) {
    const index m = 5, n = 7, o = 3;
    const auto a = small_numbers<A, 2>({m, n}, random);
    const auto b = small_numbers<B, 2>({n, o}, random);
    const auto c = small_numbers<B, 2>({m, n}, random);
    using S = type_of<Out, A, B>;
    INFO("types ", ep::detail::name_of_element(ep::element_type_of<A>()), " and ",
         ep::detail::name_of_element(ep::element_type_of<B>()), " into ",
         ep::detail::name_of_element(ep::element_type_of<Out>()), " by ",
         ep::detail::name_of_element(ep::element_type_of<S>()));
    const auto sum = [](index terms, const auto& term) {
        whole made = 0;
        for (index at = 0; at < terms; ++at) {
            made += term(at);
        }
        return made;
    };
    // A sum of bool is "or", where that is the statement's type.
    const auto counted = [&](whole value) { return std::is_same_v<S, bool> ? whole(value != 0) : value; };
    ep::array<Out, 2> product({m, o}), subscripts({m, o});
    product(i, k) = a(i, j) * b(j, k);
    ep::einsum_into<"ij,jk->ik">(subscripts, a, b);
    for (index row = 0; row < m; ++row) {
        for (index column = 0; column < o; ++column) {
            const Out expected = result<S, Out>(
                counted(sum(n, [&](index at) { return number_of(a(row, at)) * number_of(b(at, column)); })));
            CHECK(product(row, column) == expected);
            CHECK(subscripts(row, column) == expected);
        }
    }
    ep::array<Out, 2> times({m, n});
    times(i, j) = a(i, j) * c(i, j);
    ep::array<Out, 1> rows({m}), named({m});
    rows(i) = a(i, j) * c(i, j);
    named(i) = ep::sum(j, a(i, j) * c(i, j));
    for (index row = 0; row < m; ++row) {
        const Out expected =
            result<S, Out>(counted(sum(n, [&](index at) { return number_of(a(row, at)) * number_of(c(row, at)); })));
        CHECK(rows(row) == expected);
        CHECK(named(row) == expected);
        for (index at = 0; at < n; ++at) {
            CHECK(times(row, at) == result<S, Out>(number_of(a(row, at)) * number_of(c(row, at))));
        }
    }
    ep::array<Out, 2> running({m, n});
    running(i, j) = ep::cumsum(j, a(i, j));
    using R = type_of<Out, A>;
    for (index row = 0; row < m; ++row) {
        for (index at = 0; at < n; ++at) {
            const whole expected = sum(at + 1, [&](index before) { return number_of(a(row, before)); });
            CHECK(running(row, at) == result<R, Out>(std::is_same_v<R, bool> ? whole(expected != 0) : expected));
        }
    }
    if constexpr (!std::is_same_v<S, bool>) {
        ep::array<Out, 2> less({m, n}), negative({m, n}), apart({m, n}), wide({m, n});
        less(i, j) = a(i, j) - c(i, j);
        negative(i, j) = -c(i, j) + a(i, j);
        apart(i, j) = a(i, j) - ep::sum(k, b(j, k));
        wide(i, j) = 100 * a(i, j) - 3 * c(i, j);
        for (index row = 0; row < m; ++row) {
            for (index at = 0; at < n; ++at) {
                const whole x = number_of(a(row, at)), y = number_of(c(row, at));
                CHECK(less(row, at) == result<S, Out>(x - y));
                CHECK(negative(row, at) == result<S, Out>(x - y));
                CHECK(apart(row, at) ==
                      result<S, Out>(x - sum(o, [&](index column) { return number_of(b(at, column)); })));
                if constexpr (!std::is_same_v<A, bool> && !std::is_same_v<B, bool>) {
                    CHECK(wide(row, at) == result<S, Out>(100 * x - 3 * y));
                }
            }
        }
    }
    if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
        ep::array<bool, 2> below({m, n}), same({m, n});
        ep::array<Out, 2> larger({m, n});
        ep::array<index, 1> most({m});
        below(i, j) = a(i, j) < c(i, j);
        same(i, j) = c(i, j) == a(i, j);
        larger(i, j) = ep::max(a(i, j), c(i, j));
        most(i) = ep::argmax(j, a(i, j));
        for (index row = 0; row < m; ++row) {
            index extreme = 0;
            for (index at = 0; at < n; ++at) {
                const whole x = number_of(a(row, at)), y = number_of(c(row, at));
                CHECK(below(row, at) == (x < y));
                CHECK(same(row, at) == (x == y));
                CHECK(larger(row, at) == result<S, Out>(x < y ? y : x));
                extreme = number_of(a(row, extreme)) < x ? at : extreme;
            }
            CHECK(most(row) == extreme);
        }
    }
}

}  // namespace

TEST_CASE("statements of integers of two types, computed in the statement's") {
    std::mt19937 random(60);
    for (int round = 0; round < 20; ++round) {
        try_types<int, std::int8_t, std::int8_t>(random);
        try_types<std::int64_t, std::uint8_t, std::uint8_t>(random);
        try_types<std::int64_t, std::int32_t, std::uint32_t>(random);
        try_types<std::int64_t, std::uint64_t, std::int8_t>(random);
        try_types<std::uint8_t, std::int16_t, std::uint8_t>(random);
        try_types<int, bool, bool>(random);
        try_types<bool, bool, bool>(random);
        try_types<std::uint16_t, bool, std::int8_t>(random);
        try_types<double, std::uint8_t, std::uint8_t>(random);
        try_types<float, std::int16_t, bool>(random);
    }
}

TEST_CASE("statements of numbers with fractions and integers") {
    std::mt19937 random(61);
    for (int round = 0; round < 20; ++round) {
        try_types<double, float, float>(random);
        try_types<double, ep::float16, double>(random);
        try_types<float, ep::bfloat16, int>(random);
        try_types<ep::float16, ep::float16, ep::bfloat16>(random);
        try_types<float, double, ep::float16>(random);
        try_types<std::complex<double>, std::complex<float>, double>(random);
        try_types<std::complex<float>, float, std::int8_t>(random);
        try_types<std::complex<double>, std::complex<double>, ep::bfloat16>(random);
        try_types<double, bool, double>(random);
        try_types<float, std::uint64_t, float>(random);
    }
}

namespace {

template <class F>
std::string thrown(const F& f) {
    try {
        f();
    } catch (const ep::error& failed) {
        return failed.what();
    }
    return "";
}

}  // namespace

TEST_CASE("integers are divided as numbers, and by zero only where that is chosen") {
    ep::array<int, 1> a({3}), b({3}), q({3});
    a(0) = 7, a(1) = std::numeric_limits<int>::min(), a(2) = -7;
    b(0) = 0, b(1) = -1, b(2) = 2;
    q(i) = ep::where(b(i) != 0, a(i) / b(i), -1);
    CHECK(q(0) == -1);
    CHECK(q(1) == std::numeric_limits<int>::min());
    CHECK(q(2) == -3);
    q(i) = ep::where(b(i) == 0, 5, ep::where(b(i) > 0, a(i) % b(i), 1 / b(i)));
    CHECK(q(0) == 5);
    CHECK(q(1) == -1);
    CHECK(q(2) == -1);
    const std::string sentence =
        "einsum i,i->i: an integer is divided by zero: write ep::where(b != 0, a / b, 0), which computes only the "
        "chosen side";
    CHECK(thrown([&] { q(i) = a(i) / b(i); }) == sentence);
    CHECK(thrown([&] { q(i) = a(i) % b(i); }) == sentence);
    CHECK(thrown([&] { q(i) = 1.5 * (a(i) / b(i)) > 0; }) == sentence);
    ep::array<double, 1> d({3});
    d(i) = a(i) / 2;  // of integers, whatever stands on the left
    CHECK(d(0) == 3.0);
    d(i) = a(i) / 2.0;
    CHECK(d(0) == 3.5);
    d(i) = 1.0 * a(i) / b(i);
    CHECK(d(0) == std::numeric_limits<double>::infinity());
    q(i) = 8;
    q(i) /= 3;
    CHECK(q(0) == 2);
    q(i) *= a(i);
    CHECK(q(2) == -14);
    q(i) %= 5;
    CHECK(q(2) == -4);
}

TEST_CASE("a signed and an unsigned integer of 64 bits") {
    ep::array<std::uint64_t, 1> u({4});
    ep::array<std::int64_t, 1> s({4}), r({4});
    u(0) = std::uint64_t{1} << 63, u(1) = 5, u(2) = 0, u(3) = ~std::uint64_t{0};
    s(0) = -1, s(1) = -10, s(2) = 3, s(3) = -1;
    ep::array<bool, 1> less({4}), equal({4}), at_least({4});
    less(i) = s(i) < u(i);
    equal(i) = u(i) == s(i);
    at_least(i) = s(i) >= u(i);
    ep::array<std::uint64_t, 1> larger({4});
    larger(i) = ep::max(u(i), s(i));
    const std::array<bool, 4> expected{true, true, false, true};
    const std::array<std::uint64_t, 4> extreme{u(0), 5, 3, u(3)};
    for (index at = 0; at < 4; ++at) {
        CHECK(less(at) == expected[std::size_t(at)]);
        CHECK(at_least(at) == !expected[std::size_t(at)]);
        CHECK_FALSE(equal(at));
        CHECK(larger(at) == extreme[std::size_t(at)]);
    }
    u(2) = 7;
    r(i) = s(i) / u(i);
    CHECK(r(0) == 0);
    CHECK(r(1) == -2);
    r(i) = s(i) % u(i);
    CHECK(r(1) == 0);
    CHECK(r(0) == -1);
    r(i) = u(i) % s(i);
    CHECK(r(1) == 5);
    CHECK(r(2) == 1);
    ep::array<std::int64_t, 0> most;
    most() = ep::max(i, u(i));  // the largest number, modulo 2⁶⁴
    CHECK(*most.data() == -1);
}

TEST_CASE("a row of short integers times those of another type, read backwards") {
    std::mt19937 random(63);
    for (const index n : {1, 2, 3}) {
        for (const index o : {5, 7, 11, 13}) {
            const auto x = small_numbers<std::int8_t, 2>({1, n}, random);
            const auto y = small_numbers<std::uint8_t, 2>({n, o}, random);
            const ep::view<const std::uint8_t, 2> backwards(y.data() + n * o - 1, {n, o}, {-o, index(-1)});
            ep::array<std::int16_t, 2> z({1, o});
            z(i, k) = x(i, j) * backwards(j, k);
            for (index column = 0; column < o; ++column) {
                int sum = 0;
                for (index at = 0; at < n; ++at) {
                    sum += x(0, at) * y(n - 1 - at, o - 1 - column);
                }
                CHECK(z(0, column) == static_cast<std::int16_t>(sum));
            }
        }
    }
}

TEST_CASE("what has a type of its own: comparisons, conditions, places, functions, numbers") {
    ep::array<float, 1> x({3});
    x(0) = 1.5F, x(1) = -2, x(2) = .1F;
    ep::array<int, 0> count;
    count() = ep::sum(i, x(i) > 0);
    CHECK(*count.data() == 2);
    ep::array<double, 1> d({3});
    d(i) = ep::where(x(i) > 0, x(i), 0.1);
    CHECK(d(1) == 0.1);
    CHECK(d(2) == double(.1F));
    d(i) = 0.1 * x(i);
    CHECK(d(1) == 0.1 * -2);
    ep::array<int, 1> n({3});
    n(0) = 2, n(1) = -3, n(2) = 0;
    d(i) = ep::exp(n(i)) + x(i);
    CHECK(d(0) == std::exp(2.0) + 1.5);
    ep::array<unsigned, 1> u({3});
    u(i) = 1;
    ep::array<bool, 1> b({3});
    b(i) = u(i) > -1 && n(i) < u(i);
    CHECK_FALSE(b(0));
    CHECK(b(1));
    b(i) = !b(i) || x(i) > 1;
    CHECK(b(0));
    CHECK_FALSE(b(1));
    ep::array<int, 2> none({3, 0});
    CHECK(thrown([&] { n(i) = ep::argmax(j, none(i, j)); }) ==
          "einsum: argmax or argmin over label j, which has extent 0");
    ep::array<std::complex<double>, 1> z({3});
    z(i) = std::complex<double>(0, 1) * ep::sqrt(x(i));  // a real function of real numbers
    CHECK(std::isnan(z(1).imag()));
    z(i) = std::complex<double>(3, 4) * n(i);
    d(i) = abs(0.5 * z(i)) + abs(where(n(i) > 0, z(i), 0.0));
    CHECK(d(0) == 15);
    // A half takes what fits it, and what a number makes a floating-point one.
    ep::array<ep::float8_e4m3, 1> h({3});
    h(i) = 1.5F * n(i);
    CHECK(float(h(1)) == -4.5F);
    h(i) = ep::where(n(i) > 0, 1, 0);
    CHECK(float(h(0)) == 1);
    ep::array<ep::float16, 1> half({3});
    ep::array<std::int16_t, 1> s({3});
    s(i) = 100;
    half(i) = 3 * s(i);
    CHECK(float(half(0)) == 300);
    ep::array<unsigned short, 1> us({3});
    us(i) = 1000;
    ep::einsum_into<"i,i->i">(half, us, x);
    CHECK(float(half(0)) == 1500);
    // += is one statement: what is added is not rounded before.
    ep::array<float, 1> f({1});
    ep::array<double, 1> e({1});
    f(0) = -1;
    e(0) = 1 + 0x1p-40;
    f(i) += e(i);
    CHECK(f(0) == 0x1p-40F);
    ep::array<std::uint8_t, 1> threes({200});
    threes(i) = 3;
    ep::array<std::int64_t, 1> sums({200});
    sums(t) = ep::cumsum(t, threes(t));
    CHECK(sums(199) == 600);
}

}  // namespace statement_type_test
