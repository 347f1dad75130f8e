#pragma once
// Every kind of operand in every function and reduction, of arrays and of recorded tensors: each statement compiles,
// and gives on ranks the numbers that it gives of an array with the operand's elements.
//
// A form of operand (a shifted part, a slice, …) is read of a variable, of a constant and of a temporary, of arrays
// also through views. Each type of operand is compiled in every expression; in every statement are those whose forms
// are `everywhere`, and the others in some, for a statement takes the compiler a tenth of a second. Two forms are so in
// check_long alone.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace operands {

namespace ep = einparallel;
using ep::index;

EINPARALLEL_LABELS(t, j, k, v);

using numbers = std::vector<double>;

/// Elements are arrays, and statements run at once.
struct of_arrays {
    template <class T, std::size_t Rank>
    using tensor = ep::array<T, Rank>;
    static constexpr bool records = false;

    ep::context& world;

    template <class T, std::size_t Rank>
    static ep::array<T, Rank> from(const ep::array<T, Rank>& elements) {
        return elements;
    }
    template <class T, std::size_t Rank>
    static const ep::array<T, Rank>& value_of(const ep::array<T, Rank>& made) {
        return made;
    }
};
/// Elements are those of rank 0, and statements are recorded.
struct of_tensors {
    template <class T, std::size_t Rank>
    using tensor = ep::tensor<T, Rank>;
    static constexpr bool records = true;

    ep::context& world;

    template <class T, std::size_t Rank>
    static ep::tensor<T, Rank> from(const ep::array<T, Rank>& elements) {
        return ep::from_root(elements, 0);
    }
    template <class T, std::size_t Rank>
    ep::array<T, Rank> value_of(const ep::tensor<T, Rank>& made) const {
        return ep::evaluate(world, made).allgather();
    }
};

struct longest {
    static constexpr bool associative_commutative = true;
    template <class T>
    static constexpr T identity() {
        return T(0);
    }
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};
inline double doubled(double a) {
    return 2 * a;
}

/// Elements between 0.5 and 2, no two of them alike.
template <std::size_t Rank>
ep::array<double, Rank> drawn(const std::array<int, Rank>& extents) {
    ep::array<double, Rank> made(extents);
    for (index at = 0; at < made.size(); ++at) {
        made.data()[at] = 0.5 + double(at * 7 % 31) / 20;
    }
    return made;
}

/// The results of all statements with an operand, one behind the other.
template <class Family>
struct statements {
    template <class T, std::size_t Rank>
    using tensor = typename Family::template tensor<T, Rank>;

    Family family;
    tensor<double, 2> other = Family::from(drawn<2>({4, 3}));
    tensor<int, 1> places = Family::from(ep::array<int, 1>{3, 0, 4, 1});
    tensor<double, 2> five_rows = Family::from(drawn<2>({5, 3}));

