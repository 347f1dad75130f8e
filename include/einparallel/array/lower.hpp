#pragma once
// From an expression to vertices: the one lowering behind immediate execution (arrays) and recording (tensors). It cuts
// an expression where a reduction ends and hands each vertex, labels and kernel, to a builder that executes or records
// it.
//
// A builder has a type `handle`, which names the result of a vertex, and a type `operand_type`, which is a handle with
// a label id for each dimension. It also has
//   static constexpr bool records                         its vertices outlive the statement, and give their program
//   handle join(sink, labels, operands, work, program)    one vertex as steps: output labels, operands with labels
//   handle emit<Out>(sink, labels, operands, make, program) one vertex by functions that make its functor_join, and
//                                                         its program
//   handle product<Out>(sink, labels, operands, scale)    Σ of a product of operands of element type Out; their
//                                                         span's extent is static
//   static bool is_joined(const operand_type&)       its rows are not whole in memory
// The function handle_of(const Operand&) gives the data of a leaf. A sink says where the result goes: std::nullopt
// means memory, or a vertex, of its own; else it is a value that the builder's own statement passes in.

#include <einparallel/kernel/function_tree.hpp>
#include <einparallel/kernel/work/join.hpp>
#include <einparallel/kernel/work/ranked.hpp>
#include <einparallel/kernel/work/running.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/leaves.hpp>
#include <einparallel/notation/operations/factors.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// Makes one vertex that reduces a function tree of the operands' elements with ⊕ (`op`). Its kernel has a type of its
/// own.
template <class Out, class Builder, class Op, class Tree, class... In, class Sink, std::size_t Count>
auto emit_join(Builder& builder, Sink sink, const Op& op, Tree tree, type_list<In...> /*elements*/, label_span out,
               const std::array<typename Builder::operand_type, Count>& operands) {
    using Join = functor_join<Out, Op, decltype(flatten_tree(tree)), In...>;
    return builder.template emit<Out>(
        sink, out, std::span(operands), [&] { return Join(op, flatten_tree(tree)); },
        [&] { return program_of<Out, Op, In...>(tree); });
}

template <class Builder, class Statement>
class lowering {
public:
    using handle = typename Builder::handle;
    using operand = typename Builder::operand_type;

    explicit lowering(Builder& builder) : builder_(builder) {}

    /// Makes a vertex that reduces `inner` with ⊕ (`op`) over all labels that `out` lacks, to elements of type Out.
    template <class Out, class Op, class E, class Sink>
    handle reduce(Sink sink, const Op& op, const E& inner, label_span out) {
        if constexpr (Statement::template aggregates<E> && loses<typename E::value_type, Out>) {
            // Sums in the type in which values are computed, and converts each sum once: converting each term would
            // lose far more.
            using T = computed_t<typename E::value_type>;
            const std::array<operand, 1> reduced{operand{reduce<T>(std::nullopt, op, inner, out), out}};
            return emit_join<Out>(builder_, sink, op::sum, make_join(unchanged{}, pick<0, T>()), type_list<T>{}, out,
                                  reduced);
        } else if constexpr (std::is_same_v<Op, op::sum_type> && is_product<Statement, Out, E, Builder::records>) {
            std::array<operand, factors<Statement, E, Out, E>::count> operands{};
            Out scale = Out(1);
            auto* next = operands.data();
            for_each_factor(inner, scale, [&](const auto& factor, auto conjugated) {
                if constexpr (conjugated) {
                    *next++ = as_operand(make_join(conjugate{}, factor));
                } else {
                    *next++ = operands.size() <= 2 ? as_operand(factor) : computed_operand(factor);
                }
            });
            return builder_.template product<Out>(sink, out, std::span(std::as_const(operands)), scale);
        } else if constexpr (has_elements<E> && (!Builder::records || (is_told<E> && has_op_code<Op>)) &&
                             !(Statement::template aggregates<E> && leaf_count<E> == 2)) {
            return join<Out>(sink, op, inner, typename leaf_types<E>::type{}, out);
        } else {  // tiles need ⊗ as one functor; a recorded vertex needs a copy of the application's functors
            std::array<operand, leaf_count<E>> operands{};
            auto tree = collect<0>(inner, operands);
            return emit_join<Out>(builder_, sink, op, std::move(tree), typename leaf_types<E>::type{}, out, operands);
        }
    }

