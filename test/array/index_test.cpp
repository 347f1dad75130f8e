// Operands and left-hand sides at functions of labels, and padded ones, against loops written here.

#include <einparallel.hpp>

#include <support/sentence_of.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace index_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::sentence_of;

namespace {

EINPARALLEL_LABELS(i, j, k, r, s, c, o, x, y);

class random_numbers {
public:
    explicit random_numbers(unsigned seed) : bits_(seed) {}
    index operator()(index from, index to) { return std::uniform_int_distribution<index>(from, to)(bits_); }

private:
    std::mt19937 bits_;
};

template <class T>
T number(index of) {
    return ep::detail::converted<T>(static_cast<double>(of));
}

template <class T, std::size_t Rank>
ep::array<T, Rank> filled(const std::array<index, Rank>& extents, random_numbers& random) {
    ep::array<T, Rank> made(extents);
    for (index at = 0; at < made.size(); ++at) {
        made.data()[at] = number<T>(std::is_unsigned_v<T> ? random(0, 1) : random(-4, 4));
    }
    return made;
}

/// The element at an index that may lie in what is around the array.
template <class T, std::size_t Rank>
T around(const ep::array<T, Rank>& tensor, std::array<index, Rank> at, const std::array<index, Rank>& before, T value) {
    index offset = 0;
    for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
        at[dimension] -= before[dimension];
        if (at[dimension] < 0 || at[dimension] >= tensor.extent(dimension)) {
            return value;
        }
        offset += at[dimension] * tensor.strides()[dimension];
    }
    return tensor.data()[offset];
}

template <class T>
bool near(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        return a == b;
    } else {
        return std::abs(a - b) <= 1e-5 * (1 + std::abs(b));
    }
}

/// An extent that reads at slope1 · label1 + slope2 · label2 + constant need, and the constant that keeps them inside.
struct span {
    index constant = 0;
    index extent = 1;
    span(random_numbers& random, std::initializer_list<std::pair<index, index>> terms) {
        index lowest = 0;
        index highest = 0;
        for (const auto& [slope, count] : terms) {
            (slope < 0 ? lowest : highest) += slope * (count - 1);
        }
        constant = random(0, 2) - lowest;
        extent = constant + highest + 1 + random(0, 2);
    }
};

