// Which functions take which operands in summands: what their programs say against the functions' values.

#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/kernel/product/contract.hpp>
#include <einparallel/kernel/row_program.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace linear_test {

namespace {

using namespace einparallel;
using namespace einparallel::detail;

/// Σ scale · x · y · … of `count` operands of type T.
template <class T>
op_program product_of(T scale, std::size_t count) {
    return product_program(scale, std::vector<element_type>(count, element_type_of<T>()));
}

template <class T>
T any_value(std::mt19937& random) {
    const int value = static_cast<int>(random() % 9) - 4;
    if constexpr (std::is_same_v<T, bool>) {
        return value > 0;
    } else if constexpr (is_complex<T>::value) {
        return T(static_cast<typename T::value_type>(value), static_cast<typename T::value_type>(random() % 5));
    } else if constexpr (std::is_unsigned_v<T>) {
        return static_cast<T>(value + 4);
    } else {
        return static_cast<T>(value);
    }
}

/// f(x ⊕ x', y) == f(x, y) ⊕ f(x', y) for many small integers, which all types hold exactly.
template <class T, class Reduce, class Function, std::size_t... R>
bool holds(const Reduce& reduce, const Function& f, std::uint64_t pending, std::index_sequence<R...> /*all*/) {
    std::mt19937 random(7);
    for (int trial = 0; trial < 400; ++trial) {
        std::array<T, sizeof...(R)> x{};
        std::array<T, sizeof...(R)> first{};
        std::array<T, sizeof...(R)> second{};
        for (std::size_t operand = 0; operand < x.size(); ++operand) {
            first[operand] = any_value<T>(random);
            const bool in_summands = ((pending >> operand) & 1U) != 0;
            second[operand] = in_summands ? any_value<T>(random) : first[operand];
            x[operand] = in_summands ? static_cast<T>(reduce(first[operand], second[operand])) : first[operand];
        }
        const T whole = converted<T>(f(x[R]...));
        if (whole != static_cast<T>(reduce(converted<T>(f(first[R]...)), converted<T>(f(second[R]...))))) {
            return false;
        }
    }
    return true;
}

int taken = 0;
int refused = 0;

/// All sets of operands of a tree: what a kernel takes must hold; `exactly` where what it refuses must not.
template <class T, std::size_t Operands, class Reduce, class Tree>
void check(const Reduce& reduce, const Tree& tree, bool exactly = true) {
    const auto f = flatten_tree(tree);
    [&]<std::size_t... R>(std::index_sequence<R...> all) {
        const op_program program = program_of<T, Reduce, std::conditional_t<R == R, T, T>...>(tree);
        CHECK(program.aggregates_by() == reduction_of<Reduce>);
        for (std::uint64_t pending = 0; pending < std::uint64_t{1} << Operands; ++pending) {
            const bool takes = pending != 0 && program.takes_summands(pending);
            CHECK_FALSE(program.takes_summands(0));
            CAPTURE(pending);
            if (takes) {
                ++taken;
                CHECK(holds<T>(reduce, f, pending, all));
            } else if (exactly && pending != 0) {
                ++refused;
                CHECK_FALSE(holds<T>(reduce, f, pending, all));
            }
        }
    }
    (std::make_index_sequence<Operands>{});
}

template <class T>
void check_sums() {
    const auto x = pick<0, T>{};
    const auto y = pick<1, T>{};
    const auto z = pick<2, T>{};
    check<T, 1>(op::sum, x);
    check<T, 1>(op::sum, make_join(negate{}, x));
    check<T, 2>(op::sum, make_join(times{}, x, y));
    check<T, 2>(op::sum, make_join(plus{}, x, y));
    check<T, 2>(op::sum, make_join(minus{}, x, y));
    check<T, 3>(op::sum, make_join(plus{}, make_join(minus{}, x, y), z));
    check<T, 3>(op::sum, make_join(plus{}, make_join(times{}, x, y), z));
    check<T, 3>(op::sum, make_join(times{}, make_join(plus{}, x, y), z));
    check<T, 2>(op::sum, make_join(plus{}, make_join(times{}, x, constant<T>(T(3))), y));
    check<T, 1>(op::sum, make_join(plus{}, x, constant<T>(T(2))));
}

}  // namespace

