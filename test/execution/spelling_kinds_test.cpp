// Statements with sums, products and differences of operands of two types, on views and on ranks.

#include "spelling_kinds.hpp"

namespace spelling_test {

namespace {

using c8 = std::complex<float>;
using c16 = std::complex<double>;

template <class S, class Out, class A, class B>
void try_difference(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "difference", [](auto&& z, const auto& o) { z(i, j) = o.x(i, j) - o.y(i, j); },
        of_j([](const tables& t, index a, index b) { return as(of<S>, t.x(a, b)) - as(of<S>, t.y(a, b)); }));
}
template <class S, class Out, class A, class B>
void try_sum_of_difference(kinds& all) {
    all.attempt<S, Out, A, B, 1>(
        "sum of a difference", [](auto&& z, const auto& o) { z(i) = ep::sum(j, o.x(i, j) - o.y(i, j)); },
        of_j([](const tables& t, index a, index /*none*/) {
            return sum_of(t.n, of<S>, [&](index b) { return as(of<S>, t.x(a, b)) - as(of<S>, t.y(a, b)); });
        }));
}
template <class S, class Out, class A, class B>
void try_scaled(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "scaled", [](auto&& z, const auto& o) { z(i, j) = 3 * o.x(i, j) - o.y(i, j) * 2; },
        of_j([](const tables& t, index a, index b) {
            return as(of<S>, number_of(3)) * as(of<S>, t.x(a, b)) - as(of<S>, number_of(2)) * as(of<S>, t.y(a, b));
        }));
}
template <class S, class Out, class A, class B>
void try_product_of_three(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "product of three", [](auto&& z, const auto& o) { z(i, k) = o.x(i, j) * o.v(j) * o.w(j, k); },
        of_k([](const tables& t, index a, index c) {
            return sum_of(t.n, of<S>,
                          [&](index b) { return as(of<S>, t.x(a, b)) * as(of<S>, t.v(b)) * as(of<S>, t.w(b, c)); });
        }));
}
template <class S, class Out, class A, class B>
void try_sums_inside(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "sums inside terms",
        [](auto&& z, const auto& o) {
            z(i, k) = o.x(i, j) * o.w(j, k) + ep::sum(j, o.y(i, j)) * ep::sum(j, o.w(j, k)) - ep::sum(j, o.x(i, j));
        },
        of_k([](const tables& t, index a, index c) {
            const auto sum = [&](const auto& term) { return sum_of(t.n, of<S>, term); };
            return sum([&](index b) { return as(of<S>, t.x(a, b)) * as(of<S>, t.w(b, c)); }) +
                   sum([&](index b) { return t.y(a, b); }) * sum([&](index b) { return t.w(b, c); }) -
                   sum([&](index b) { return t.x(a, b); });
        }));
}
template <class S, class Out, class A, class B>
void try_one_sided(kinds& all) {
    all.attempt<S, Out, A, B, 1>(
        "one-sided label", [](auto&& z, const auto& o) { z(i) = o.x(i, j) * o.w(j, k); },
        of_j([](const tables& t, index a, index /*none*/) {
            return sum_of(t.n, of<S>, [&](index b) {
                return as(of<S>, t.x(a, b)) * sum_of(t.o, of<S>, [&](index c) { return t.w(b, c); });
            });
        }));
}
template <class S, class Out, class A, class B>
void try_diagonal(kinds& all) {
    all.attempt<S, Out, A, B, 1>(
        "diagonal", [](auto&& z, const auto& o) { z(i) = o.q(i, i) + o.y(i, j) * o.v(j); },
        of_j([](const tables& t, index a, index /*none*/) {
            return as(of<S>, t.q(a, a)) +
                   sum_of(t.n, of<S>, [&](index b) { return as(of<S>, t.y(a, b)) * as(of<S>, t.v(b)); });
        }));
}
template <class S, class Out, class A, class B>
void try_running_sum(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "running sum", [](auto&& z, const auto& o) { z(i, j) = ep::cumsum(j, o.x(i, j)) * o.y(i, j); },
        of_j([](const tables& t, index a, index b) {
            return sum_of(b + 1, of<S>, [&](index c) { return t.x(a, c); }) * as(of<S>, t.y(a, b));
        }),
        {.only_host = true});
}
template <class S, class Out, class A, class B>
void try_running_product(kinds& all) {
    all.attempt<S, Out, A, B, 2>("running product",
                                 [](auto&& z, const auto& o) { z(i, j) = ep::cumprod(j, o.x(i, j)) - o.y(i, j); },
                                 of_j([](const tables& t, index a, index b) {
                                     number product = as(of<S>, t.x(a, 0));
                                     for (index c = 1; c <= b; ++c) {
                                         product = product * as(of<S>, t.x(a, c));
                                     }
                                     return product - as(of<S>, t.y(a, b));
                                 }),
                                 {.only_host = true});
}
template <class S, class Out, class A, class B>
void try_added(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "+=", [](auto&& z, const auto& o) { z(i, k) += o.x(i, j) * o.w(j, k); },
        of_k([](const tables& t, index a, index c) {
            return as(of<S>, t.z(a, c)) +
                   sum_of(t.n, of<S>, [&](index b) { return as(of<S>, t.x(a, b)) * as(of<S>, t.w(b, c)); });
        }));
}
template <class S, class Out, class A, class B>
void try_subtracted(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "-=", [](auto&& z, const auto& o) { z(i, j) -= o.x(i, j) + o.v(j); },
        of_j([](const tables& t, index a, index b) {
            return as(of<S>, t.z(a, b)) - (as(of<S>, t.x(a, b)) + as(of<S>, t.v(b)));
        }));
}
template <class S, class Out, class A, class B>
void try_multiplied(kinds& all) {
    all.attempt<S, Out, A, B, 1>(
        "*=", [](auto&& z, const auto& o) { z(i) *= o.x(i, j) * o.v(j); },
        of_j([](const tables& t, index a, index /*none*/) {
            return as(of<S>, t.z(a)) *
                   sum_of(t.n, of<S>, [&](index b) { return as(of<S>, t.x(a, b)) * as(of<S>, t.v(b)); });
        }));
}
template <class S, class Out, class A, class B>
void try_repeated(kinds& all) {
    all.attempt<S, Out, A, B, 2>(
        "repeated",
        [](auto&& z, const auto& o) {
            if constexpr (requires { z.data(); }) {  // a view has extents
                z(i, j) = o.v(j);
            } else {
                z(i, j) = o.v(j) + 0 * o.x(i, j);
            }
        },
        of_j([](const tables& t, index /*any*/, index b) { return as(of<S>, t.v(b)); }));
}

}  // namespace