/// Of all kinds where `every_statement`: each type's are compiled for it.
template <class T, bool every_statement>
int wrong_statements(unsigned seed, int rounds) {
    random_numbers random(seed);
    int wrong = 0;
    const auto check = [&](T got, T expected) { wrong += near(got, expected) ? 0 : 1; };
    for (int round = 0; round < rounds; ++round) {
        const index m = random(1, 9);
        const index n = random(1, 6);
        const index q = random(1, 4);
        const index a = random(-3, 3);
        const index b = random(-3, 3);
        const index before = random(0, 3);
        const index after = random(0, 3);
        const T value = number<T>(random(0, 3));
        const auto w = filled<T, 2>({q, n}, random);
        {  // one label reads two dimensions; a sum; what is around
            const span first(random, {{a, m}, {b, q}});
            const span second(random, {{b, m}, {1, n}});
            const auto A = filled<T, 2>({std::max<index>(1, first.extent - before - after), second.extent}, random);
            const auto P =
                ep::padded(A, {before, 0}, {std::max<index>(0, first.extent - A.extent(0) - before), 0}, value);
            ep::array<T, 2> Z({m, n});
            Z(i, j) = P(a * i + b * r + first.constant, b * i + j + second.constant) * w(r, j);
            ep::array<T, 2> Y({m, n});
            Y(i, j) = ep::sum(r, P(a * i + b * r + first.constant, b * i + j + second.constant) + w(r, j));
            for (index u = 0; u < m; ++u) {
                for (index v = 0; v < n; ++v) {
                    T sum = T();
                    T plain = T();
                    for (index p = 0; p < q; ++p) {
                        const T each = around<T, 2>(A, {a * u + b * p + first.constant, b * u + v + second.constant},
                                                    {before, 0}, value);
                        sum = static_cast<T>(sum + each * w(p, v));
                        plain = static_cast<T>(plain + each + w(p, v));
                    }
                    check(Z(u, v), sum);
                    check(Y(u, v), plain);
                }
            }
        }
        if constexpr (!every_statement) {
            continue;
        }
        {  // element by element, a fixed index, accumulated
            const span at(random, {{a, m}});
            const auto A = filled<T, 2>({at.extent, q}, random);
            const index fixed = random(0, q - 1);
            auto Z = filled<T, 1>({m}, random);
            const auto before_it = Z;
            const auto B = filled<T, 1>({m}, random);
            Z(i) += A(a * i + at.constant, fixed) * B(i) - B(m - 1 - i);
            for (index u = 0; u < m; ++u) {
                check(Z(u), static_cast<T>(before_it(u) + A(a * u + at.constant, fixed) * B(u) - B(m - 1 - u)));
            }
        }
        {  // on the left: a part is written, the rest kept
            const index slope = a == 0 ? 1 : a;
            const span at(random, {{slope, m}});
            auto Z = filled<T, 3>({n, at.extent, q}, random);
            const auto before_it = Z;
            const auto B = filled<T, 2>({m, n}, random);
            const index fixed = random(0, q - 1);
            Z(j, slope * i + at.constant, fixed) = B(i, j);
            int kept = 0;
            for (index at_all = 0; at_all < Z.size(); ++at_all) {
                kept += Z.data()[at_all] == before_it.data()[at_all] ? 0 : 1;
            }
            wrong += kept > m * n ? 1 : 0;
            for (index u = 0; u < m; ++u) {
                for (index v = 0; v < n; ++v) {
                    check(Z(v, slope * u + at.constant, fixed), B(u, v));
                }
            }
        }
        {  // several indices name one element
            const span at(random, {{a, m}, {b, n}});
            auto Z = filled<T, 2>({at.extent, q}, random);
            auto expected = Z;
            const auto u = filled<T, 2>({m, q}, random);
            const auto v = filled<T, 1>({n}, random);
            Z(a * i + b * j + at.constant, k) += u(i, k) * v(j);
            for (index at_i = 0; at_i < m; ++at_i) {
                for (index at_j = 0; at_j < n; ++at_j) {
                    for (index at_k = 0; at_k < q; ++at_k) {
                        T& sum = expected(a * at_i + b * at_j + at.constant, at_k);
                        sum = static_cast<T>(sum + u(at_i, at_k) * v(at_j));
                    }
                }
            }
            for (index at_all = 0; at_all < Z.size(); ++at_all) {
                check(Z.data()[at_all], expected.data()[at_all]);
            }
        }
        {  // three operands, of which one is padded; and an index that no memory of another is at
            const auto A = filled<T, 1>({m + q - 1}, random);
            const auto B = filled<T, 1>({n}, random);
            ep::array<T, 2> Z;
            Z(i, j) = A(i + r) * w(r, s) * ep::padded(B, {before}, {q}, value)(s + j);
            CHECK(Z.extent(0) == m);
            CHECK(Z.extent(1) == before + q + 1);
            for (index u = 0; u < Z.extent(0); ++u) {
                for (index v = 0; v < Z.extent(1); ++v) {
                    T sum = T();
                    for (index p = 0; p < q; ++p) {
                        for (index t = 0; t < n; ++t) {
                            sum = static_cast<T>(sum + A(u + p) * w(p, t) * around<T, 1>(B, {t + v}, {before}, value));
                        }
                    }
                    check(Z(u, v), sum);
                }
            }
        }
        if constexpr (!ep::detail::is_complex<T>::value) {  // other sums
            const auto A = filled<T, 2>({m, n}, random);
            const auto P = ep::padded(A, {before, 1}, {after, 0}, value);
            ep::array<T, 1> Z;
            Z(i) = ep::max(j, P(i, j) + P(i, n - j));
            ep::array<T, 1> Y;
            Y(i) = ep::min(P(i + before, j));
            for (index u = 0; u < m + before + after; ++u) {
                const auto p = [&](index at_j) { return around<T, 2>(A, {u, at_j}, {before, 1}, value); };
                T most = static_cast<T>(p(0) + p(n));
                for (index v = 0; v <= n; ++v) {
                    most = std::max<T>(most, static_cast<T>(p(v) + p(n - v)));
                }
                check(Z(u), most);
            }
            for (index u = 0; u < m + after; ++u) {
                T least = value;
                for (index v = 0; v <= n; ++v) {
                    least = std::min<T>(least, around<T, 2>(A, {u + before, v}, {before, 1}, value));
                }
                check(Y(u), least);
            }
        }
        if constexpr (std::is_floating_point_v<T>) {  // rows are whole in a softmax; maps
            const auto A = filled<T, 2>({m, n}, random);
            const auto P = ep::padded(A, {0, before}, {0, after}, value);
            ep::array<T, 2> Z;
            Z(i, j) = ep::softmax(j, P(i, j));
            ep::array<T, 1> Y;
            Y(i) = exp(ep::sum(j, P(i, j) * T(0.1))) + P(i, 0);
            for (index u = 0; u < m; ++u) {
                T all = T();
                T sum = T();
                for (index v = 0; v < n + before + after; ++v) {
                    const T each = around<T, 2>(A, {u, v}, {0, before}, value);
                    all += std::exp(each);
                    sum += each;
                }
                for (index v = 0; v < n + before + after; ++v) {
                    check(Z(u, v), std::exp(around<T, 2>(A, {u, v}, {0, before}, value)) / all);
                }
                check(Y(u), std::exp(sum * T(0.1)) + around<T, 2>(A, {u, 0}, {0, before}, value));
            }
        }
    }
    return wrong;
}

}  // namespace