TEST_CASE("sums go through products, sums and differences, where they do") {
    check_sums<double>();
    check_sums<float>();
    check_sums<int>();
    check_sums<std::int16_t>();
    check_sums<std::complex<double>>();
    const auto x = pick<0, double>{};
    const auto y = pick<1, double>{};
    check<std::complex<float>, 1>(op::sum, make_join(conjugate{}, pick<0, std::complex<float>>{}));
    check<double, 1>(op::sum, make_join(absolute{}, x));
    check<double, 1>(op::sum, make_join(relu_function{}, x));
    check<double, 2>(op::sum, make_join(larger{}, x, y));
    check<double, 2>(op::sum, make_join(times{}, make_join(absolute{}, x), y));
    check<double, 1>(op::sum, make_join(over{}, x, constant<double>(4.0)), false);
    check<double, 1>(op::sum, make_join(exp_function{}, x));
    CHECK(taken > 50);
    CHECK(refused > 50);
}

TEST_CASE("or of ands, max and min of sums, products") {
    const auto x = pick<0, double>{};
    const auto y = pick<1, double>{};
    check<bool, 2>(op::sum, make_join(times{}, pick<0, bool>{}, pick<1, bool>{}), false);
    check<bool, 2>(op::sum, make_join(plus{}, pick<0, bool>{}, pick<1, bool>{}), false);
    check<bool, 2>(op::sum, make_join(minus{}, pick<0, bool>{}, pick<1, bool>{}), false);
    check<double, 2>(op::max, make_join(plus{}, x, y));
    check<int, 2>(op::min, make_join(plus{}, pick<0, int>{}, pick<1, int>{}));
    check<int, 2>(op::max, make_join(minus{}, pick<0, int>{}, pick<1, int>{}), false);
    check<double, 2>(op::max, make_join(larger{}, x, y), false);
    check<double, 2>(op::max, make_join(times{}, x, y));
    check<double, 2>(op::min, make_join(larger{}, x, y), false);
    check<int, 2>(op::prod, make_join(times{}, pick<0, int>{}, pick<1, int>{}));
    check<int, 2>(op::prod, make_join(plus{}, pick<0, int>{}, pick<1, int>{}));
    const op_program shifted = program_of<double, op::max_type, double, double>(make_join(plus{}, x, y));
    CHECK(shifted.takes_summands(1));
    CHECK(shifted.takes_summands(2));
    CHECK_FALSE(shifted.takes_summands(3));
}

TEST_CASE("what converts its elements takes no summands: it would round and wrap elsewhere") {
    CHECK_FALSE(program_of<double, op::sum_type, float, double>(make_join(times{}, pick<0, float>{}, pick<1, double>{}))
                    .takes_summands(1));
    CHECK(program_of<double, op::sum_type, float, double>(make_join(times{}, pick<0, float>{}, pick<1, double>{}))
              .takes_summands(2));
    CHECK_FALSE(program_of<int, op::sum_type, int, double>(make_join(times{}, pick<0, int>{}, pick<1, double>{}))
                    .takes_summands(1));
    CHECK_FALSE(program_of<long long, op::sum_type, int, int>(make_join(plus{}, pick<0, int>{}, pick<1, int>{}))
                    .takes_summands(3));
    CHECK_FALSE(program_of<int, op::sum_type, int>(make_join(times{}, pick<0, int>{}, constant<double>(0.5)))
                    .takes_summands(1));
    CHECK_FALSE(
        program_of<int, op::sum_type, int>(make_join(over{}, pick<0, int>{}, constant<int>(2))).takes_summands(1));
}

TEST_CASE("products of a scale and factors take one factor in summands") {
    const op_program pair = product_of(2.0F, 2);
    CHECK(pair.aggregates_by() == reduction::sum);
    CHECK(pair.takes_summands(1));
    CHECK(pair.takes_summands(2));
    CHECK_FALSE(pair.takes_summands(3));
    CHECK_FALSE(pair.takes_summands(0));
}

}  // namespace linear_test
