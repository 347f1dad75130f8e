#pragma once
// Products of operands of every two types, in every spelling that says them: on arrays, as strings known at compile
// time and at run time, as networks, and the same of tensors on ranks.

#include <doctest/doctest.h>

#include <einparallel.hpp>

#include <support/long_suite.hpp>
#include <support/spelled.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace spelling_test {

namespace ep = einparallel;
using ep::index;
using namespace ep::testing;

EINPARALLEL_LABELS(i, j, k, l);

template <class... T>
struct types {
    static constexpr std::size_t count = sizeof...(T);
};
using all_types = types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                        std::uint32_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>,
                        ep::float16, ep::bfloat16, ep::float8_e4m3, ep::float8_e5m2>;
template <std::size_t Number, class First, class... Rest>
constexpr auto type_number(types<First, Rest...> /*all*/) {
    if constexpr (Number == 0) {
        return std::type_identity<First>();
    } else {
        return type_number<Number - 1>(types<Rest...>());
    }
}
template <std::size_t Number>
using nth_type = typename decltype(type_number<Number % all_types::count>(all_types()))::type;

/// The type with this run-time value.
template <ep::element_type Type>
constexpr auto type_of_value() {
    return []<class... T>(types<T...> /*all*/) {
        constexpr std::array values{ep::element_type_of<T>()...};
        constexpr auto at = static_cast<std::size_t>(std::find(values.begin(), values.end(), Type) - values.begin());
        return std::type_identity<nth_type<at>>();
    }(all_types());
}
template <ep::element_type Type>
using element_of_type = typename decltype(type_of_value<Type>())::type;

/// Integers of this type are none that Out ends before.
template <class Out>
constexpr bool holds_all(ep::element_type type) {
    constexpr double most = std::is_same_v<Out, ep::float16>       ? 65504
                            : std::is_same_v<Out, ep::float8_e4m3> ? 448
                            : std::is_same_v<Out, ep::float8_e5m2> ? 57344
                                                                   : 1e300;
    const std::uint32_t bits = 8 * type.bytes - (type.kind == 'i' ? 1U : 0U);
    return !is_integer(type) || type.kind == 'b' || double(~std::uint64_t{0} >> (64 - bits)) <= most;
}
/// The common type of operands.
template <class First, class... In>
constexpr ep::element_type common_type_of() {
    ep::element_type common = ep::element_type_of<First>();
    ((common = common_type(common, ep::element_type_of<In>())), ...);
    return common;
}
/// Elements of type Out can be assigned what operands of these types make; else there is a sentence at compile time.
template <class Out, class... In>
inline constexpr bool can_hold =
    ((!ep::detail::is_complex<In>::value || ep::detail::is_complex<Out>::value) && ...) &&
    ((!std::is_integral_v<Out> || std::is_integral_v<In>)&&...) && holds_all<Out>(common_type_of<In...>());
/// One such type for each two operands.
template <std::size_t Number, class... In>
constexpr auto drawn_output() {
    if constexpr (can_hold<nth_type<Number>, In...>) {
        return std::type_identity<nth_type<Number>>();
    } else {
        return drawn_output<Number + 4, In...>();
    }
}

// One einsum each. `text` and `assign` say the same.
struct matrix_product {
    static constexpr char text[] = "ij,jk->ik";
    static void assign(auto&& z, const auto& x, const auto& y) { z(i, k) = x(i, j) * y(j, k); }
};
struct transposed_product {
    static constexpr char text[] = "ji,jk->ki";
    static void assign(auto&& z, const auto& x, const auto& y) { z(k, i) = x(j, i) * y(j, k); }
};
struct rows_of_products {
    static constexpr char text[] = "ij,ij->i";
    static void assign(auto&& z, const auto& x, const auto& y) { z(i) = x(i, j) * y(i, j); }
};
struct repeated_row {
    static constexpr char text[] = "ij,j->ij";
    static void assign(auto&& z, const auto& x, const auto& y) { z(i, j) = x(i, j) * y(j); }
};
struct outer_product {
    static constexpr char text[] = "i,j->ji";
    static void assign(auto&& z, const auto& x, const auto& y) { z(j, i) = x(i) * y(j); }
};
struct diagonal {
    static constexpr char text[] = "ii,ij->j";
    static void assign(auto&& z, const auto& x, const auto& y) { z(j) = x(i, i) * y(i, j); }
};
struct inner_product {
    static constexpr char text[] = "ij,ji->";
    static void assign(auto&& z, const auto& x, const auto& y) { z() = x(i, j) * y(j, i); }
};
struct batches {
    static constexpr char text[] = "lij,ljk->lik";
    static void assign(auto&& z, const auto& x, const auto& y) { z(l, i, k) = x(l, i, j) * y(l, j, k); }
};
struct one_sided_labels {
    static constexpr char text[] = "ij,ik->i";
    static void assign(auto&& z, const auto& x, const auto& y) { z(i) = x(i, j) * y(i, k); }
};
struct transposition {
    static constexpr char text[] = "ij->ji";
    static void assign(auto&& z, const auto& x) { z(j, i) = x(i, j); }
};
struct sum_of_columns {
    static constexpr char text[] = "ij->j";
    static void assign(auto&& z, const auto& x) { z(j) = x(i, j); }
};
struct trace {
    static constexpr char text[] = "ii->";
    static void assign(auto&& z, const auto& x) { z() = x(i, i); }
};
struct chain {
    static constexpr char text[] = "ij,jk,kl->il";
    static void assign(auto&& z, const auto& x, const auto& y, const auto& w) { z(i, l) = x(i, j) * y(j, k) * w(k, l); }
};
struct weighted_product {
    static constexpr char text[] = "ij,j,jk->ik";
    static void assign(auto&& z, const auto& x, const auto& y, const auto& w) { z(i, k) = x(i, j) * y(j) * w(j, k); }
};
struct elementwise_product {
    static constexpr char text[] = "ij,ij,i->ij";
    static void assign(auto&& z, const auto& x, const auto& y, const auto& w) { z(i, j) = x(i, j) * y(i, j) * w(i); }
};

