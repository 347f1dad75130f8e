#pragma once
// ep::einsum<"ij,jk->ik">(A, B): numpy.einsum's language on arrays, views and other libraries' tensors.

#include <einparallel/array/array.hpp>
#include <einparallel/array/assign.hpp>
#include <einparallel/array/immediate.hpp>
#include <einparallel/array/subscript_labels.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_spec.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// An operand of immediate einsums: an array, a view, or an object to which a view can refer.
template <class T>
concept DenseOperand = is_a<std::remove_cvref_t<T>, array> || is_a<std::remove_cvref_t<T>, view> ||
    ForeignTensor<const std::remove_reference_t<T>>;

auto readable(const DenseOperand auto& operand) {
    const view seen(operand);
    return view<const typename decltype(seen)::value_type, decltype(seen)::rank>(seen);
}
template <class Operand>
using readable_t = decltype(readable(std::declval<const std::remove_reference_t<Operand>&>()));

template <class... T>
struct common_element;
template <class T>
struct common_element<T> : std::type_identity<computed_t<T>> {};
template <class A, class B, class... Rest>
struct common_element<A, B, Rest...> : common_element<arithmetic_t<A, B>, Rest...> {};

/// Names of a table's labels.
template <const auto& Table>
inline constexpr auto table_names = [] {
    std::array<std::string_view, Table.names.size()> names{};
    for (std::size_t label = 0; label < names.size(); ++label) {
        names[label] = Table.names[label].view();
    }
    return names;
}();

/// The operand itself, if its elements have type T; else a copy of type Made with such elements.
template <class T, template <class, std::size_t> class Made, class Given>
decltype(auto) elements_as(const Given& operand) {
    if constexpr (std::is_same_v<typename Given::value_type, T>) {
        return (operand);
    } else {
        Made<T, Given::rank> made;
        assign_elements(made, operand);
        return made;
    }
}

template <subscripts Text, class Out, std::size_t OutRank, class... Operands>
void einsum_views(const view<Out, OutRank>& output, const Operands&... operands) {
    static constexpr const auto& table = subscript_table_of<Text, Operands::rank...>;
    static_assert((keeps_imaginary<typename Operands::value_type, Out> && ...),
                  "einsum: complex values cannot be assigned to real elements: take a part of them with ep::map");
    static_assert((keeps_fraction<typename Operands::value_type, Out> && ...),
                  "einsum: floating-point values cannot be assigned to integer elements: round them with ep::map");
    static_assert(keeps_range<typename common_element<typename Operands::value_type...>::type, Out>,
                  "einsum: integers beyond the largest number of the output (65,504 of float16, 57,344 of float8_e5m2, "
                  "448 of float8_e4m3) cannot be assigned to it: convert them to floats first");
    using T = typename common_element<Out, typename Operands::value_type...>::type;
    if constexpr (!std::is_same_v<T, Out>) {
        array<T, OutRank> made(output.extents(), first_elements::unwritten);
        einsum_views<Text>(view(made), operands...);
        assign_elements(output, made);
    } else if constexpr ((std::is_same_v<T, typename Operands::value_type> && ...) || sizeof...(Operands) <= 2) {
        const std::array shapes{shape_of(operands)...};
        subscript_labels labels(table, shapes, shape_of(output));
        std::array<strided_block, sizeof...(Operands) + 1> blocks{handle_of(output), handle_of(operands)...};
        labels.see(blocks);
        run_product<T, std::min<std::size_t>(sizeof...(Operands), 3)>({table_names<table>}, blocks, T(1));
    } else {
        einsum_views<Text>(output, readable(elements_as<T, array>(operands))...);
    }
}

template <class... Operands>
struct other_than_dense : refused, known_tensors<Operands...> {
    static_assert((OpaqueTensor<Operands> || ...),
                  "ep::einsum: subscripts stand in angle brackets or come first, then operands without labels, all of "
                  "them arrays and views or all of them tensors: ep::einsum<\"ij,jk->ik\">(A, B); assign the results "
                  "of ep::padded and ep::concatenate to one of these first");
};

