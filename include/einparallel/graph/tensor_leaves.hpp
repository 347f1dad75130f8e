#pragma once
// What a statement on tensors knows of its leaves, and the vertices that stand for those that wait for extents:
// ep::iota, operands at functions of labels and at indices that are data.

#include <einparallel/array/lower.hpp>
#include <einparallel/array/resolve.hpp>
#include <einparallel/array/terms.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/kernel/work/select.hpp>
#include <einparallel/notation/affine.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/operations/typed_expression.hpp>
#include <einparallel/notation/search_range.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

namespace detail {

template <class T, std::size_t Rank, bool Recorded>
inline constexpr bool stands_in<tensor_operand<T, Rank>, Recorded> = Recorded;

}  // namespace detail

namespace EINPARALLEL_UNIT {

/// Records a whole statement; returns its last vertex. A sum of terms becomes one join of the results of its terms.
template <class Out, class LeftLabels>
std::shared_ptr<vertex> record_statement(const auto& untyped) {
    const auto& right = typed<statement_type<Out, std::remove_cvref_t<decltype(untyped)>>>(untyped);
    using E = std::remove_cvref_t<decltype(right)>;
    using Statement = statement<LeftLabels, E>;
    unit_builder builder(Statement::ids::names);
    lowering<unit_builder, Statement> lower(builder);
    constexpr unit_builder::last_vertex last{};
    if constexpr (is_alone<Statement, Out, E>) {
        return lower.template vertex_of<Out>(last, right);
    } else if constexpr (is_single_term<E> && is_direct<Statement, E>) {
        return lower.template reduce<Out>(last, op::sum, right, Statement::left_labels);
    } else {
        return lower.template reduce<Out>(last, op::sum, elementwise_terms<Statement, true>(right),
                                          Statement::left_labels);
    }
}

/// What a statement on tensors knows of its leaves, and the vertices that it makes for ep::iota, for functions of
/// labels and for indices that are data.
struct tensor_leaves {
    static constexpr bool rebinds = true;

