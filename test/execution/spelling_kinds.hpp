#pragma once
// Statements of one kind each, at once on views and recorded on ranks, against an oracle that says what each element
// is.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include "spelling_runs.hpp"

#include <support/long_suite.hpp>
#include <support/spelled.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace spelling_test {

namespace ep = einparallel;
using ep::index;
using namespace ep::testing;

EINPARALLEL_LABELS(i, j, k);

/// What a statement reads: x(i, j) and q(i, i) of one type, y(i, j), v(j) and w(j, k) of another.
template <class X, class Q, class Y, class V, class W>
struct operands {
    X x;
    Q q;
    Y y;
    V v;
    W w;
};
template <class... Operands>
operands(Operands...) -> operands<Operands...>;

/// Elements of an operand for the oracle.
struct table {
    std::vector<number> numbers;
    index columns;

    number operator()(index row, index column = 0) const {
        return numbers[static_cast<std::size_t>(row * columns + column)];
    }
};
/// The operands, what was on the left, and the extents of i, j and k.
struct tables : operands<table, table, table, table, table> {
    table z;
    index m, n, o;
};
using place = std::array<index, 2>;

template <class T>
inline constexpr ep::element_type of = ep::element_type_of<T>();

/// Of terms in one type, from 0 on.
template <class Term>
number sum_of(index terms, ep::element_type type, const Term& term) {
    number sum = as(type, number_of(false));
    for (index at = 0; at < terms; ++at) {
        sum = sum + as(type, term(at));
    }
    return sum;
}

/// How a kind is tried.
struct kind_options {
    index least = 0;         ///< extent
    int units = 0;           ///< by how many ε of it a result may be off; 0: all is exact
    bool is_small = false;   ///< numbers are small whatever the type of the statement
    bool only_host = false;  ///< no device makes it
};

/// The kinds share one sequence of random numbers.
class kinds {
public:
    explicit kinds(unsigned seed) : random_(seed) {}

    /// z of type Out and these dimensions, operands of types A and B, a statement of type S.
    template <class S, class Out, class A, class B, std::size_t Rank, class Statement, class Oracle>
    void attempt(const std::string& kind, const Statement& statement, const Oracle& oracle, kind_options options = {}) {
        INFO(kind, ": ", ep::detail::name_of_element(of<A>), " and ", ep::detail::name_of_element(of<B>), " into ",
             ep::detail::name_of_element(of<Out>), " by ", ep::detail::name_of_element(of<S>));
        for (int time = 0; time < tried_cases(10); ++time) {
            attempt_once<S, Out, A, B, Rank>(statement, oracle, options);
        }
    }

private:
    template <class S, class Out, class A, class B, std::size_t Rank, class Statement, class Oracle>
    void attempt_once(const Statement& statement, const Oracle& oracle, const kind_options& options) {
        const index m = drawn_extent(random_, options.least), n = drawn_extent(random_, options.least),
                    o = drawn_extent(random_, options.least);
        const draw how = options.is_small ? draw::small : exact_draw(of<S>);
        const auto x = drawn_operand<A, 2>({m, n}, random_, how), q = drawn_operand<A, 2>({m, m}, random_, how);
        const auto y = drawn_operand<B, 2>({m, n}, random_, how), w = drawn_operand<B, 2>({n, o}, random_, how);
        const auto v = drawn_operand<B, 1>({n}, random_, how);
        // The left-hand side has i; a second dimension is k where the statement has it, which its oracle says.
        std::array<index, Rank> extents{};
        const std::array<index, 2> both{m, Oracle::has_k ? o : n};
        std::copy_n(both.begin(), Rank, extents.begin());
        auto z = drawn_operand<Out, Rank>(extents, random_, how);
        const tables read{{{numbers_of(x.elements()), n},
                           {numbers_of(q.elements()), m},
                           {numbers_of(y.elements()), n},
                           {numbers_of(v.elements()), 1},
                           {numbers_of(w.elements()), o}},
                          {numbers_of(z.elements()), Rank == 2 ? both[1] : 1},
                          m,
                          n,
                          o};
        expectation expected{{extents.begin(), extents.end()}, {}};
        for_each_place(expected.extents, [&](const std::vector<index>& at) {
            const number right = oracle(read, at[0], Rank == 2 ? at.back() : 0);
            expected.numbers.push_back(as(options.units == 0 ? of<Out> : unrounded(of<Out>), right));
            if (options.units > 0) {
                expected.bounds.push_back(options.units * magnitude(right) * epsilon<Out>());
            }
        });
        const ep::tensor<Out, Rank> before = ep::from_root(std::as_const(z).elements(), 0);
        const auto left = z.elements();
        const operands arrays{x.elements(), q.elements(), y.elements(), v.elements(), w.elements()};
        statement(left, arrays);
        check_elements("on views", left, expected);
        ep::context& world = world_;
        const int last = world.size() - 1;
        const operands tensors{ep::from_root(x.elements(), last), ep::from_root(q.elements(), 0),
                               ep::from_root(y.elements(), 0), ep::from_root(v.elements(), last),
                               ep::from_root(w.elements(), last / 2)};
        ep::tensor<Out, Rank> made = before;
        statement(made, tensors);
        constexpr std::array objectives{ep::objective::time, ep::objective::bytes, ep::objective::paper};
        const ep::options asked{.objective = objectives[random_() % objectives.size()]};
        check_runs("tensors", world, asked, made, expected, options.only_host);
    }

    template <class Out>
    static long double epsilon() {
        using Real = ep::detail::real_part_t<Out>;
        return static_cast<long double>(static_cast<double>(std::numeric_limits<Real>::epsilon()));
    }

    ep::context world_{MPI_COMM_WORLD};
    std::mt19937 random_;
};

/// An oracle: element (i, j), or (i, k) of what has a k, from the tables.
template <bool HasK, class F>
struct oracle_of : F {
    static constexpr bool has_k = HasK;
};
template <class F>
auto of_j(F function) {
    return oracle_of<false, F>{function};
}
template <class F>
auto of_k(F function) {
    return oracle_of<true, F>{function};
}

}  // namespace spelling_test