    /// Makes a vertex with results of type Out for an expression.
    template <class Out, class Sink, class Op, class Over, class Inner>
    handle vertex_of(Sink sink, const reduce_node<Op, Over, Inner>& node) {
        return reduce<Out>(sink, node.op, node.inner, labels_of(node));
    }
    template <class Out, class Sink, class Function, class... Arguments>
    handle vertex_of(Sink sink, const join_node<Function, Arguments...>& node) {
        return reduce<Out>(sink, op::sum, node, labels_of(node));
    }
    /// Makes a softmax: in one pass where the builder has softmax(), else by the paper's four vertices C = max x, E =
    /// exp(x − C), S = Σ E, Y = E / S.
    template <class Out, class Sink, class Over, class Inner>
    handle vertex_of(Sink sink, const row_node<softmax_function, Over, Inner>& node) {
        static_assert(std::is_floating_point_v<Out>, "ep::softmax: the elements must be float or double");
        const label_span all = Statement::template free_labels<Inner>;
        if constexpr (requires { builder_.template softmax<Out>(sink, all, operand{}, label_id{}); }) {
            return builder_.template softmax<Out>(sink, all, in_one_block(node.inner),
                                                  Statement::ids::template id<Over>);
        } else {
            using Rows = reduce_node<op::max_type, label_list<Over>, Inner>;
            return softmax_in_steps<Out>(sink, computed_operand(node.inner), all,
                                         Statement::template free_labels<Rows>);
        }
    }
    template <class Out, class Sink, class Op, class Over, class Inner>
    handle vertex_of(Sink sink, const row_node<running<Op>, Over, Inner>& node) {
        return builder_.running(sink, Statement::template free_labels<Inner>, in_one_block(node.inner),
                                Statement::ids::template id<Over>, running_work_of<Out>(Op()));
    }
    template <class Out, class Sink, class Over, class Function, class X, class Ranks>
    handle vertex_of(Sink sink, const reduce_node<ranked_sum, Over, join_node<Function, X, Ranks>>& node) {
        using T = computed_t<typename X::value_type>;
        const std::array<operand, 2> operands{in_one_block(node.inner.arguments.first),
                                              as_operand(node.inner.arguments.second)};
        return builder_.ranked(sink, labels_of(node), operands, ranked_work_of<T, Function>());
    }

private:
    template <class E>
    static constexpr label_span labels_of(const E& /*node*/) {
        return Statement::template free_labels<E>;
    }

    template <class T, class Sink>
    handle softmax_in_steps(Sink sink, const operand& x, label_span all, label_span rows) {
        const std::array<operand, 1> only_x{x};
        const handle largest = emit_join<T>(builder_, std::nullopt, op::max, make_join(unchanged{}, pick<0, T>()),
                                            type_list<T>{}, rows, only_x);
        const std::array<operand, 2> shifted{x, operand{largest, rows}};
        const handle exponentials =
            emit_join<T>(builder_, std::nullopt, op::sum, make_join(shifted_exponential{}, pick<0, T>(), pick<1, T>()),
                         type_list<T, T>{}, all, shifted);
        const std::array<operand, 1> summed{operand{exponentials, all}};
        const handle sums = builder_.template product<T>(std::nullopt, rows, std::span(summed), T(1));
        const std::array<operand, 2> quotient{operand{exponentials, all}, operand{sums, rows}};
        return emit_join<T>(builder_, sink, op::sum, make_join(detail::over{}, pick<0, T>(), pick<1, T>()),
                            type_list<T, T>{}, all, quotient);
    }

