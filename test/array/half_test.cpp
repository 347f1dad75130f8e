// Elements of 16 and 8 bits on arrays: how they are rounded, and what is computed in float between.

#include <einparallel.hpp>

#include <support/long_suite.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace half_test {

namespace {

namespace ep = einparallel;
EINPARALLEL_LABELS(b, i, j, k, t);

constexpr float inf = std::numeric_limits<float>::infinity();

/// How a format lays its bits out, from its definition.
struct layout {
    int fraction, bias;
    unsigned sign, last;  ///< the sign's bit, and the pattern of the largest number
};
template <class Half>
constexpr layout layout_of() {
    return std::is_same_v<Half, ep::float16>       ? layout{10, 15, 0x8000, 0x7bff}
           : std::is_same_v<Half, ep::bfloat16>    ? layout{7, 127, 0x8000, 0x7f7f}
           : std::is_same_v<Half, ep::float8_e4m3> ? layout{3, 7, 0x80, 0x7e}
                                                   : layout{2, 15, 0x80, 0x7b};
}
template <class Half>
constexpr bool has_infinity = !std::is_same_v<Half, ep::float8_e4m3>;

/// What the bits of a half stand for.
template <class Half>
double value_of(unsigned bits) {
    constexpr layout format = layout_of<Half>();
    const unsigned size = bits & (format.sign - 1);
    const unsigned exponent = size >> format.fraction;
    const unsigned rest = size & ((1U << format.fraction) - 1U);
    const double sign = (bits & format.sign) != 0 ? -1 : 1;
    if (size > format.last) {
        return has_infinity<Half> && size == format.last + 1 ? sign * std::numeric_limits<double>::infinity()
                                                             : std::nan("");
    }
    return exponent == 0
               ? sign * std::ldexp(rest, 1 - format.bias - format.fraction)
               : sign * std::ldexp((1U << format.fraction) + rest, int(exponent) - format.bias - format.fraction);
}

/// The bits of the nearest half, even ones of two that are as near.
template <class Half>
unsigned nearest(double x) {
    constexpr layout format = layout_of<Half>();
    unsigned low = 0;  // of halves from 0 up, the last one that is no larger
    unsigned high = format.last + 1;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        (value_of<Half>(middle) <= std::abs(x) ? low : high) = middle;
    }
    // What is no number stands for the one that would come next.
    const double above = high > format.last ? 2 * value_of<Half>(low) - value_of<Half>(low - 1) : value_of<Half>(high);
    const double to_low = std::abs(x) - value_of<Half>(low);
    const double to_high = above - std::abs(x);
    const bool up = to_high < to_low || (to_high == to_low && low % 2 == 1);
    return (up ? high : low) | (std::signbit(x) ? format.sign : 0U);
}

template <class Half>
void check_rounding() {
    using bits_type = typename Half::bits_type;
    constexpr layout format = layout_of<Half>();
    for (unsigned bits = 0; bits < 2 * format.sign; ++bits) {
        const Half half = Half::of_bits(bits_type(bits));
        const double value = value_of<Half>(bits);
        const bool same = std::isnan(value) ? std::isnan(float(half)) && std::isnan(float(Half(float(half))))
                                            : float(half) == value && Half(float(half)).bits() == bits;
        REQUIRE(same);
    }
    std::mt19937 random(1);
    for (int trial = 0; trial < 200'000; ++trial) {
        const auto any = std::bit_cast<float>(std::uint32_t(random()));
        if (std::isnan(any)) {
            continue;
        }
        REQUIRE(Half(any).bits() == nearest<Half>(any));
        // Between two halves, on the middle, and a hair beside it, which no float tells from it.
        const unsigned low = unsigned(random() % format.last);
        const double middle = (value_of<Half>(low) + value_of<Half>(low + 1)) / 2;
        for (const double x : {middle, middle * (1 + 1e-15), middle * (1 - 1e-15), -middle}) {
            REQUIRE(Half(x).bits() == nearest<Half>(x));
        }
    }
    CHECK(Half(inf).bits() == nearest<Half>(1e300));
    CHECK(Half(-inf).bits() == nearest<Half>(-1e300));
    CHECK(Half(-std::numeric_limits<float>::quiet_NaN()).bits() >= layout_of<Half>().sign);
    CHECK(Half(3).bits() == nearest<Half>(3));
    CHECK(Half(true) == 1);
    for (const int shift : {62, 61, 57, 54, 40}) {  // a hair above the middle of two bfloat16, and below
        const std::int64_t middle = (std::int64_t{1} << shift) + (std::int64_t{1} << (shift - 8));
        const auto large = ep::bfloat16(double(middle) * (1 + 0x1p-30));
        CHECK(ep::bfloat16(middle + 1).bits() == large.bits());
        CHECK(ep::bfloat16(-middle - 1).bits() == (large.bits() | 0x8000));
        CHECK(ep::bfloat16(std::uint64_t(middle) + 1).bits() == large.bits());
        CHECK(ep::bfloat16(middle - 1).bits() == ep::bfloat16(double(middle) * (1 - 0x1p-30)).bits());
        CHECK(ep::bfloat16(middle).bits() == ep::bfloat16(std::ldexp(1.0, shift)).bits());  // to even
    }
}