    /// x has labels t and j, of extents 4 and 3.
    template <bool Everywhere, class X>
    numbers in_every_function(const X& x) const {
        numbers all;
        const auto O = [&] { return std::as_const(other)(t, j); };
#define STATEMENT(type, rank, left, right)              \
    if constexpr (Everywhere) {                         \
        ALWAYS(type, rank, left, right)                 \
    } else {                                            \
        static_assert(ep::Expression<decltype(right)>); \
    }
#define ALWAYS(type, rank, left, right) \
    {                                   \
        tensor<type, rank> Z;           \
        Z left = right;                 \
        append(all, Z);                 \
    }
        ALWAYS(double, 2, (t, j), x)
        ALWAYS(double, 1, (j), x* O())
        ALWAYS(double, 1, (j), ep::max(t, x))
        ALWAYS(double, 1, (t), ep::sum(j, ep::softmax(j, x) * O()))
        STATEMENT(double, 1, (j), x)
        STATEMENT(double, 1, (j), ep::sum(t, x))
        STATEMENT(double, 0, (), ep::sum(t, j, x))
        STATEMENT(double, 1, (t), ep::prod(j, x) + ep::prod(x))
        STATEMENT(double, 1, (j), ep::max(x))
        STATEMENT(double, 1, (t), ep::min(x) * ep::min(j, x))
        STATEMENT(double, 1, (j), ep::reduce(ep::op::max, x))
        STATEMENT(double, 1, (j), ep::reduce(longest{}, t, x))
        STATEMENT(double, 1, (j), ep::mean(x) + 2.0 * ep::mean(t, x))
        STATEMENT(double, 2, (t, j), ep::softmax(t, x))
        STATEMENT(double, 2, (t, j), ep::cumsum(t, x))
        STATEMENT(double, 2, (t, j), ep::cumprod(j, x))
        STATEMENT(double, 2, (t, k), ep::top_k(k, j, x, 2).values)
        STATEMENT(index, 2, (t, k), ep::top_k(k, j, x, 2).places)
        STATEMENT(index, 1, (t), ep::argmax(j, x) + ep::argmin(j, x))
        STATEMENT(double, 2, (t, j), ep::max(x, x) + ep::max(x, O()) - ep::min(1.0, x) * ep::min(O(), x))
        STATEMENT(double, 2, (t, j), pow(x, 2.0) + ep::pow(2.0, x) + pow(x, O()) + atan2(x, x) + atan2(O(), x))
        STATEMENT(double, 2, (t, j), ep::where(x > 1.0, x, O()) + ep::where(O() < x, 0, x) + ep::where(x, 1.0, O()))
        STATEMENT(bool, 2, (t, j), (x < O()) * (x <= 1) + (O() > x) * (x >= O()) + (x == x) * (x != 2.0))
        STATEMENT(double, 2, (t, j), ep::map(doubled, x) + ep::join(longest{}, x, O()))
        STATEMENT(double, 2, (t, j), ep::join([](double a, double b, double c) { return a + b * c; }, O(), x, x))
        STATEMENT(double, 2, (t, j), exp(x) + log(x) + sqrt(x) + tanh(x) + sin(x) + cos(x) + tan(x) + erf(x))
        STATEMENT(double, 2, (t, j), floor(x) + round(x) + sign(x) + abs(x) + conj(x) + ep::relu(x) + ep::silu(x))
        STATEMENT(double, 2, (t, j), ep::gelu(x) + ep::sigmoid(x) - (-x) * (+x) / 2.0 + 1.0 / x - (x - O()) / x)
        STATEMENT(double, 1, (t), ep::max(j, x - ep::iota(j) * ep::mean(j, x)))
#undef STATEMENT
#undef ALWAYS
#define STATEMENT(statement)             \
    {                                    \
        tensor<double, 2> S = five_rows; \
        statement;                       \
        append(all, S);                  \
    }
        STATEMENT(S(t + 1, j) += x)
        STATEMENT(S(places(t), j) = x)
        if constexpr (Everywhere) {
            STATEMENT(S(t + 1, j) = x)
            STATEMENT(S(3 - t, j) -= 2.0 * x)
            STATEMENT(S(0, j) = ep::max(t, x))
            STATEMENT(S(places(t), j) += x)
            STATEMENT(S(places(t), j) -= x)
            STATEMENT(S(k, j) += ep::min(t, x) * std::as_const(S)(k, j))
        }
#undef STATEMENT
        return all;
    }
    /// x has label t, of extent 4, and values 0 to 3.
    template <class X>
    numbers as_every_index(const X& x) const {
        numbers all;
        const tensor<double, 2>& fixed = five_rows;
        tensor<double, 2> W = five_rows, Z;
        Z(t, j) = fixed(x, j);
        append(all, Z);
        Z(t, j) = W(x, j) - exp(W(x + 1, j));
        append(all, Z);
        Z(t, j) = ep::one_hot(x, k) * fixed(k, j);
        append(all, Z);
        Z(t, j) = ep::max(k, ep::one_hot(x, k) * fixed(k, j));
        append(all, Z);
        W(x, j) += other(t, j);
        append(all, W);
        W(x, j) = 2.0 * other(t, j);
        append(all, W);
        return all;
    }

    template <class T, std::size_t Rank>
    void append(numbers& all, const tensor<T, Rank>& made) const {
        const ep::array<T, Rank>& value = family.value_of(made);
        all.insert(all.end(), value.data(), value.data() + value.size());
    }
};

