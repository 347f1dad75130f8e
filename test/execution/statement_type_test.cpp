// The type of a statement on ranks: what test/array/statement_type_test.cpp has on arrays, against these.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/graphs.hpp>
#include <support/long_suite.hpp>
#include <support/small_numbers.hpp>

#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>

namespace statement_type_test {

namespace ep = einparallel;
using ep::index;
using ep::testing::sentence_of;
using ep::testing::small_numbers;

namespace {

EINPARALLEL_LABELS(i, j, k);

/// Statements on tensors give what they give on arrays, bit for bit: every operation is exact.
template <class Out, class A, class B>
void try_types(ep::context& world, std::mt19937& random) {
    INFO("types ", ep::detail::name_of_element(ep::element_type_of<A>()), " and ",
         ep::detail::name_of_element(ep::element_type_of<B>()), " into ",
         ep::detail::name_of_element(ep::element_type_of<Out>()));
    const index m = 5, n = 7, o = 3;
    const auto a = small_numbers<A, 2>({m, n}, random);
    const auto b = small_numbers<B, 2>({n, o}, random);
    const auto c = small_numbers<B, 2>({m, n}, random);
    const ep::tensor<A, 2> x = ep::from_root(a, 0);
    const ep::tensor<B, 2> y = ep::from_root(b, world.size() - 1), z = ep::from_root(c, 0);
    ep::tensor<Out, 2> product, times, running, sums;
    ep::tensor<Out, 1> rows;
    product(i, k) = x(i, j) * y(j, k);
    times(i, j) = x(i, j) * z(i, j);
    running(i, j) = ep::cumsum(j, x(i, j));
    sums(i, k) = x(i, j) * y(j, k) + ep::sum(j, z(i, j)) * ep::sum(j, y(j, k));
    rows(i) = ep::sum(j, x(i, j) * z(i, j));
    ep::array<Out, 2> of_product, of_times, of_running, of_sums;
    ep::array<Out, 1> of_rows;
    of_product(i, k) = a(i, j) * b(j, k);
    of_times(i, j) = a(i, j) * c(i, j);
    of_running(i, j) = ep::cumsum(j, a(i, j));
    of_sums(i, k) = a(i, j) * b(j, k) + ep::sum(j, c(i, j)) * ep::sum(j, b(j, k));
    of_rows(i) = ep::sum(j, a(i, j) * c(i, j));
    const ep::plan plan =
        ep::decompose(world, {.effort = ep::testing::short_search}, product, times, running, sums, rows);
    const ep::results made = plan.run(world);
    const auto check = [&](const auto& tensor, const auto& expected) {
        const auto elements = made.get(tensor).allgather();
        REQUIRE(elements.extents() == expected.extents());
        for (index at = 0; at < expected.size(); ++at) {
            CHECK(elements.data()[at] == expected.data()[at]);
        }
    };
    check(product, of_product);
    check(times, of_times);
    check(running, of_running);
    check(sums, of_sums);
    check(rows, of_rows);
}

}  // namespace

TEST_CASE("statements of two element types on ranks are those on arrays") {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(600);
    for (int round = 0; round < 3; ++round) {
        try_types<int, std::int8_t, std::int8_t>(world, random);
        try_types<std::int64_t, std::int32_t, std::uint32_t>(world, random);
        try_types<std::uint8_t, std::int16_t, std::uint8_t>(world, random);
        try_types<int, bool, bool>(world, random);
        try_types<double, std::uint8_t, float>(world, random);
        try_types<double, float, float>(world, random);
        try_types<float, ep::bfloat16, int>(world, random);
        try_types<double, ep::float16, double>(world, random);
        try_types<std::complex<double>, std::complex<float>, double>(world, random);
    }
}

TEST_CASE("an integer divided by zero on some rank is an error on all") {
    ep::context world(MPI_COMM_WORLD);
    ep::array<int, 1> numerators({5}), divisors({5});
    for (index at = 0; at < 5; ++at) {
        numerators(at) = 12;
        divisors(at) = int(4 - at);
    }
    const ep::tensor<int, 1> a = ep::from_root(numerators, 0), b = ep::from_root(divisors, 0);
    ep::tensor<int, 1> guarded, quotient;
    guarded(i) = ep::where(b(i) != 0, a(i) / b(i) + a(i) % b(i), -1);
    const ep::array<int, 1> made = ep::evaluate(world, guarded).allgather();
    const int expected[] = {3, 4, 6, 12, -1};
    for (index at = 0; at < 5; ++at) {
        CHECK(made(at) == expected[at]);
    }
    quotient(i) = a(i) / b(i);
    quotient.named("Q");
    const std::string sentence = sentence_of([&] { static_cast<void>(ep::evaluate(world, quotient)); });
    CHECK(sentence.find("an integer is divided by zero") != std::string::npos);
    CHECK(sentence.find("'Q'") != std::string::npos);
    ep::tensor<int, 2> empty = ep::placeholder<int>({3, 0});
    ep::tensor<index, 1> places;
    places(i) = ep::argmax(j, empty(i, j));
    CHECK(sentence_of([&] {
              static_cast<void>(ep::decompose(world, places));
          }).find("argmax or argmin over label j, which has extent 0") != std::string::npos);
}

}  // namespace statement_type_test
