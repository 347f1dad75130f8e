// What statements mean, and which are mistakes: each rule's truth, with a positive and a negative twin.

#include <einparallel/array/operand.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/row_functions.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <cstddef>
#include <type_traits>

namespace analysis_test {

namespace ep = einparallel;
using ep::detail::array_operand;
using ep::detail::label_list;
using ep::detail::leaf;

namespace {

EINPARALLEL_LABELS(i, j, k);
using li = ep::label<'i'>;
using lj = ep::label<'j'>;
using lk = ep::label<'k'>;

template <class... Labels>
auto operand() {
    using held = array_operand<double, sizeof...(Labels)>;
    return leaf<held, label_list<Labels...>>(held{});
}
const auto a_ij = operand<li, lj>();
const auto b_jk = operand<lj, lk>();
const auto v_i = operand<li>();

template <class Left, class E>
constexpr bool sound(const E& /*right*/) {
    return ep::detail::is_sound<Left, typename E::node>;
}
template <class Left, class E>
constexpr std::size_t missing(const E& /*right*/) {
    using statement = ep::detail::statement<Left, typename E::node>;
    return statement::count(statement::template missing_of<typename E::node>);
}

}  // namespace

TEST_CASE("labels missing on the left are summed, whatever is reduced explicitly is not") {
    CHECK(missing<label_list<li, lk>>(a_ij * b_jk) == 1);
    CHECK(missing<label_list<li>>(a_ij * b_jk) == 2);
    CHECK(missing<label_list<li, lk>>(ep::sum(j, a_ij * b_jk)) == 0);
    CHECK(missing<label_list<li>>(ep::max(j, a_ij * b_jk)) == 1);
    CHECK(missing<label_list<li>>(ep::max(a_ij * b_jk)) == 0);
    CHECK(missing<label_list<li, lj>>(ep::softmax(j, a_ij)) == 0);
    CHECK(missing<label_list<li>>(ep::softmax(j, a_ij)) == 1);
}

TEST_CASE("output labels stand in an operand, once") {
    CHECK(sound<label_list<li, lk>>(a_ij * b_jk));
    CHECK_FALSE(sound<label_list<li, ep::label<'z'>>>(a_ij * b_jk));
    CHECK_FALSE(sound<label_list<li, li>>(a_ij * b_jk));
    CHECK_FALSE(sound<label_list<li, lj>>(ep::sum(j, a_ij)));
    CHECK(sound<label_list<>>(a_ij * b_jk));
}

TEST_CASE("inside a term, + and - join what misses the same labels") {
    CHECK(sound<label_list<li, lk>>(a_ij * b_jk + v_i));             // a sum of terms
    CHECK(sound<label_list<li, lk>>(-(a_ij * b_jk - v_i)));          // under a sign
    CHECK_FALSE(sound<label_list<li, lk>>((a_ij + v_i) * b_jk));     // over which labels is v summed?
    CHECK(sound<label_list<li, lk>>(ep::sum((a_ij + v_i) * b_jk)));  // said
    CHECK(sound<label_list<li, lk>>((a_ij + a_ij) * b_jk));
    CHECK(sound<label_list<li, lk>>((a_ij + 1.0) * b_jk));  // numbers are exempt
    CHECK_FALSE(sound<label_list<li>>(exp(a_ij - v_i)));
    CHECK(sound<label_list<li, lj>>(exp(a_ij - v_i)));  // nothing is missing
}

TEST_CASE("labels of a softmax's argument are not summed behind its back") {
    const auto product = a_ij * b_jk;
    CHECK_FALSE(sound<label_list<li, lk>>(ep::softmax(k, product)));  // before or after the softmax?
    CHECK(sound<label_list<li, lk>>(ep::softmax(k, ep::sum(j, product))));
    CHECK(sound<label_list<li, lk>>(ep::softmax(k, ep::sum(product))));
    CHECK(sound<label_list<li, lk>>(ep::sum(j, ep::softmax(k, product))));
    CHECK(sound<label_list<li, lk>>(ep::max(ep::softmax(k, product))));
    CHECK(sound<label_list<li, lj, lk>>(ep::softmax(k, product)));
    // Its own label may be summed outside: weights times values.
    CHECK(sound<label_list<li>>(ep::softmax(j, a_ij)));
    CHECK(sound<label_list<li, lk>>(ep::softmax(j, a_ij) * b_jk));
    CHECK_FALSE(sound<label_list<lk>>(ep::softmax(j, a_ij) * b_jk));
    CHECK(sound<label_list<lk>>(ep::sum(i, ep::softmax(j, a_ij)) * b_jk));
    CHECK_FALSE(sound<label_list<lk>>(ep::sum(j, ep::softmax(j, a_ij) * b_jk)));
    CHECK(sound<label_list<lk>>(ep::sum(i, j, ep::softmax(j, a_ij) * b_jk)));
    // However deep it stands, whatever stands beside it.
    CHECK_FALSE(sound<label_list<li, lk>>(b_jk * a_ij + exp(-ep::softmax(k, product))));
    CHECK_FALSE(sound<label_list<li, lk>>(ep::sum(j, a_ij) * ep::softmax(k, product)));
    CHECK_FALSE(sound<label_list<li, lk>>(ep::softmax(i, ep::softmax(k, product))));
    CHECK_FALSE(sound<label_list<li, lk>>(ep::softmax(i, ep::sum(i, ep::softmax(k, product)) + v_i)));
    CHECK(sound<label_list<li>>(ep::softmax(j, ep::softmax(i, a_ij))));  // j is the outer one's own
    CHECK(sound<label_list<li>>(ep::softmax(j, a_ij) * v_i));
    CHECK(sound<label_list<li, lk>>(a_ij * b_jk * ep::softmax(i, v_i)));
}

TEST_CASE("a number takes the precision of what it meets") {
    using single = array_operand<float, 1>;
    const leaf<single, label_list<li>> f(single{});
    CHECK(std::is_same_v<decltype(0.5 * f)::value_type, float>);
    CHECK(std::is_same_v<decltype(f / 2)::value_type, float>);
    CHECK(std::is_same_v<decltype(std::complex<double>(0, 1) * f)::value_type, std::complex<float>>);
    using whole = array_operand<int, 1>;
    const leaf<whole, label_list<li>> n(whole{});
    CHECK(std::is_same_v<decltype(0.5 * n)::value_type, double>);
}

}  // namespace analysis_test