template <subscripts Text, class... Operands>
auto new_output(const Operands&... operands) {
    static constexpr const auto& table = subscript_table_of<Text, Operands::rank...>;
    const std::array shapes{shape_of(operands)...};
    const subscript_labels labels(table, shapes);
    expect(labels.failure().empty(), labels.failure());
    std::array<index, table.output_rank> extents{};
    for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
        extents[dimension] = labels.extent(table.output[dimension]);
    }
    using Out = typename common_element<typename Operands::value_type...>::type;
    return array<Out, table.output_rank>(extents, first_elements::unwritten);
}

template <subscripts Text, class X, class Y>
contraction_decision decision_of(const X& x, const Y& y) {
    using T = typename X::value_type;
    static_assert(std::is_same_v<T, typename Y::value_type>,
                  "ep::explain: the operands must have the same element type");
    static constexpr const auto& table = subscript_table_of<Text, X::rank, Y::rank>;
    const std::array shapes{shape_of(x), shape_of(y)};
    subscript_labels labels(table, shapes);
    auto output = new_output<Text>(x, y);
    const view target(output);  // handles refer to extents and strides
    std::array<strided_block, 3> blocks{handle_of(target), handle_of(x), handle_of(y)};
    labels.see(blocks);
    small_vector<index, 16> extents;
    return decide(checked_call({table_names<table>}, blocks, extents, nullptr),
                  element_type_of<summed_as_t<computed_t<T>>>());
}

/// The result of an einsum whose string has a mistake. It does not compile, and its error says what the mistake is.
template <subscripts Text, class... Operands>
using mistaken_subscripts = check_subscripts<Text, readable_t<Operands>::rank...>;
template <subscripts Text, class... Operands>
inline constexpr bool are_sound_for = are_sound<Text, readable_t<Operands>::rank...>;

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// Computes an einsum in numpy's language. The string is checked at compile time. It may have an explicit or implicit
/// output, spaces, repeated labels in one operand (diagonals), sums over labels of one operand, an ellipsis with
/// broadcasting, and any number of operands (contracted pair by pair, in the cheapest order that is found). Operands
/// may be read at functions of labels: "i+r,r->i" or "[2*i - r, 3],[r]->[i]". Returns a new array of the operands'
/// common element type. Throws ep::error where extents disagree or an index lies outside.
template <subscripts Text, detail::DenseOperand... Operands>
auto einsum(const Operands&... operands) {
    if constexpr (detail::are_sound_for<Text, Operands...>) {
        auto output = detail::new_output<Text>(detail::readable(operands)...);
        detail::einsum_views<Text>(view(output), detail::readable(operands)...);
        return output;
    } else {
        return detail::mistaken_subscripts<Text, Operands...>();
    }
}
/// Other operands do not compile.
template <subscripts Text = "", class... Operands>
detail::other_than_dense<Operands...> einsum(const Operands&... /*operands*/) {
    return {};
}

/// Returns how einsum<Text>(x, y) would contract two operands of one type with these extents and strides, as a value
/// that can be printed. Look at it where an einsum is slower than expected. Throws ep::error where extents disagree.
template <subscripts Text, detail::DenseOperand X, detail::DenseOperand Y>
auto explain(const X& x, const Y& y) {
    if constexpr (detail::are_sound_for<Text, X, Y>) {
        return detail::decision_of<Text>(detail::readable(x), detail::readable(y));
    } else {
        return detail::mistaken_subscripts<Text, X, Y>();
    }
}

/// Like einsum, but writes the result to `output`, whose extents are checked. The output must not share memory with an
/// operand.
template <subscripts Text, detail::DenseOperand Output, detail::DenseOperand... Operands>
void einsum_into(Output&& output, const Operands&... operands) {
    if constexpr (detail::are_sound_for<Text, Operands...>) {
        const view target(output);
        constexpr bool fits = std::remove_const_t<decltype(target)>::rank ==
                              detail::subscript_table_of<Text, detail::readable_t<Operands>::rank...>.output_rank;
        static_assert(fits, "ep::einsum_into: the rank of the output differs from the number of output labels");
        if constexpr (fits) {
            detail::einsum_views<Text>(target, detail::readable(operands)...);
        }
    } else {
        static_cast<void>(detail::mistaken_subscripts<Text, Operands...>());
    }
}
/// Other tensors do not compile.
template <subscripts Text, class... Operands>
    requires(!(detail::DenseOperand<Operands> && ...))
detail::other_than_dense<Operands...> einsum_into(const Operands&... /*operands*/) {
    return {};
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