/// Rank of operand number `operand`, and behind the operands of the output.
template <class Form>
constexpr std::size_t rank_in(std::size_t operand) {
    std::size_t rank = 0;
    for (const char each : std::string_view(Form::text)) {
        operand -= each == ',' || each == '>' ? 1U : 0U;
        rank += operand == 0 && each >= 'a' ? 1U : 0U;
    }
    return rank;
}

/// What spellings make: assigned to their left-hand side, before that, and with no left-hand side.
struct expected_product {
    expectation assigned;
    expectation in_type;
    expectation alone;
};

/// One product in every spelling; which of two alike are compiled, `First` says.
template <bool First, class Form, class Out, class... In>
struct product_case {
    static constexpr ep::element_type common = [] {
        ep::element_type made = ep::element_type_of<bool>();
        ((made = common_type(made, ep::element_type_of<In>())), ...);
        return made;
    }();
    static constexpr ep::element_type of_statement = common_type(common, ep::element_type_of<Out>());

    static void run(ep::context& world, std::mt19937& random, bool is_rough) {
        run(world, random, is_rough, std::index_sequence_for<In...>());
    }

private:
    template <std::size_t... Operand>
    static void run(ep::context& world, std::mt19937& random, bool is_rough,
                    std::index_sequence<Operand...> /*operands*/) {
        const letters said{Form::text};
        std::array<index, 26> extents{};
        std::generate(extents.begin(), extents.end(), [&] { return drawn_extent(random); });
        const draw how = is_rough ? draw::rough : exact_draw(of_statement);
        const auto extents_of = [&]<std::size_t Rank>(const std::string& labels, std::array<index, Rank> made) {
            std::transform(labels.begin(), labels.end(), made.begin(),
                           [&](char label) { return extents[static_cast<std::size_t>(label - 'a')]; });
            return made;
        };
        std::tuple<laid_out<In, rank_in<Form>(Operand)>...> given{drawn_operand<In>(
            extents_of(said.operands[Operand], std::array<index, rank_in<Form>(Operand)>()), random, how)...};
        const std::vector<std::vector<number>> numbers{numbers_of(std::get<Operand>(given).elements())...};
        expected_product expected{{},
                                  einsum_in(of_statement, said, extents, numbers, is_rough),
                                  einsum_in(common, said, extents, numbers, is_rough)};
        expected.assigned = expected.in_type.in(ep::element_type_of<Out>());
        check_all(world, random, said, extents_of(said.output, std::array<index, rank_in<Form>(sizeof...(In))>()),
                  expected, std::as_const(std::get<Operand>(given)).elements()...);
    }