/// A form of operand, of a variable, of a constant, of a temporary, and of views.
template <class Family, class Elements, class Form, class Use>
void with_each(const Family& family, const Elements& elements, const Form& form, const Use& use) {
    auto tensor = family.from(elements);
    use("variable", form(tensor));
    use("constant", form(std::as_const(tensor)));
    use("temporary", form(family.from(elements)));
    if constexpr (!Family::records) {
        ep::view seen(tensor);
        const ep::view seen_only(std::as_const(tensor));
        use("view", form(seen));
        use("constant view", form(std::as_const(seen)));
        use("view of constants", form(seen_only));
        use("temporary view", form(ep::view(tensor)));
    }
}

#define FORM(...) [&](auto&& A) { return __VA_ARGS__; }
#define TENSOR std::forward<decltype(A)>(A)

/// visit(what it is, operand) with all operands of floating-point numbers.
template <class Family, class Visit>
void for_each_operand(const Family& family, const Visit& visit) {
    auto token = family.from(ep::array<int, 1>{2, 0, 3, 1});
    const auto fixed_token = family.from(ep::array<int, 1>{2, 0, 3, 1});
    auto longer = family.from(ep::array<int, 1>{9, 2, 0, 3, 1});
    auto column = family.from(ep::array<int, 1>{9, 2, 0, 2, 1});
    auto now = family.from(ep::einsum<"i->">(ep::array<int, 1>({1})));
    const auto each = [&](const std::string& form, const auto& elements, const auto& made) {
        with_each(family, elements, made,
                  [&](const std::string& of, const auto& operand) { visit(form, of, operand, std::false_type()); });
    };
    const auto everywhere = [&](const std::string& form, const auto& elements, const auto& made) {
        with_each(family, elements, made,
                  [&](const std::string& of, const auto& operand) { visit(form, of, operand, std::true_type()); });
    };
#if defined(EINPARALLEL_TEST_LONG)
    const auto& everywhere_in_long = everywhere;
#else
    const auto& everywhere_in_long = each;
#endif
    const ep::array<double, 2> four = drawn<2>({4, 3}), five = drawn<2>({5, 3}), eight = drawn<2>({8, 3});
    const ep::array<double, 3> three = drawn<3>({4, 3, 4});
    everywhere("tensor", four, FORM(TENSOR(t, j)));
    each("transposed tensor", drawn<2>({3, 4}), FORM(TENSOR(j, t)));
    everywhere_in_long("shifted part", five, FORM(TENSOR(t + 1, j)));
    each("part from back to front", four, FORM(TENSOR(3 - t, j)));
    each("part of every other row", eight, FORM(TENSOR(2 * t + 1, j)));
    each("part at a fixed index", three, FORM(TENSOR(t, j, 2)));
    each("part at the end", three, FORM(TENSOR(t, j, t)));
    everywhere("selection", five, FORM(TENSOR(token(t), j)));
    each("selection by a constant", five, FORM(TENSOR(fixed_token(t), j)));
    each("selection by a part", five, FORM(TENSOR(longer(t + 1), j)));
    each("selection by an expression", five, FORM(TENSOR(token(t) + 1, j)));
    each("selection of one", three, FORM(TENSOR(t, j, now())));
    each("slice", five, FORM(ep::slice(TENSOR, {1, 0}, {5, 3})(t, j)));
    each("part of a slice", five, FORM(ep::slice(TENSOR, {0, 0}, {5, 3})(t + 1, j)));
    everywhere_in_long("padded tensor", drawn<2>({2, 3}), FORM(ep::padded(TENSOR, {1, 0}, {1, 0}, 0.75)(t, j)));
    each("part of a padded tensor", drawn<2>({2, 3}), FORM(ep::padded(TENSOR, {2, 0}, {1, 0}, 0.75)(t + 1, j)));
    each("concatenation", drawn<2>({2, 3}),
         FORM(ep::concatenate(0, std::remove_cvref_t<decltype(A)>(A), TENSOR)(t, j)));
    each("part of a concatenation", five, FORM(ep::concatenate(0, TENSOR)(t + 1, j)));
    each("tensor of another shape", drawn<2>({6, 2}), FORM(ep::reshape(TENSOR, {4, 3})(t, j)));
    each("part of another shape", drawn<2>({3, 5}), FORM(ep::reshape(TENSOR, {5, 3})(t + 1, j)));
    each("einsum", four, FORM(ep::einsum<"ab->ab">(A)(t, j)));
    each("part of an einsum", five, FORM(ep::einsum<"ab->ab">(A)(t + 1, j)));
    each("selection of an einsum", five, FORM(ep::einsum<"ab->ab">(A)(token(t), j)));
    each("number times a part", five, FORM(2.0 * TENSOR(t + 1, j)));
    each("function of a part", five, FORM(sqrt(TENSOR(t + 1, j))));
    each("index times a part", five, FORM((ep::iota(t) + 0.5) * TENSOR(t + 1, j)));
    each("one-hot times a tensor", four, FORM(ep::one_hot(column(t + 1), j) * TENSOR(t, j) + 0.5));
    each("reduction of parts", three, FORM(ep::max(v, TENSOR(t, j, v))));
}
/// The same with those of integers, which stand as indices.
template <class Family, class Visit>
void for_each_index(const Family& family, const Visit& visit) {
    auto other = family.from(ep::array<int, 1>{3, 2, 1, 0});
    const auto each = [&](const std::string& form, const auto& elements, const auto& made) {
        with_each(family, elements, made,
                  [&](const std::string& of, const auto& operand) { visit(form, of, operand); });
    };
    const ep::array<int, 1> four{2, 0, 3, 1}, five{9, 2, 0, 3, 1};
    each("index", four, FORM(TENSOR(t)));
    each("shifted index", five, FORM(TENSOR(t + 1)));
    each("index from back to front", four, FORM(TENSOR(3 - t)));
    each("index of two dimensions", ep::array<int, 2>{{2, 9}, {0, 9}, {3, 9}, {1, 9}}, FORM(TENSOR(t, 0)));
    each("index that is selected", four, FORM(TENSOR(other(t))));
    each("slice of indices", five, FORM(ep::slice(TENSOR, {1}, {5})(t)));
    each("padded index", ep::array<int, 1>{2, 0, 3}, FORM(ep::padded(TENSOR, {0}, {1}, 1)(t)));
    each("index of another shape", ep::array<int, 2>{{2, 0}, {3, 1}}, FORM(ep::reshape(TENSOR, {4})(t)));
    each("index that an einsum makes", four, FORM(ep::einsum<"a->a">(A)(t)));
    each("expression", four, FORM(3 - (3 - TENSOR(t))));
}
#undef FORM
#undef TENSOR

