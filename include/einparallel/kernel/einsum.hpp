#pragma once
// ep::einsum<"ij,jk->ik">(A, B): numpy.einsum's language on arrays, views and other libraries' tensors.

#include <einparallel/kernel/aliasing.hpp>
#include <einparallel/kernel/array.hpp>
#include <einparallel/kernel/assign.hpp>
#include <einparallel/kernel/contraction_decision.hpp>
#include <einparallel/kernel/immediate.hpp>
#include <einparallel/kernel/view.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/subscripts.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t Rank>
inline constexpr bool is_array<array<T, Rank>> = true;
template <class T>
inline constexpr bool is_view = false;
template <class T, std::size_t Rank>
inline constexpr bool is_view<view<T, Rank>> = true;

/// What immediate einsums take: arrays, views, and whatever a view can be made of.
template <class T>
concept DenseOperand = is_array<std::remove_cvref_t<T>> || is_view<std::remove_cvref_t<T>> ||
    EigenMatrix<std::remove_reference_t<T>> || EigenTensor<std::remove_reference_t<T>> ||
    Mdspan<std::remove_reference_t<T>> || Sequence<std::remove_reference_t<T>>;

template <class T, std::size_t Rank>
view<const T, Rank> readable(const array<T, Rank>& operand) {
    return operand;
}
template <class T, std::size_t Rank>
view<const std::remove_const_t<T>, Rank> readable(const view<T, Rank>& operand) {
    return {checked_before{}, operand.data(), operand.extents(), operand.strides()};
}
template <class Foreign>
    requires(!is_array<Foreign> && !is_view<Foreign>)
auto readable(const Foreign& operand) {
    using T = std::remove_cv_t<std::remove_pointer_t<foreign_pointer_t<const Foreign>>>;
    return view<const T, foreign_rank<Foreign>>(operand);
}
template <class Operand>
using readable_t = decltype(readable(std::declval<const std::remove_reference_t<Operand>&>()));

template <class T, std::size_t Rank>
view<T, Rank> writable(array<T, Rank>& output) {
    return output;
}
template <class T, std::size_t Rank>
view<T, Rank> writable(const view<T, Rank>& output) {
    return output;
}
template <class Foreign>
    requires(!is_array<std::remove_cvref_t<Foreign>> && !is_view<std::remove_cvref_t<Foreign>>)
auto writable(Foreign&& output) {
    using T = std::remove_pointer_t<foreign_pointer_t<Foreign>>;
    return view<T, foreign_rank<std::remove_reference_t<Foreign>>>(output);
}

template <class... T>
struct common_element;
template <class T>
struct common_element<T> {
    using type = T;
};
template <class A, class B, class... Rest>
struct common_element<A, B, Rest...> {
    using type = typename common_element<arithmetic_t<A, B>, Rest...>::type;
};

/// An ellipsis in any operand.
template <const auto& Table>
inline constexpr bool has_ellipsis = [] {
    for (const bool is_one : Table.is_ellipsis) {
        if (is_one) {
            return true;
        }
    }
    return false;
}();

/// The labels of a subscript string as spans, with ellipsis dimensions of extent 1 against a longer one marked
/// no_label: numpy's broadcasting, which is confined to the ellipsis so that a named label never means two extents.
template <const auto& Table, std::size_t Operands>
class subscript_labels {
public:
    template <class Extents>
    explicit subscript_labels([[maybe_unused]] const Extents& extents_of) : dimensions_(Table.dimensions) {
        if constexpr (has_ellipsis<Table>) {
            std::array<index, Table.names.size()> longest{};  // or 0, against which 1 stands as well
            longest.fill(1);
            for (std::size_t operand = 0; operand < Operands; ++operand) {
                for (std::size_t at = Table.first[operand]; at < Table.first[operand + 1]; ++at) {
                    index& known = longest[static_cast<std::size_t>(dimensions_[at])];
                    const index extent = extents_of[operand][at - Table.first[operand]];
                    known = known == 1 ? extent : known;
                }
            }
            for (std::size_t operand = 0; operand < Operands; ++operand) {
                for (std::size_t at = Table.first[operand]; at < Table.first[operand + 1]; ++at) {
                    const auto label = static_cast<std::size_t>(dimensions_[at]);
                    const index extent = extents_of[operand][at - Table.first[operand]];
                    if (Table.is_ellipsis[label] && extent == 1 && longest[label] != 1) {
                        dimensions_[at] = no_label;
                    }
                }
            }
        }
    }

    [[nodiscard]] std::span<const label_id> of(std::size_t operand) const {
        return std::span<const label_id>(dimensions_)
            .subspan(Table.first[operand], Table.first[operand + 1] - Table.first[operand]);
    }
    static constexpr std::span<const label_id> output() {
        return std::span<const label_id>(Table.output).first(Table.output_rank);
    }

private:
    using constant = decltype(Table.dimensions);
    std::conditional_t<has_ellipsis<Table>, std::remove_const_t<constant>, const constant&> dimensions_;
};