TEST_CASE("random statements at functions of labels") {
    CHECK(wrong_statements<double, true>(17, 150) == 0);
    CHECK(wrong_statements<int, true>(18, 100) == 0);
    CHECK(wrong_statements<float, false>(19, 100) == 0);
    CHECK(wrong_statements<std::complex<double>, false>(20, 100) == 0);
    CHECK(wrong_statements<std::complex<float>, false>(21, 100) == 0);
    CHECK(wrong_statements<std::int8_t, false>(22, 100) == 0);
    CHECK(wrong_statements<std::uint16_t, false>(23, 100) == 0);
    CHECK(wrong_statements<index, false>(24, 100) == 0);
}

TEST_CASE("a convolution of images, padded: strides, dilation") {
    random_numbers random(5);
    for (const auto& [stride, dilation, around_it] : {std::array<index, 3>{1, 1, 1}, {2, 1, 1}, {1, 2, 2}, {3, 2, 0}}) {
        const auto A = filled<float, 3>({4, 11, 9}, random);
        const auto W = filled<float, 4>({5, 4, 3, 3}, random);
        ep::array<float, 3> Z;
        Z(o, y, x) = ep::padded(A, {0, around_it, around_it}, {0, around_it, around_it}, 0)(
                         c, stride * y + dilation * r, stride * x + dilation * s) *
                     W(o, c, r, s);
        CHECK(Z.extent(1) == (11 + 2 * around_it - dilation * 2 - 1) / stride + 1);
        CHECK(Z.extent(2) == (9 + 2 * around_it - dilation * 2 - 1) / stride + 1);
        int wrong = 0;
        for (index at_o = 0; at_o < 5; ++at_o) {
            for (index at_y = 0; at_y < Z.extent(1); ++at_y) {
                for (index at_x = 0; at_x < Z.extent(2); ++at_x) {
                    float sum = 0;
                    for (index at = 0; at < 36; ++at) {
                        sum += around<float, 3>(A,
                                                {at / 9, stride * at_y + dilation * (at / 3 % 3),
                                                 stride * at_x + dilation * (at % 3)},
                                                {0, around_it, around_it}, 0.0F) *
                               W(at_o, at / 9, at / 3 % 3, at % 3);
                    }
                    wrong += near(Z(at_o, at_y, at_x), sum) ? 0 : 1;
                }
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("extents follow from what reads them: the valid part") {
    ep::array<double, 1> A({10});
    ep::array<double, 1> w({3});
    for (index at = 0; at < 10; ++at) {
        A(at) = static_cast<double>(at * at);
    }
    ep::array<double, 1> Z;
    Z(i) = A(i + r) * w(r);
    CHECK(Z.extent(0) == 8);
    ep::array<double, 1> D;  // an operand that is also read farther on is read as far as that goes
    D(i) = A(i) - 2 * A(i + 1) + A(i + 2);
    CHECK(D.extent(0) == 8);
    CHECK(D(7) == 2);
    ep::array<double, 1> E;
    E(i) = A(2 * i + 1);
    CHECK(E.extent(0) == 5);
    CHECK(E(4) == 81);
    ep::array<double, 1> F;
    F(i) = A(9 - i);
    CHECK(F.extent(0) == 10);
    CHECK(F(0) == 81);
    ep::array<double, 1> part({4});
    part(i) = A(i + 3);  // the left side says how many
    CHECK(part(3) == 36);
    ep::array<double, 2> M({3, 4});
    M(i, 2) = w(i) + 1;
    M(0, j) += ep::iota(j);
    CHECK(M(0, 2) == 3);
    CHECK(M(2, 2) == 1);
    CHECK(M(1, 3) == 0);
    M(i, i + 1) = 7.0;
    CHECK(M(2, 3) == 7);
    ep::array<double, 1> B({10});
    ep::array<double, 1> G;
    CHECK(sentence_of([&] { G(i) = A(i + 1) * B(i); }) ==
          "einsum: index i + 1 of dimension 0 of operand 1 runs from 1 to 10, outside the extent 10");
    G(i) = std::move(B)(i + 4) + ep::array<double, 1>({6})(i);
    CHECK(G.extent(0) == 6);
}

TEST_CASE("what cannot be is one sentence, and nothing is written") {
    ep::array<double, 1> A({3});
    ep::array<double, 1> B({2});
    ep::array<double, 1> Z({4});
    ep::array<double, 1> fresh;
    const std::pair<std::string, std::string> said[] = {
        {sentence_of([&] { Z(i - 1) = A(i); }),
         "einsum: index i - 1 of dimension 0 of the output runs from -1 to 1, outside the extent 4"},
        {sentence_of([&] { Z(i + j) = A(i) * B(j); }),
         "einsum: several indices on the left name one element: say += to add up what is assigned to it"},
        {sentence_of([&] { fresh(i) = A(i + 3); }),
         "einsum: index i + 3 of dimension 0 of operand 1 leaves no value for label i: the dimension has extent 3"},
        {sentence_of([&] { fresh(i) = A(i + r); }),
         "einsum: the extent of label i is not known: give the left-hand side extents, or let an operand have the "
         "label as a dimension of its own"},
        {sentence_of([&] { fresh(i) = A(2 * ((index(1) << 62) * i)); }),
         "einsum: the coefficients of an index are beyond 2^63"},
        {sentence_of([&] { fresh(i) = A((index(1) << 62) * i) * ep::array<double, 1>({5})(i); }),
         "einsum: the coefficients of an index are beyond 2^63"},
        {sentence_of([&] { fresh(i) = A(-i) * B(i); }),
         "einsum: index -i of dimension 0 of operand 1 runs from -1 to 0, outside the extent 3"},
        {sentence_of([&] { fresh(i) = A(i + 1) * B(i) * A(i); }), ""},
        {sentence_of([&] { fresh(i) = ep::padded(A, {-1}, {0}, 0.0)(i); }),
         "ep::padded: the number of elements before or after is negative"},
        {sentence_of([&] { A(i + 1) = 2 * A(i); }), "einsum: the output shares elements with an operand"},
        {sentence_of([&] { A(i) = ep::padded(A, {1}, {1}, 0.0)(i + 1); }),
         "einsum: the output shares elements with an operand"},
    };
    for (const auto& [got, expected] : said) {
        CHECK(got.substr(0, expected.size()) == expected);
    }
    CHECK(std::all_of(Z.data(), Z.data() + 4, [](double each) { return each == 0; }));
}

namespace {

/// Another factorisation of as many elements, of at most four extents; the last one takes what is left.
template <std::size_t Rank>
std::array<index, Rank> factors_of(index count, random_numbers& random) {
    std::array<index, Rank> made{};
    for (std::size_t dimension = 0; dimension + 1 < Rank; ++dimension) {
        index factor = random(1, 6);
        while (count % factor != 0) {
            factor = random(1, 6);
        }
        made[dimension] = factor;
        count /= factor;
    }
    made[Rank - 1] = count;
    return made;
}

template <std::size_t From, std::size_t To>
int wrong_reshapes(random_numbers& random) {
    EINPARALLEL_LABELS(a, b, d, e);
    std::array<index, From> extents{};
    for (index& extent : extents) {
        extent = random(0, 19) == 0 ? 0 : random(1, 3) * random(1, 2);
    }
    const auto A = filled<int, From>(extents, random);
    const std::array<index, To> wanted = factors_of<To>(A.size(), random);
    ep::array<int, To> Z(wanted);
    std::apply([&](auto... labels) { Z(labels...) = ep::reshape(A, wanted)(labels...) * 2; },
               [&] {
                   if constexpr (To == 1) {
                       return std::tuple(a);
                   } else if constexpr (To == 2) {
                       return std::tuple(a, b);
                   } else if constexpr (To == 3) {
                       return std::tuple(a, b, d);
                   } else {
                       return std::tuple(a, b, d, e);
                   }
               }());
    int wrong = 0;
    for (index at = 0; at < A.size(); ++at) {
        wrong += Z.data()[at] == 2 * A.data()[at] ? 0 : 1;
    }
    return wrong;
}

}  // namespace

TEST_CASE("arrays with other extents: views, without a copy") {
    random_numbers random(31);
    int wrong = 0;
    for (int round = 0; round < 40; ++round) {
        wrong += wrong_reshapes<1, 2>(random) + wrong_reshapes<2, 1>(random) + wrong_reshapes<2, 2>(random);
        wrong += wrong_reshapes<3, 2>(random) + wrong_reshapes<2, 4>(random) + wrong_reshapes<4, 3>(random);
        wrong += wrong_reshapes<4, 4>(random) + wrong_reshapes<1, 1>(random);
    }
    CHECK(wrong == 0);

    auto A = filled<double, 2>({6, 4}, random);
    ep::view<double, 2> seen = ep::reshape(A, {8, 3});
    CHECK(seen.data() == A.data());
    seen(7, 2) = 5;  // writes
    CHECK(A(5, 3) == 5);
    const ep::view<const double, 1> flat = ep::reshape(std::as_const(A), {24});
    CHECK(&flat(23) == &A(5, 3));
    // Rows of a part: their dimensions can be split, not fused.
    const ep::view<double, 2> part = ep::slice(A, {1, 0}, {5, 2});
    const ep::view<double, 3> split = ep::reshape(part, {2, 2, 2});
    CHECK(&split(1, 0, 1) == &A(3, 1));
    CHECK(ep::reshape(ep::view<double, 2>(A.data(), {3, 1}, {4, 100}), {1, 3, 1}).strides()[1] == 4);
    CHECK(sentence_of([&] { static_cast<void>(ep::reshape(part, {8})); }) ==
          "ep::reshape: dimensions of this view have gaps between their rows: assign it to an array first");
    CHECK(sentence_of([&] {
              static_cast<void>(ep::reshape(A, {5, 5}));
          }) == "ep::reshape: 24 elements cannot have extents of which the product is 25");
    CHECK(sentence_of([&] { static_cast<void>(ep::reshape(A, {-4, -6})); }).find("ep::reshape: ") == 0);
    CHECK(sentence_of([&] {
              static_cast<void>(ep::reshape(A, {index(1) << 62, 8}));
          }) == "ep::reshape: 24 elements cannot have extents of which the product is beyond 2^59");
    ep::array<double, 1> one({1});
    one(0) = 3;
    CHECK(ep::reshape(one, {}).value() == 3);
    ep::array<double, 1> kept;  // a temporary lives as long as what reads it
    kept(i) = ep::reshape(ep::array<double, 2>{{1, 2, 3}, {4, 5, 6}}, {6})(5 - i);
    CHECK(kept(0) == 6);
    CHECK(kept(5) == 1);
}

TEST_CASE("parts of arrays: views that read and write in place") {
    random_numbers random(32);
    auto A = filled<int, 3>({5, 4, 3}, random);
    const ep::view<int, 3> part = ep::slice(A, {2, 0, 1}, std::array<int, 3>{5, 3, 3});
    CHECK(part.extents() == std::array<index, 3>{3, 3, 2});
    ep::array<int, 2> Z;
    Z(i, j) = part(i, j, r) * ep::slice(A, {0, 0, 0}, {3, 3, 2})(i, j + 0, r);
    int wrong = 0;
    for (index u = 0; u < 3; ++u) {
        for (index v = 0; v < 3; ++v) {
            wrong += Z(u, v) == A(u + 2, v, 1) * A(u, v, 0) + A(u + 2, v, 2) * A(u, v, 1) ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
    part(i, j, r) = 7;
    CHECK(std::count(A.data(), A.data() + A.size(), 7) == 18);
    CHECK(ep::slice(A, {0, 2, 0}, {5, 2, 3}).size() == 0);
    ep::array<int, 1> row;
    row(i) = ep::slice(ep::array<int, 1>{1, 2, 3, 4}, {1}, {3})(i);
    CHECK(row.extents() == std::array<index, 1>{2});
    CHECK(row(1) == 3);
    const auto said = [&](std::array<index, 3> begin, std::array<index, 3> end) {
        return sentence_of([&] { static_cast<void>(ep::slice(A, begin, end)); });
    };
    CHECK(said({0, 0, 0}, {5, 5, 3}) == "ep::slice: dimension 1 from 0 to 5 is not inside the extent 4");
    CHECK(said({-1, 0, 0}, {5, 4, 3}) == "ep::slice: dimension 0 from -1 to 5 is not inside the extent 5");
    CHECK(said({0, 0, 2}, {5, 4, 1}) == "ep::slice: dimension 2 from 2 to 1 is not inside the extent 3");
}

TEST_CASE("arrays one behind the other") {
    random_numbers random(33);
    int wrong = 0;
    for (int round = 0; round < 60; ++round) {
        const index m = random(1, 5), q = random(1, 3);
        const std::array<index, 3> n{random(1, 4), random(0, 3), random(1, 4)};
        const auto A = filled<int, 3>({m, n[0], q}, random), B = filled<int, 3>({m, n[1], q}, random);
        const auto C = filled<int, 3>({m, n[2] + 1, q}, random);
        const auto all = ep::concatenate(1, A, B, ep::slice(C, {0, 1, 0}, {m, n[2] + 1, q}));
        const auto element = [&](index u, index v, index w) {
            return v < n[0] ? A(u, v, w) : v < n[0] + n[1] ? B(u, v - n[0], w) : C(u, v - n[0] - n[1] + 1, w);
        };
        const index whole = n[0] + n[1] + n[2];
        CHECK(all.extents() == std::array<index, 3>{m, whole, q});
        ep::array<int, 2> Z;
        Z(i, j) = all(i, j, r);
        const auto w = filled<int, 1>({2}, random);
        ep::array<int, 2> Y({m, whole - 1});
        Y(i, j) = all(i, whole - 1 - j - s, 0) * w(s);
        ep::array<int, 1> X;
        X(i) = ep::max(all(i, j, r));
        for (index u = 0; u < m; ++u) {
            int most = element(u, 0, 0);
            for (index v = 0; v < whole; ++v) {
                int sum = 0;
                for (index at = 0; at < q; ++at) {
                    sum += element(u, v, at);
                    most = std::max(most, element(u, v, at));
                }
                wrong += Z(u, v) == sum ? 0 : 1;
                if (v + 1 < whole) {
                    const int two = element(u, whole - 1 - v, 0) * w(0) + element(u, whole - 2 - v, 0) * w(1);
                    wrong += Y(u, v) == two ? 0 : 1;
                }
            }
            wrong += X(u) == most ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
    ep::array<double, 1> both{0, 0, 0, 0, 0, 0};
    const ep::view<double, 1> left(both.data(), {2}), middle(both.data() + 2, {2}), right(both.data() + 4, {2});
    left(i) = 1.0;
    right(i) = 2.0;
    ep::array<double, 1> out;
    middle(i) = ep::concatenate(0, left, right)(2 * i + 1);  // between what is read, and not read
    CHECK(middle(0) == 1);
    CHECK(middle(1) == 2);
    CHECK(sentence_of([&] { right(i) = ep::concatenate(0, left, right)(i + 1); }).find("einsum: the output shares") ==
          0);
    out(i) = ep::concatenate(0, ep::array<double, 1>{1, 2}, left, ep::array<double, 1>{3, 4})(5 - i);
    CHECK(out(0) == 4);
    CHECK(out(5) == 1);
    const ep::array<double, 2> A({2, 3}), B({3, 3});
    CHECK(sentence_of([&] { static_cast<void>(ep::concatenate(1, A, A, B)); }) ==
          "ep::concatenate: extents 2 and 3 of dimension 0 differ");
    CHECK(sentence_of([&] { static_cast<void>(ep::concatenate(2, A, B)); }) ==
          "ep::concatenate: there is no dimension 2, the tensors have 2 dimensions, numbered from 0");
}

TEST_CASE("extents come from a std::array of any integers") {
    const std::array<int, 2> small{3, 4};
    const std::array<std::size_t, 2> large{4, 1};
    ep::array<double, 2> A(small);
    CHECK(A.extents() == std::array<index, 2>{3, 4});
    CHECK(ep::view<double, 2>(A.data(), small).strides() == std::array<index, 2>{4, 1});
    CHECK(ep::view(A.data(), small, large).strides() == std::array<index, 2>{4, 1});
    CHECK(ep::view(A.data(), std::array<unsigned, 1>{12}).extent(0) == 12);
    CHECK(ep::padded(A, small, {1, 1}, 0.0).extents() == std::array<index, 2>{7, 9});
    CHECK(ep::reshape(A, std::array<short, 3>{2, 2, 3}).extents() == std::array<index, 3>{2, 2, 3});
    CHECK(ep::slice(A, {1, 1}, small).extents() == std::array<index, 2>{2, 3});
    CHECK(ep::placeholder<double>(small).extents() == std::vector<index>{3, 4});
    CHECK(ep::generate<double>(large, [](auto, auto) { return 1.0; }).extents() == std::vector<index>{4, 1});
    CHECK(ep::placeholder<double>(std::array<int, 0>{}).extents().empty());
    CHECK(ep::generate<double>({}, [] { return 1.0; }).extents().empty());
    double number = 2;
    CHECK(ep::view<double, 0>(&number, {}).value() == 2);
}

}  // namespace index_test