TEST_CASE("terms of two types are the same at once and on ranks") {
    kinds all(3030);
    try_difference<std::int16_t, std::int8_t, std::int8_t, std::uint8_t>(all);
    try_difference<double, double, std::int32_t, float>(all);
    try_difference<c16, c16, c8, double>(all);
    try_difference<float, ep::float16, ep::bfloat16, ep::float16>(all);
    try_difference<std::int64_t, std::uint64_t, std::uint64_t, std::int16_t>(all);
    try_sum_of_difference<std::int64_t, std::int64_t, std::uint32_t, std::int8_t>(all);
    try_sum_of_difference<double, double, std::uint8_t, std::uint8_t>(all);
    try_sum_of_difference<float, ep::bfloat16, ep::bfloat16, bool>(all);
    try_scaled<std::int32_t, std::int32_t, std::uint8_t, bool>(all);
    try_scaled<std::uint64_t, std::uint16_t, std::uint64_t, std::uint8_t>(all);
    try_scaled<double, double, ep::float16, std::uint64_t>(all);
    try_scaled<c8, c8, float, std::int8_t>(all);
    try_product_of_three<std::int64_t, std::int64_t, std::int8_t, std::uint32_t>(all);
    try_product_of_three<bool, bool, bool, bool>(all);
    try_product_of_three<std::int16_t, std::uint8_t, std::int8_t, std::uint8_t>(all);
    try_product_of_three<float, ep::float16, float, ep::float16>(all);
    try_product_of_three<c16, c16, float, c8>(all);
    try_sums_inside<std::int32_t, std::int16_t, std::uint16_t, std::int8_t>(all);
    try_sums_inside<float, float, std::int16_t, ep::bfloat16>(all);
    try_one_sided<std::int64_t, std::int64_t, bool, std::uint32_t>(all);
    try_one_sided<double, ep::float16, double, ep::float16>(all);
}

TEST_CASE("running sums and what is added to the left-hand side, of two types") {
    kinds all(3031);
    try_diagonal<std::int32_t, std::int32_t, std::int8_t, std::uint16_t>(all);
    try_diagonal<c16, c16, double, c8>(all);
    try_running_sum<std::int64_t, std::int64_t, std::uint8_t, std::int32_t>(all);
    try_running_sum<double, double, float, ep::bfloat16>(all);
    try_running_sum<std::int32_t, std::int32_t, bool, std::int16_t>(all);
    try_running_product<std::int32_t, std::int32_t, std::int8_t, std::uint8_t>(all);
    try_running_product<double, float, std::int16_t, double>(all);
    try_added<std::int16_t, std::uint8_t, std::int8_t, std::uint8_t>(all);
    try_added<double, float, float, double>(all);
    try_added<double, ep::bfloat16, std::int32_t, double>(all);
    try_added<bool, bool, bool, bool>(all);
    try_subtracted<std::int64_t, std::int32_t, std::uint32_t, std::int8_t>(all);
    try_subtracted<c16, c8, c8, double>(all);
    try_subtracted<double, double, float, std::uint64_t>(all);
    try_multiplied<std::int32_t, std::int16_t, std::uint16_t, std::uint8_t>(all);
    try_multiplied<double, float, ep::bfloat16, double>(all);
    try_repeated<std::int16_t, std::int8_t, std::int8_t, std::int16_t>(all);
    try_repeated<float, ep::float16, float, std::uint8_t>(all);
}

}  // namespace spelling_test