    static void check_all(ep::context& world, std::mt19937& random, const letters& said, const auto& extents,
                          const expected_product& expected, const auto&... x) {
        std::string shown = said.text() + " of";
        ((shown += ' ' + ep::detail::name_of_element(ep::element_type_of<In>())), ...);
        INFO(shown, " into ", ep::detail::name_of_element(ep::element_type_of<Out>()));
        constexpr std::size_t rank = rank_in<Form>(sizeof...(In));
        using S = element_of_type<of_statement>;
        using C = element_of_type<common>;

        laid_out<Out, rank> assigned(extents, random), written(extents, random);
        if constexpr (First) {
            ep::array<Out, rank> grown;
            Form::assign(grown, x...);
            check_elements("a statement", grown, expected.assigned);
        } else {
            const auto left = assigned.elements();
            Form::assign(left, x...);
            check_elements("a statement into a view", left, expected.assigned);
        }
        ep::einsum_into<Form::text>(written.elements(), x...);
        check_elements("einsum_into<>", written.elements(), expected.assigned);
        CHECK(assigned.has_clean_gaps());
        CHECK(written.has_clean_gaps());
        check_elements("einsum<>", ep::einsum<Form::text>(x...), expected.alone);
        const ep::array<C, rank> spelled = ep::einsum(std::string(Form::text), x...);
        check_elements("einsum()", spelled, expected.alone);
        std::size_t operand = 0;
        ep::network<S> network;
        (network.add(x, said.operands[operand++]), ...);
        ep::array<Out, rank> of_network;
        const ep::array<S, rank> in_type = network.result(said.output);
        ep::detail::assign_elements(of_network, in_type);
        check_elements("a network", of_network, expected.assigned);
        check_tensors(world, random, said, expected, recorded(world, random, x)...);
    }

    template <class T, std::size_t Rank>
    static ep::tensor<T, Rank> recorded(ep::context& world, std::mt19937& random, const ep::view<const T, Rank>& x) {
        const auto root = static_cast<int>(random() % static_cast<unsigned>(world.size()));
        return ep::from_root(x, root);
    }

    static void check_tensors(ep::context& world, std::mt19937& random, const letters& said,
                              const expected_product& expected, const auto&... x) {
        constexpr std::size_t rank = rank_in<Form>(sizeof...(In));
        using S = element_of_type<of_statement>;
        using C = element_of_type<common>;
        ep::tensor<Out, rank> assigned;
        Form::assign(assigned, x...);
        ep::tensor<C, rank> alone;
        if constexpr (First) {
            alone = ep::einsum(std::string(Form::text), x...);
        } else {
            alone = ep::einsum<Form::text>(x...);
        }
        std::size_t operand = 0;
        ep::network<S> network;
        (network.add(x, said.operands[operand++]), ...);
        const ep::tensor<S, rank> in_type = network.result(said.output);
        constexpr std::array objectives{ep::objective::time, ep::objective::bytes, ep::objective::paper};
        const ep::options asked{.objective = objectives[random() % objectives.size()]};
        const ep::plan plan = ep::decompose(world, asked, assigned, alone, in_type);
        const ep::results made = plan.run(world);
        check_elements("a statement on ranks", made.get(assigned).allgather(), expected.assigned);
        check_elements("an einsum on ranks", made.get(alone).allgather(), expected.alone);
        check_elements("a network on ranks", made.get(in_type).allgather(), expected.in_type);
    }
};

using run_case = void (*)(ep::context&, std::mt19937&, bool);

/// The product of two types by one of the einsums.
template <std::size_t A, std::size_t B>
constexpr run_case pair_case() {
    using forms = std::tuple<matrix_product, transposed_product, rows_of_products, repeated_row, outer_product,
                             diagonal, inner_product, batches, one_sided_labels>;
    using form = std::tuple_element_t<(2 * A + 7 * B) % 9, forms>;
    using out = typename decltype(drawn_output<3 * A + 5 * B + 1, nth_type<A>, nth_type<B>>())::type;
    return &product_case<(A + B) % 2 == 0, form, out, nth_type<A>, nth_type<B>>::run;
}
/// Of so many cases one is compiled: each type has its turn as each operand where this does not divide their number.
#if defined(EINPARALLEL_TEST_EVERY)
inline constexpr std::size_t every = EINPARALLEL_TEST_EVERY;
#else
inline constexpr std::size_t every = 1;
#endif
template <std::size_t... Number>
constexpr auto pairs_from(std::index_sequence<Number...> /*pairs*/, auto pair) {
    return std::array{pair_case<pair(Number) / all_types::count, pair(Number) % all_types::count>()...};
}
/// Pairs of so many types from this one on, and all types.
template <std::size_t First, std::size_t Count>
inline constexpr auto pairs_of = pairs_from(std::make_index_sequence<(Count * all_types::count + every - 1) / every>(),
                                            [](std::size_t number) {
                                                return First * all_types::count + number * every;
                                            });

/// Each of the cases in turn.
template <std::size_t Count>
void try_cases(const std::array<run_case, Count>& cases, unsigned seed, int exact, int rough) {
    ep::context world(MPI_COMM_WORLD);
    std::mt19937 random(seed);
    for (int time = 0; time < tried_cases(exact) + tried_cases(rough); ++time) {
        CAPTURE(time);
        cases[static_cast<std::size_t>(time) * 31 % Count](world, random, time >= tried_cases(exact));
    }
}

}  // namespace spelling_test