    /// Lists the leaves that become operands.
    struct operand_list {
        lowering& lower;
        operand* operands;
        std::size_t count = 0;

        template <class E>
        auto leaf(const E& node) {
            return listed(node, typename leaf_types<E>::type());
        }
        template <class E, class T>
        value_at<T> listed(const E& node, type_list<T> /*element*/) {
            const std::size_t number = count++;
            operands[number] = lower.as_operand(node);
            return {row_name(number), op_register(number)};
        }
    };

    /// Makes one vertex that reduces an expression with ⊕ (`op`). Its steps compute the expression.
    template <class Out, class Op, class E, class... In, class Sink>
    handle join(Sink sink, const Op& op, const E& inner, type_list<In...> /*elements*/, label_span out) {
        std::array<operand, sizeof...(In)> operands{};
        op_program program;
        if constexpr (Builder::records) {
            program = started_program<Op, In...>();
        }
        join_work work;
        work.rows.operands = sizeof...(In);
        work.reduction = row_reduction_of<Out>(op);
        operand_list leaves{*this, operands.data()};
        node_writer<Op, call_writer<true, Builder::records>, operand_list>({work, &program}, leaves)
            .template write_all<Out>(inner);
        return builder_.join(sink, out, std::span(std::as_const(operands)), work, program);
    }

    // A leaf keeps the order of its dimensions; a vertex made here has its labels in id order.
    template <class Operand, class Labels>
    operand as_operand(const leaf<Operand, Labels>& node) {
        return {handle_of(node.operand), Statement::ids::template ids<Labels>};
    }
    template <class E>
    operand as_operand(const E& node) {
        return {vertex_of<typename E::value_type>(std::nullopt, node), labels_of(node)};
    }

    /// An operand with elements of a type that can be computed with (float for halves).
    template <class E>
    operand computed_operand(const E& node) {
        using T = computed_t<typename E::value_type>;
        if constexpr (requires { node.operand; }) {
            const std::array<operand, 1> x{as_operand(node)};
            if constexpr (std::is_same_v<stored_t<typename E::operand_type>, T>) {
                return x[0];
            } else {
                return {builder_.template product<T>(std::nullopt, x[0].labels, std::span(x), T(1)), x[0].labels};
            }
        } else {
            return {vertex_of<T>(std::nullopt, node), labels_of(node)};
        }
    }

    /// A computed operand in one block of memory, so that its rows are whole. A joined operand is copied.
    template <class E>
    operand in_one_block(const E& node) {
        using T = computed_t<typename E::value_type>;
        const std::array<operand, 1> x{computed_operand(node)};
        return Builder::is_joined(x[0])
                   ? operand{builder_.template product<T>(std::nullopt, x[0].labels, std::span(x), T(1)), x[0].labels}
                   : x[0];
    }

    template <std::size_t First, std::size_t Count, class E>
    auto collect(const E& node, std::array<operand, Count>& operands) {
        operands[First] = as_operand(node);
        return pick<First, typename E::value_type>();
    }
    template <std::size_t First, std::size_t Count, class T, class Operand, class Labels>
    auto collect(const leaf<read_as<T, Operand>, Labels>& node, std::array<operand, Count>& operands) {
        operands[First] = as_operand(node);
        return make_join(converted_to<T>{}, pick<First, stored_t<read_as<T, Operand>>>());
    }
    template <std::size_t First, std::size_t Count, class T, class Number>
    auto collect(const constant<T, Number>& node, std::array<operand, Count>& /*operands*/) {
        return constant<T>(node.value);
    }
    template <std::size_t First, std::size_t Count, class Function, class... Arguments>
    auto collect(const join_node<Function, Arguments...>& node, std::array<operand, Count>& operands) {
        return [&]<std::size_t... Position>(std::index_sequence<Position...> /*all*/) {
            return make_join(node.function, collect<First + leaves_before<Arguments...>(Position)>(
                                                argument<Position>(node.arguments), operands)...);
        }
        (std::index_sequence_for<Arguments...>{});
    }

    Builder& builder_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