/// Elements near 1, exactly what they are.
template <class T, std::size_t Rank>
void fill(ep::array<T, Rank>& x, std::mt19937& random) {
    for (std::size_t at = 0; at < std::size_t(x.size()); ++at) {
        x.data()[at] = T(std::uniform_real_distribution<float>(-1, 1)(random));
    }
}

/// Σ_j x(b, i, j) y(b, j, k) where every tensor has its dimensions in any order, and t is summed of x alone.
template <class X, class Y>
int check_products(unsigned seed, int trials) {
    std::mt19937 random(seed);
    const ep::index lengths[] = {1, 2, 3, 5, 8, 16, 17, 33, 64, 70, 130, 200};
    const auto length = [&] { return lengths[random() % std::size(lengths)]; };
    int wrong = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const ep::index m = length();
        const ep::index n = length();
        const ep::index depth = length();
        const ep::index batch = trial % 3 == 0 ? 1 + ep::index(random() % 4) : 1;
        const ep::index own = trial % 5 == 0 ? 3 : 1;
        ep::array<X, 4> x({batch, m, depth, own});
        ep::array<X, 4> x_turned({own, depth, batch, m});
        ep::array<Y, 3> y({batch, depth, n});
        ep::array<Y, 3> y_turned({n, batch, depth});
        fill(x, random);
        fill(y, random);
        x_turned(t, j, b, i) = x(b, i, j, t);
        y_turned(k, b, j) = y(b, j, k);
        ep::array<float, 3> z({batch, m, n});
        ep::array<float, 3> z_turned({n, batch, m});
        const bool adds = trial % 4 == 3;
        fill(z, random);
        const ep::array<float, 3> before = z;
        z_turned(k, b, i) = z(b, i, k);
        const auto run = [&](auto&& into, const auto& left, const auto& right) {
            if (adds) {
                into += 0.5F * left * right;
            } else {
                into = 0.5F * left * right;
            }
        };
        const auto with_left = [&](const auto& left) {
            if (trial % 7 < 4) {
                trial % 2 == 0 ? run(z(b, i, k), left, y(b, j, k)) : run(z_turned(k, b, i), left, y(b, j, k));
            } else {
                trial % 2 == 0 ? run(z(b, i, k), left, y_turned(k, b, j))
                               : run(z_turned(k, b, i), left, y_turned(k, b, j));
            }
        };
        if (trial % 11 < 6) {
            with_left(x(b, i, j, t));
        } else {
            with_left(x_turned(t, j, b, i));
        }
        for (ep::index q = 0; q < batch; ++q) {
            for (ep::index row = 0; row < m; ++row) {
                for (ep::index column = 0; column < n; ++column) {
                    long double sum = 0;
                    long double size = 0;
                    for (ep::index at = 0; at < depth; ++at) {
                        for (ep::index each = 0; each < own; ++each) {
                            const auto term = 0.5L * float(x(q, row, at, each)) * float(y(q, at, column));
                            sum += term;
                            size += std::abs(term);
                        }
                    }
                    sum += adds ? before(q, row, column) : 0.0F;
                    size += adds ? std::abs(before(q, row, column)) : 0.0F;
                    const float made = trial % 2 == 0 ? z(q, row, column) : z_turned(column, q, row);
                    const auto bound = (double(depth * own) + 3) * 0x1p-24 * double(size);
                    wrong += std::abs(made - sum) <= bound ? 0 : 1;
                }
            }
        }
    }
    return wrong;
}

}  // namespace