    template <class T, std::size_t Rank>
    static index_span extents_of(const tensor_operand<T, Rank>& held) {
        return held.node == nullptr ? index_span() : held.node->bounds;
    }
    template <class T, std::size_t Rank>
    static const void* tensor_of(const tensor_operand<T, Rank>& held) {
        return tensor_read_by(held.node);
    }
    template <class Held, std::size_t Rank>
    static Held within(const Held& held, const std::array<interval, Rank>& ranges) {
        Held made = held;
        if (held.node != nullptr &&
            !equal_in(held.node->bounds, ranges, [](index extent, interval range) { return extent == range.size(); })) {
            made.node = view_vertex(held.node, {}, {}, ranges);
        }
        return made;
    }
    template <class T, std::size_t Rank, std::size_t Labels>
    static auto at(const tensor_operand<T, Rank>& held, const affine_map& where,
                   const std::array<label_id, Labels>& labels, const std::array<interval, Labels>& ranges) {
        return tensor_operand<T, Labels>{view_vertex(handle_of(held), where, labels, ranges)};
    }
    /// The name of a dimension, as a label: "W.0", or "dimension 0" where the tensor has no name.
    template <class T, std::size_t Rank>
    static std::string name_of(const tensor_operand<T, Rank>& held, std::size_t dimension) {
        const std::string tensor = held.node == nullptr ? "" : held.node->name;
        return (tensor.empty() ? "dimension " : tensor + ".") + std::to_string(dimension);
    }
    /// An expression as an operand with these labels. It is recorded as an intermediate vertex, unless it is already
    /// such an operand or a constant.
    template <class T, class Labels, class Found, class E>
    static auto value_of(const Found& found, const E& expression) {
        using Made = tensor_operand<T, Labels::size>;
        if constexpr (is_operand<Made, Labels, E>) {
            return found.resolved(expression);
        } else if constexpr (is_constant<E>) {
            const T value = converted<T>(value_of_tree(expression, 0));
            return leaf<Made, Labels>(Made{constant_vertex(element_type_of<T>(), &value)});
        } else {
            const std::shared_ptr<vertex> made = record_statement<T, Labels>(found.resolved(expression));
            made->is_intermediate = true;
            return leaf<Made, Labels>(Made{made});
        }
    }
    template <class Found, class T, std::size_t Rank, class Labels>
    static recording_builder::operand_type block_of(const leaf<tensor_operand<T, Rank>, Labels>& node) {
        return {handle_of(node.operand), Found::ids::template ids<Labels>};
    }
    /// Records the elements that `node` reads at indices that are data.
    template <class Found, class Operand, class Labels>
    static std::shared_ptr<vertex> gather(const Found& found, const leaf<Operand, Labels>& node,
                                          recording_builder::destination sink, label_span out) {
        using T = typename Operand::value_type;
        std::shared_ptr<vertex> made;
        found.take_apart(
            node, [&](const auto& x, const auto& labels, std::vector<data_index> indices, const auto&... tokens) {
                const recording_builder::operand_type operands[] = {{x.node, labels}, block_of<Found>(tokens)...};
                made = record_selection(names_with(Found::ids::names, indices), sink, out, operands, nullptr,
                                        select_work_of<T>(indices, false));
            });
        return made;
    }
    template <class Found, class Operand, class Labels>
    static auto selected(const Found& found, const leaf<Operand, Labels>& node) {
        using Made = tensor_operand<typename Operand::value_type, Labels::size>;
        return leaf<Made, Labels>(Made{gather(found, node, std::nullopt, Found::ids::template ids<Labels>)});
    }
    /// Records the tensor of `left` with `right` added to its elements at indices that are data, or in their place.
    template <assignment How, class Found, class Operand, class Labels, class E>
    static std::shared_ptr<vertex> scatter(const Found& found, const leaf<Operand, Labels>& left, const E& right) {
        using T = typename Operand::value_type;
        using Read = decltype(labels_among<typename E::labels>(Labels{}));
        using Sum = std::conditional_t<How == assignment::set, T, computed_t<T>>;
        constexpr unit_builder::last_vertex last{};
        const auto x = value_of<Sum, Read>(found, right);
        std::shared_ptr<vertex> made;
        found.take_apart(left, [&](const auto& z, const auto& labels, const std::vector<data_index>& indices,
                                   const auto&... tokens) {
            using operand = recording_builder::operand_type;
            const std::vector<std::string_view> names = names_with(Found::ids::names, indices);
            const whole_read old({z.node, labels});
            // Where elements are replaced, the operands are plain tensors: a view is recorded as one first.
            const auto read = [&]<class Read, class Own>(const leaf<Read, Own>& node) {
                using Value = typename Read::value_type;
                const std::array<operand, 1> one{block_of<Found>(node)};
                if (How != assignment::set || !one[0].handle->is_view()) {
                    return one[0];
                }
                unit_builder builder(names);
                return operand{
                    emit_join<Value>(builder, unit_builder::destination(), op::sum,
                                     make_join(unchanged{}, pick<0, Value>()), type_list<Value>{}, one[0].labels, one),
                    one[0].labels};
            };
            const operand operands[] = {read(x), read(tokens)...};
            if constexpr (How == assignment::set) {
                made = record_selection(names, last, old.labels, operands, &old, select_work_of<T>(indices, true));
            } else {
                const std::vector<label_id> summed = written_labels(old.labels, operands, Found::ids::size);
                const std::array<operand, 2> terms{
                    operand{old.handle, old.labels},
                    operand{record_selection(names, std::nullopt, summed, operands, nullptr,
                                             select_work_of<Sum>(indices, false)),
                            summed}};
                using Sign = std::conditional_t<How == assignment::add, plus, minus>;
                unit_builder builder(names);
                made = emit_join<T>(builder, unit_builder::destination(last), op::sum,
                                    make_join(Sign{}, pick<0, T>(), pick<1, Sum>()), type_list<T, Sum>{}, old.labels,
                                    terms);
            }
        });
        return made;
    }
    template <class Labels>
    static auto indices(interval range) {
        return leaf<tensor_operand<index, 1>, Labels>(tensor_operand<index, 1>{iota_vertex(range.size())});
    }
};

}  // namespace EINPARALLEL_UNIT

}  // namespace einparallel