/// Names of a table's labels.
template <const auto& Table>
inline constexpr auto table_names = [] {
    std::array<std::string_view, Table.names.size()> names{};
    for (std::size_t label = 0; label < names.size(); ++label) {
        names[label] = Table.names[label].view();
    }
    return names;
}();

/// x1 · x2 · … of any element types: the ⊗ of a product whose operands differ in type.
struct product_of_all {
    static constexpr const char* name = "*";
    template <class First, class... Rest>
    EINPARALLEL_HOST_DEVICE constexpr auto operator()(First first, Rest... rest) const {
        if constexpr (sizeof...(Rest) == 0) {
            return first;
        } else {
            return times{}(first, (*this)(rest...));
        }
    }
};

/// Runs or records Σ of the product of all operands: same element type everywhere → contraction, otherwise a join.
template <class Out, class... In, class Builder, class Sink, std::size_t Count>
auto product_of(Builder& builder, Sink sink, std::span<const label_id> out,
                const std::array<labelled_handle<typename Builder::handle>, Count>& operands) {
    const std::span all(operands);
    if constexpr ((std::is_same_v<Out, In> && ...)) {
        return builder.template product<Out>(sink, out, all, Out(1));
    } else if constexpr (loses<typename common_element<In...>::type, Out>) {
        using T = typename common_element<In...>::type;
        const std::array<labelled_handle<typename Builder::handle>, 1> sum{
            {{product_of<T, In...>(builder, temporary{}, out, operands), out}}};
        return builder.template emit<Out>(sink, out, std::span(sum), [](auto /*described*/) {
            return join_kernel<Out, op::sum_type, unchanged, T>(op::sum, {}, true, 1.0, "convert");
        });
    } else {
        return builder.template emit<Out>(sink, out, all, [](auto /*described*/) {
            return join_kernel<Out, op::sum_type, product_of_all, In...>(op::sum, {}, true, 2.0 * sizeof...(In),
                                                                         "sum (*)");
        });
    }
}

template <subscripts Text, class Out, std::size_t OutRank, class... Operands>
void einsum_views(const view<Out, OutRank>& output, const Operands&... operands) {
    static constexpr const auto& table = subscript_table_of<Text, Operands::rank...>;
    static_cast<void>((sizeof(check_storable<typename Operands::value_type, Out>) + ...));
    const std::array<const index*, sizeof...(Operands)> extents{operands.extents().data()...};
    const subscript_labels<table, sizeof...(Operands)> labels(extents);

    const block_target target{output.data(), labels.output(), output.extents(), output.strides()};
    const touched_memory written(output.data(), output.extents(), output.strides(), sizeof(Out));
    check_writable(written);
    const auto is_output = [&](const auto& operand) {
        using T = typename std::remove_cvref_t<decltype(operand)>::value_type;
        const touched_memory read(operand.data(), operand.extents(), operand.strides(), sizeof(T));
        check_readable(read);
        return overlap(written, read);
    };
    if ((is_output(operands) || ...)) {
        throw error("ep::einsum_into: the output is also an operand: give the result memory of its own");
    }
    std::array<index, table.names.size()> scratch{};
    immediate_builder builder(table_names<table>, scratch, target);
    std::size_t position = 0;
    const auto labelled = [&](const auto& operand) {
        return labelled_handle<block_handle>{{operand.data(), operand.extents(), operand.strides()},
                                             labels.of(position++)};
    };
    const std::array<labelled_handle<block_handle>, sizeof...(Operands)> handles{labelled(operands)...};
    product_of<Out, typename Operands::value_type...>(builder, into_target{}, labels.output(), handles);
}

/// Extents of the result; an ellipsis dimension takes the longest.
template <subscripts Text, class... Operands>
auto einsum_extents(const Operands&... operands) {
    static constexpr const auto& table = subscript_table_of<Text, Operands::rank...>;
    std::array<index, table.output_rank> extents{};
    const std::array<const index*, sizeof...(Operands)> of{operands.extents().data()...};
    for (std::size_t dimension = 0; dimension < extents.size(); ++dimension) {
        bool found = false;
        for (std::size_t operand = 0; operand < sizeof...(Operands); ++operand) {
            for (std::size_t at = table.first[operand]; at < table.first[operand + 1]; ++at) {
                if (table.dimensions[at] == table.output[dimension]) {
                    const index extent = of[operand][at - table.first[operand]];
                    extents[dimension] = !found || extents[dimension] == 1 ? extent : extents[dimension];
                    found = true;
                }
            }
        }
    }
    return extents;
}