#define HALVES ep::float16, ep::bfloat16, ep::float8_e4m3, ep::float8_e5m2

TEST_CASE_TEMPLATE("the limits of halves are those of their bits", Half, HALVES) {
    using limits = std::numeric_limits<Half>;
    static_assert(limits::is_specialized && limits::has_infinity == has_infinity<Half> && limits::is_signed &&
                  !limits::is_integer);
    CHECK(double(limits::max()) == value_of<Half>(layout_of<Half>().last));
    CHECK(std::ilogb(double(limits::max())) == limits::max_exponent - 1);
    CHECK(std::floor(std::log10(double(limits::max()))) == limits::max_exponent10);
    CHECK(std::ceil(std::log10(double(limits::min()))) == limits::min_exponent10);
    CHECK(double(limits::lowest()) == -double(limits::max()));
    CHECK(double(limits::min()) == std::ldexp(1.0, limits::min_exponent - 1));
    CHECK(double(limits::epsilon()) == std::ldexp(1.0, 1 - limits::digits));
    CHECK(double(limits::denorm_min()) == std::ldexp(double(limits::min()), 1 - limits::digits));
    CHECK(float(limits::round_error()) == 0.5F);
    CHECK(float(limits::infinity()) == (has_infinity<Half> ? inf : 0.0F));
    CHECK((std::isnan(float(limits::quiet_NaN())) && std::isnan(float(limits::signaling_NaN()))));
    const Half too_large(float(limits::max()) * 1.14F);
    CHECK((has_infinity<Half> ? too_large == limits::infinity() : std::isnan(float(too_large))));
}

TEST_CASE("halves are the nearest ones, ties to even, and rounded once") {
    check_rounding<ep::float16>();
    check_rounding<ep::bfloat16>();
    check_rounding<ep::float8_e4m3>();
    check_rounding<ep::float8_e5m2>();
}

