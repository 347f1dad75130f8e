// ⊕, ⊗ and maps on numbers.

#include <einparallel/notation/operations/operators.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

namespace operators_test {

namespace ep = einparallel;

TEST_CASE("identities leave every value as it is") {
    for (const double x : {-3.5, 0.0, 7.25}) {
        CHECK(ep::op::sum(ep::op::sum.identity<double>(), x) == x);
        CHECK(ep::op::prod(ep::op::prod.identity<double>(), x) == x);
        CHECK(ep::op::max(ep::op::max.identity<double>(), x) == x);
        CHECK(ep::op::min(ep::op::min.identity<double>(), x) == x);
    }
    for (const int x : {std::numeric_limits<int>::lowest(), 0, std::numeric_limits<int>::max()}) {
        CHECK(ep::op::max(ep::op::max.identity<int>(), x) == x);
        CHECK(ep::op::min(ep::op::min.identity<int>(), x) == x);
    }
    CHECK(ep::op::max(ep::op::max.identity<double>(), -std::numeric_limits<double>::infinity()) ==
          -std::numeric_limits<double>::infinity());
}

TEST_CASE("a NaN wins in max and min from either side") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(ep::op::max(nan, 1.0)));
    CHECK(std::isnan(ep::op::max(1.0, nan)));
    CHECK(std::isnan(ep::op::min(nan, 1.0)));
    CHECK(std::isnan(ep::op::min(1.0, nan)));
    CHECK(std::isnan(ep::detail::relu_function{}(nan)));
}

TEST_CASE("integers wrap, without undefined overflow") {
    CHECK(ep::op::sum(std::numeric_limits<int>::max(), 1) == std::numeric_limits<int>::lowest());
    const std::uint16_t large = 65535;
    CHECK(ep::op::prod(large, large) == 1);
    CHECK(ep::detail::negate{}(std::numeric_limits<std::int64_t>::lowest()) ==
          std::numeric_limits<std::int64_t>::lowest());
    CHECK(ep::detail::minus{}(0U, 1U) == std::numeric_limits<unsigned>::max());
}

TEST_CASE("bool sums are or, products are and") {
    CHECK(ep::op::sum(true, true) == true);
    CHECK(ep::op::prod(true, false) == false);
}

TEST_CASE("complex and real mix, also of different precision") {
    const std::complex<float> z(1.0F, 2.0F);
    CHECK(ep::detail::times{}(z, 2.0) == std::complex<double>(2.0, 4.0));
    CHECK(ep::detail::times{}(z, 2) == std::complex<float>(2.0F, 4.0F));
    CHECK(ep::detail::conjugate{}(z) == std::complex<float>(1.0F, -2.0F));
    CHECK(ep::detail::absolute{}(std::complex<double>(3.0, 4.0)) == doctest::Approx(5.0));
}

TEST_CASE("maps") {
    CHECK(ep::detail::sigmoid_function{}(0.0) == 0.5);
    CHECK(ep::detail::relu_function{}(-2.0F) == 0.0F);
    CHECK(ep::detail::silu_function{}(2.0) == doctest::Approx(2.0 / (1.0 + std::exp(-2.0))));
    CHECK(ep::detail::gelu_function{}(1.0) == doctest::Approx(0.5 * (1.0 + std::erf(1.0 / std::sqrt(2.0)))));
    CHECK(ep::detail::exp_function{}(1) == doctest::Approx(std::exp(1.0)));
    CHECK(ep::detail::absolute{}(-7) == 7);
}

TEST_CASE("which joins distribute over which reductions is declared") {
    static_assert(ep::distributes_over<ep::op::sum_type, ep::detail::times>);
    static_assert(ep::distributes_over<ep::op::max_type, ep::detail::plus>);
    static_assert(!ep::distributes_over<ep::op::sum_type, ep::detail::plus>);
    static_assert(!ep::distributes_over<ep::op::max_type, ep::detail::times>);
    static_assert(ep::Reduction<ep::op::sum_type, double>);
    static_assert(!ep::Reduction<ep::op::max_type, std::complex<double>>);
    static_assert(!ep::Reduction<ep::detail::plus, double>);
    CHECK(true);
}

}  // namespace operators_test