inline bool agree(const numbers& got, const numbers& expected) {
    bool same = got.size() == expected.size();
    for (std::size_t at = 0; same && at < got.size(); ++at) {
        same = std::abs(got[at] - expected[at]) <= 1e-12 * (1 + std::abs(expected[at]));
    }
    return same;
}

/// Compares all statements with those of an array that has the operand's elements. Returns the number of operands.
template <class Family>
int check_operands(const Family& family, std::map<std::string, numbers>& expected) {
    const statements<Family> all{family};
    [[maybe_unused]] const statements<of_arrays> plain{{family.world}};
    int operands = 0;
    const auto check = [&](const std::string& form, const std::string& of, const numbers& got) {
        CAPTURE(form);
        CAPTURE(of);
        CHECK(agree(got, expected[form]));
        ++operands;
    };
    for_each_operand(family, [&](const std::string& form, const std::string& of, const auto& x, auto everywhere) {
        constexpr bool all_statements = decltype(everywhere)::value;
        if constexpr (!Family::records) {
            ep::array<double, 2> elements({4, 3});
            elements(t, j) = x;
            expected.emplace(form, plain.template in_every_function<all_statements>(std::as_const(elements)(t, j)));
        }
        check(form, of, all.template in_every_function<all_statements>(x));
    });
    for_each_index(family, [&](const std::string& form, const std::string& of, const auto& x) {
        if constexpr (!Family::records) {
            ep::array<int, 1> elements({4});
            elements(t) = x;
            expected.emplace(form, plain.as_every_index(std::as_const(elements)(t)));
        }
        check(form, of, all.as_every_index(x));
    });
    return operands;
}

}  // namespace operands