TEST_CASE_TEMPLATE("rows of halves are converted as one by one", Half, HALVES) {
    const ep::index patterns = 2 * layout_of<Half>().sign;
    ep::array<Half, 1> all({patterns});
    for (ep::index at = 0; at < patterns; ++at) {
        all(at) = Half::of_bits(typename Half::bits_type(at));
    }
    ep::array<float, 1> wide;
    ep::array<Half, 1> back;
    ep::array<Half, 1> copied;
    wide(i) = all(i);
    back(i) = wide(i);
    copied(i) = all(i);
    int wrong = 0;
    for (ep::index at = 0; at < patterns; ++at) {
        const float value = all(at);
        wrong += value == wide(at) || (std::isnan(value) && std::isnan(wide(at))) ? 0 : 1;
        wrong += back(at).bits() == Half(value).bits() || std::isnan(value) ? 0 : 1;
        wrong += copied(at).bits() == at ? 0 : 1;  // as it is, NaNs too
    }
    CHECK(wrong == 0);
    std::mt19937 random(2);
    ep::array<float, 1> floats({100'003});
    for (ep::index at = 0; at < floats.extent(0); ++at) {
        floats(at) = at % 2 == 0 ? std::bit_cast<float>(std::uint32_t(random()))
                                 : float(value_of<Half>(unsigned(random())) * (1 + double(random() % 3) / 16));
    }
    ep::array<Half, 1> narrow;
    narrow(i) = floats(i);
    for (ep::index at = 0; at < floats.extent(0); ++at) {
        const bool same =
            std::isnan(floats(at)) ? std::isnan(float(narrow(at))) : narrow(at).bits() == Half(floats(at)).bits();
        wrong += same ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("products of halves are sums of floats") {
    using ep::testing::tried_cases;
    CHECK(check_products<ep::float16, ep::float16>(1, tried_cases(600)) == 0);
    CHECK(check_products<ep::bfloat16, ep::bfloat16>(2, tried_cases(600)) == 0);
    CHECK(check_products<ep::bfloat16, float>(3, tried_cases(600)) == 0);
    CHECK(check_products<float, ep::float16>(4, tried_cases(600)) == 0);
    CHECK(check_products<ep::float16, ep::bfloat16>(5, tried_cases(600)) == 0);
    CHECK(check_products<float, float>(6, tried_cases(600)) == 0);
    CHECK(check_products<ep::float8_e4m3, ep::float8_e4m3>(7, tried_cases(240)) == 0);
    CHECK(check_products<ep::float8_e5m2, float>(8, tried_cases(240)) == 0);
    CHECK(check_products<ep::bfloat16, ep::float8_e4m3>(9, tried_cases(240)) == 0);
    CHECK(check_products<ep::float8_e5m2, ep::float8_e4m3>(10, tried_cases(240)) == 0);
}

TEST_CASE_TEMPLATE("what has a name is rounded once, a term is not rounded", Half, HALVES) {
    std::mt19937 random(6);
    ep::array<Half, 2> x({37, 53});
    ep::array<Half, 2> y({53, 29});
    ep::array<Half, 1> v({37});
    fill(x, random);
    fill(y, random);
    fill(v, random);
    ep::array<float, 2> exact;
    ep::array<Half, 2> z;
    const auto differ = [&] {
        int wrong = 0;
        for (ep::index row = 0; row < exact.extent(0); ++row) {
            for (ep::index column = 0; column < exact.extent(1); ++column) {
                wrong += z(row, column).bits() == Half(exact(row, column)).bits() ? 0 : 1;
            }
        }
        return wrong;
    };
    exact(i, k) = x(i, j) * y(j, k);
    z(i, k) = x(i, j) * y(j, k);
    CHECK(differ() == 0);
    // Two sums and a term: added up in float.
    exact(i, k) = ep::sum(j, x(i, j) * y(j, k)) - 2 * ep::sum(j, exp(x(i, j)) * y(j, k)) + v(i) / 3;
    z(i, k) = ep::sum(j, x(i, j) * y(j, k)) - 2 * ep::sum(j, exp(x(i, j)) * y(j, k)) + v(i) / 3;
    CHECK(differ() == 0);
    ep::array<float, 2> old;
    old(i, k) = z(i, k);
    exact(i, k) = old(i, k) + x(i, j) * y(j, k) + 1;
    z(i, k) += x(i, j) * y(j, k) + 1;
    CHECK(differ() == 0);
    old(i, k) = z(i, k);
    exact(i, k) = old(i, k) - tanh(v(i)) * v(i);
    z(i, k) -= tanh(v(i)) * v(i);
    CHECK(differ() == 0);
    // 0.1 is the float beside a half, not the half.
    exact(i, j) = 0.1F * exact(i, j);
    old(i, k) = z(i, k);
    exact(i, k) = 0.1F * old(i, k);
    z(i, k) = 0.1 * z(i, k);
    CHECK(differ() == 0);
}

TEST_CASE_TEMPLATE("sums, extremes, rows and selections of halves", Half, HALVES) {
    std::mt19937 random(7);
    ep::array<Half, 2> x({40, 300});
    fill(x, random);
    ep::array<float, 2> wide;
    wide(i, j) = x(i, j);
    ep::array<float, 1> sum, expected;
    sum(i) = x(i, j);
    expected(i) = wide(i, j);
    CHECK(sum(17) == doctest::Approx(expected(17)).epsilon(1e-6));
    ep::array<Half, 1> largest, mean;
    largest(i) = ep::max(j, x(i, j));
    mean(i) = ep::mean(j, x(i, j));
    ep::array<float, 1> largest_wide, mean_wide;
    largest_wide(i) = ep::max(j, wide(i, j));
    mean_wide(i) = ep::mean(j, wide(i, j));
    ep::array<Half, 2> soft;
    ep::array<float, 2> soft_wide;
    soft(i, j) = ep::softmax(j, x(i, j));
    soft_wide(i, j) = ep::softmax(j, wide(i, j));
    ep::array<Half, 2> running;
    ep::array<float, 2> running_wide;
    running(i, j) = ep::cumsum(j, x(i, j));
    running_wide(i, j) = ep::cumsum(j, wide(i, j));
    ep::array<ep::index, 1> place, place_wide;
    place(i) = ep::argmax(j, x(i, j));
    place_wide(i) = ep::argmax(j, wide(i, j));
    ep::array<bool, 2> above;
    above(i, j) = x(i, j) > 0.25;
    ep::array<Half, 2> chosen;
    chosen(i, j) = where(x(i, j) < 0, Half(0), x(i, j));
    for (ep::index row = 0; row < 40; ++row) {
        CHECK(float(largest(row)) == largest_wide(row));
        CHECK(mean(row).bits() == Half(mean_wide(row)).bits());
        CHECK(place(row) == place_wide(row));
        CHECK(soft(row, 7).bits() == Half(soft_wide(row, 7)).bits());
        CHECK(running(row, 299).bits() == Half(running_wide(row, 299)).bits());
        CHECK(above(row, 5) == (float(x(row, 5)) > 0.25F));
        CHECK(float(chosen(row, 3)) == std::max(0.0F, float(x(row, 3))));
    }
    // Rows that data name, and shifted ones.
    ep::array<int, 1> token({3});
    token(0) = 39;
    token(1) = 0;
    token(2) = 17;
    ep::array<Half, 2> rows, shifted;
    rows(t, j) = x(token(t), j);
    shifted(i, k) = x(i, k + ep::index(1)) + x(i, k);
    CHECK(rows(0, 11).bits() == x(39, 11).bits());
    CHECK(rows(2, 200).bits() == x(17, 200).bits());
    CHECK(shifted.extent(1) == 299);
    CHECK(shifted(3, 298).bits() == Half(float(x(3, 299)) + float(x(3, 298))).bits());
    // Parts on the left, and what would be rounded again and again.
    ep::array<Half, 1> part({6});
    ep::array<Half, 1> added({5});
    for (ep::index at = 0; at < 5; ++at) {
        part(at) = x(0, at);
        added(at) = x(1, at);
    }
    part(5) = x(0, 5);
    part(i + 1) += added(i) / 3;
    CHECK(part(0).bits() == x(0, 0).bits());
    CHECK(part(4).bits() == Half(float(x(0, 4)) + float(x(1, 3)) / 3).bits());
    CHECK_THROWS_WITH_AS(part(i + j) += added(i) * ep::iota(j) * 0.5F, doctest::Contains("array of floats"), ep::error);
    // What several tokens name is added up in float.
    ep::array<Half, 1> counted({2});
    counted(0) = Half(0);
    counted(1) = Half(0);
    ep::array<int, 1> into({5000});
    for (ep::index at = 0; at < 5000; ++at) {
        into(at) = 0;
    }
    ep::array<Half, 1> ones({5000});
    for (ep::index at = 0; at < 5000; ++at) {
        ones(at) = Half(1);
    }
    counted(into(i)) += ones(i);
    CHECK(counted(0).bits() == Half(5000).bits());
}

TEST_CASE_TEMPLATE("what lies in pieces, and products of several, read halves as floats", Half, HALVES) {
    std::mt19937 random(9);
    ep::array<Half, 2> x({3, 4});
    ep::array<Half, 2> y({4, 3});
    ep::array<Half, 2> v({3, 5});
    fill(x, random);
    fill(y, random);
    fill(v, random);
    ep::array<float, 2> wide_x, wide_y, wide_v;
    wide_x(i, j) = x(i, j);
    wide_y(j, k) = y(j, k);
    wide_v(k, t) = v(k, t);
    const auto apart = [](const ep::array<float, 2>& made, const ep::array<float, 2>& expected) {
        float most = made.extents() == expected.extents() ? 0.0F : 1.0F;
        for (ep::index at = 0; at < expected.size() && most < 1; ++at) {
            most = std::max(most, std::abs(made.data()[at] - expected.data()[at]));
        }
        return most;
    };
    ep::array<float, 2> made, expected;
    made(i, k) = ep::padded(x, {1, 0}, {1, 0}, 0)(i, j) * y(j, k);
    expected(i, k) = ep::padded(wide_x, {1, 0}, {1, 0}, 0)(i, j) * wide_y(j, k);
    CHECK(apart(made, expected) < 1e-6F);
    ep::array<float, 2> joined, joined_expected;
    joined(i, j) = ep::concatenate(0, x, x)(i, j);
    joined_expected(i, j) = ep::concatenate(0, wide_x, wide_x)(i, j);
    CHECK(apart(joined, joined_expected) == 0);
    joined(i, j) = ep::softmax(j, ep::concatenate(0, x, x)(i, j));
    joined_expected(i, j) = ep::softmax(j, ep::concatenate(0, wide_x, wide_x)(i, j));
    CHECK(apart(joined, joined_expected) < 1e-6F);
    ep::array<float, 2> all, wanted;
    wanted(i, t) = wide_x(i, j) * wide_y(j, k) * wide_v(k, t);
    all(i, t) = x(i, j) * y(j, k) * v(k, t);
    CHECK(apart(all, wanted) < 1e-5F);
    all(i, t) = wide_x(i, j) * y(j, k) * v(k, t);
    CHECK(apart(all, wanted) < 1e-5F);
    all(i, t) = ep::einsum<"ij,jk,kt->it">(x, y, v)(i, t);
    CHECK(apart(all, wanted) < 1e-5F);
    all = ep::einsum(std::string("ij,jk,kt->it"), x, y, v);
    CHECK(apart(all, wanted) < 1e-5F);
    // A function's own halves.
    const auto rounded = [](float z) { return Half(z); };
    all(k, t) = ep::softmax(t, ep::map(rounded, wide_v(k, t) / 3));
    wanted(k, t) = ep::softmax(t, wide_v(k, t) / 3);
    CHECK(apart(all, wanted) < 2 * float(std::numeric_limits<Half>::epsilon()));
}

TEST_CASE("halves in subscripts, in other types and as text") {
    std::mt19937 random(8);
    ep::array<ep::bfloat16, 2> x({20, 30});
    ep::array<ep::bfloat16, 2> y({30, 10});
    fill(x, random);
    fill(y, random);
    const auto z = ep::einsum<"ij,jk->ik">(x, y);  // of floats, which hold the sums
    static_assert(std::is_same_v<decltype(z)::value_type, float>);
    ep::array<float, 2> expected;
    expected(i, k) = x(i, j) * y(j, k);
    CHECK(z(3, 4) == expected(3, 4));
    ep::array<ep::bfloat16, 2> rounded({20, 10});
    ep::einsum_into<"ij,jk->ik">(rounded, x, y);
    CHECK(rounded(3, 4).bits() == ep::bfloat16(expected(3, 4)).bits());
    ep::array<double, 2> twice;
    twice(i, k) = 2.0 * x(i, j) * y(j, k);
    CHECK(twice(3, 4) == doctest::Approx(2 * expected(3, 4)).epsilon(1e-6));
    CHECK(ep::detail::name_of_element(ep::element_type_of<ep::bfloat16>()) == "B2");
    CHECK(ep::detail::name_of_element(ep::element_type_of<ep::float16>()) == "f2");
    CHECK(ep::detail::name_of_element(ep::element_type_of<ep::float8_e4m3>()) == "E1");
    CHECK(ep::detail::name_of_element(ep::element_type_of<ep::float8_e5m2>()) == "F1");
}

}  // namespace half_test