/// Labels that stand behind the arrow.
constexpr std::size_t spelled_output_rank(subscripts spelled) {
    const std::string_view text = spelled.view();
    const std::size_t arrow = text.rfind("->");
    return arrow == std::string_view::npos ? 0 : measure_subscript(text.substr(arrow + 2)).labels;
}

template <subscripts Text, class X, class Y>
contraction_decision decision_of(const X& x, const Y& y) {
    using T = typename X::value_type;
    static_assert(std::is_same_v<T, typename Y::value_type>, "ep::explain: the operands have one element type");
    static constexpr const auto& table = subscript_table_of<Text, X::rank, Y::rank>;
    const std::array<const index*, 2> extents{x.extents().data(), y.extents().data()};
    const subscript_labels<table, 2> labels(extents);
    const auto output_extents = einsum_extents<Text>(x, y);
    std::array<index, table.names.size()> by_label{};
    immediate_builder builder(table_names<table>, by_label, {nullptr, labels.output(), output_extents, output_extents});
    const std::array<labelled_handle<block_handle>, 2> handles{
        {{{x.data(), x.extents(), x.strides()}, labels.of(0)}, {{y.data(), y.extents(), y.strides()}, labels.of(1)}}};
    builder.check(labels.output(), handles);  // the errors of einsum; and every extent
    for (index& extent : by_label) {
        extent = extent < 0 ? 1 : extent;
    }
    std::array<index, table.output_rank> output_strides{};
    index stride = 1;
    for (std::size_t dimension = output_strides.size(); dimension-- > 0;) {
        output_strides[dimension] = stride;
        stride *= output_extents[dimension];
    }
    const std::array<operand_block, 2> operands{
        {{x.data(), labels.of(0), x.strides()}, {y.data(), labels.of(1), y.strides()}}};
    return decide({by_label, operands, {nullptr, labels.output(), output_strides}, write_mode::overwrite},
                  element_type_of<T>());
}

template <subscripts Text, class... Operands>
auto einsum_new(const Operands&... operands) {
    using Out = typename common_element<typename Operands::value_type...>::type;
    constexpr std::size_t rank = subscript_table_of<Text, Operands::rank...>.output_rank;
    array<Out, rank> output(unwritten{}, einsum_extents<Text>(operands...));
    einsum_views<Text>(view<Out, rank>(output), operands...);
    return output;
}

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// The einsum of numpy's language, checked at compile time: explicit or implicit output, spaces, repeated labels in one
/// operand (diagonals), one-sided sums, ellipsis with broadcasting, any number of operands (contracted pair by pair in
/// the cheapest order). Returns a new array of the operands' common element type. Extents that disagree are an
/// ep::error.
template <subscripts Text, detail::DenseOperand... Operands>
auto einsum(const Operands&... operands) {
    static_cast<void>(sizeof(detail::check_subscripts<Text, detail::readable_t<Operands>::rank...>));
    constexpr bool sound = detail::are_sound<Text, detail::readable_t<Operands>::rank...>;
    if constexpr (sound) {
        return detail::einsum_new<Text>(detail::readable(operands)...);
    } else {  // of a plausible type, so that the sentence is the only error
        return array<typename detail::common_element<typename detail::readable_t<Operands>::value_type...>::type,
                     detail::spelled_output_rank(Text)>();
    }
}

/// How einsum<Text>(x, y) would contract two operands of one type, by their extents and strides: what to look at where
/// it is slower than expected. Prints. Extents that disagree are an ep::error.
template <subscripts Text, detail::DenseOperand X, detail::DenseOperand Y>
contraction_decision explain(const X& x, const Y& y) {
    static_cast<void>(sizeof(detail::check_subscripts<Text, detail::readable_t<X>::rank, detail::readable_t<Y>::rank>));
    if constexpr (detail::are_sound<Text, detail::readable_t<X>::rank, detail::readable_t<Y>::rank>) {
        return detail::decision_of<Text>(detail::readable(x), detail::readable(y));
    } else {
        return {};
    }
}

/// The same into memory that exists; its extents are checked. The output may not share memory with an operand.
template <subscripts Text, class Output, detail::DenseOperand... Operands>
    requires detail::DenseOperand<Output>
void einsum_into(Output&& output, const Operands&... operands) {
    static_cast<void>(sizeof(detail::check_subscripts<Text, detail::readable_t<Operands>::rank...>));
    constexpr bool sound = detail::are_sound<Text, detail::readable_t<Operands>::rank...>;
    if constexpr (sound) {
        const auto target = detail::writable(output);
        constexpr bool fits = std::remove_const_t<decltype(target)>::rank ==
                              detail::subscript_table_of<Text, detail::readable_t<Operands>::rank...>.output_rank;
        static_assert(fits, "ep::einsum_into: the rank of the output differs from the number of output labels");
        if constexpr (fits) {
            detail::einsum_views<Text>(target, detail::readable(operands)...);
        }
    }
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
