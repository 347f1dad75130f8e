#pragma once
// Assignment to labelled arrays and views: checks the statement, then lowers it to vertices that run at once.

#include <einparallel/kernel/immediate.hpp>
#include <einparallel/kernel/lower.hpp>
#include <einparallel/kernel/operand.hpp>
#include <einparallel/notation/analysis.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/functions.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// = , += and -= .
enum class assignment : std::uint8_t { set, add, subtract };

// --- the right-hand side as a sum of terms ---

/// A term that can be accumulated straight into an output of all left labels: Σ over something, and nothing broadcast.
template <class Statement, class E>
inline constexpr bool is_direct = Statement::template aggregates<E>&& Statement::template fills_left<E>;
template <class Statement, class Over, class Inner>
inline constexpr bool is_direct<Statement, reduce_node<op::sum_type, Over, Inner>> =
    !Statement::template aggregates<reduce_node<op::sum_type, Over, Inner>> &&
    Statement::template fills_left<reduce_node<op::sum_type, Over, Inner>>;

template <class E>
inline constexpr bool is_reduction = false;
template <class Op, class Over, class Inner>
inline constexpr bool is_reduction<reduce_node<Op, Over, Inner>> = true;
template <class E>
inline constexpr bool is_softmax = false;
template <class Over, class Inner>
inline constexpr bool is_softmax<softmax_node<Over, Inner>> = true;

/// One term, under any signs: not a sum of terms.
template <class E>
inline constexpr bool is_single_term = true;
template <class A, class B>
inline constexpr bool is_single_term<join_node<plus, A, B>> = false;
template <class A, class B>
inline constexpr bool is_single_term<join_node<minus, A, B>> = false;
template <class A>
inline constexpr bool is_single_term<join_node<negate, A>> = is_single_term<A>;

/// What a direct term sums: itself, or the inside of an explicit sum.
template <class E>
const E& summand(const E& term) {
    return term;
}
template <class Over, class Inner>
const Inner& summand(const reduce_node<op::sum_type, Over, Inner>& term) {
    return term.inner;
}

/// No term.
struct no_terms {};

/// A term as an element-wise part of the right-hand side: what it sums implicitly is said explicitly.
template <class Statement, class E>
auto explicit_term(const E& term) {
    if constexpr (Statement::template aggregates<E>) {
        return reduce_node<op::sum_type, missing_labels, E>(op::sum, term);
    } else {
        return term;
    }
}

template <class A, class B, class Join>
auto join_parts(const A& a, const B& b, Join join) {
    if constexpr (std::is_same_v<B, no_terms>) {
        return a;
    } else if constexpr (std::is_same_v<A, no_terms>) {
        if constexpr (std::is_same_v<Join, minus>) {
            return make_join(negate{}, b);
        } else {
            return b;
        }
    } else {
        return make_join(join, a, b);
    }
}

/// The terms that are not direct (all of them with KeepDirect), as one expression without implicit sums; no_terms where
/// there are none.
template <class Statement, bool KeepDirect, class E>
auto elementwise_part(const E& node) {
    if constexpr (!KeepDirect && is_direct<Statement, E>) {
        return no_terms{};
    } else {
        return explicit_term<Statement>(node);
    }
}
template <class Statement, bool KeepDirect, class A, class B>
auto elementwise_part(const join_node<plus, A, B>& node) {
    return join_parts(elementwise_part<Statement, KeepDirect>(boost::hana::at_c<0>(node.arguments)),
                      elementwise_part<Statement, KeepDirect>(boost::hana::at_c<1>(node.arguments)), plus{});
}
template <class Statement, bool KeepDirect, class A, class B>
auto elementwise_part(const join_node<minus, A, B>& node) {
    return join_parts(elementwise_part<Statement, KeepDirect>(boost::hana::at_c<0>(node.arguments)),
                      elementwise_part<Statement, KeepDirect>(boost::hana::at_c<1>(node.arguments)), minus{});
}
template <class Statement, bool KeepDirect, class A>
auto elementwise_part(const join_node<negate, A>& node) {
    return join_parts(no_terms{}, elementwise_part<Statement, KeepDirect>(boost::hana::at_c<0>(node.arguments)),
                      minus{});
}

/// Calls visit(term, negative) for every direct term, in the order written.
template <class Statement, bool Negative, class E, class Visit>
void for_each_direct(const E& node, Visit&& visit) {
    if constexpr (is_direct<Statement, E>) {
        visit(node, std::bool_constant<Negative>{});
    }
}
template <class Statement, bool Negative, class A, class B, class Visit>
void for_each_direct(const join_node<plus, A, B>& node, Visit&& visit) {
    for_each_direct<Statement, Negative>(boost::hana::at_c<0>(node.arguments), visit);
    for_each_direct<Statement, Negative>(boost::hana::at_c<1>(node.arguments), visit);
}
template <class Statement, bool Negative, class A, class B, class Visit>
void for_each_direct(const join_node<minus, A, B>& node, Visit&& visit) {
    for_each_direct<Statement, Negative>(boost::hana::at_c<0>(node.arguments), visit);
    for_each_direct<Statement, !Negative>(boost::hana::at_c<1>(node.arguments), visit);
}
template <class Statement, bool Negative, class A, class Visit>
void for_each_direct(const join_node<negate, A>& node, Visit&& visit) {
    for_each_direct<Statement, !Negative>(boost::hana::at_c<0>(node.arguments), visit);
}

// --- what must hold before anything is written
// ----------------------------------------------------------------------------------

/// Goes through a statement before it runs; see statement_check.
template <class Statement>
class preflight {
public:
    explicit preflight(statement_check& check) : check_(check) {}

    template <class A, class B>
    void terms(const join_node<plus, A, B>& node) {
        terms(boost::hana::at_c<0>(node.arguments));
        terms(boost::hana::at_c<1>(node.arguments));
    }
    template <class A, class B>
    void terms(const join_node<minus, A, B>& node) {
        terms(boost::hana::at_c<0>(node.arguments));
        terms(boost::hana::at_c<1>(node.arguments));
    }
    template <class A>
    void terms(const join_node<negate, A>& node) {
        terms(boost::hana::at_c<0>(node.arguments));
    }
    template <class E>
    void terms(const E& term) {
        visit<!Statement::template aggregates<E>>(term);
        check_.end_term(Statement::left_labels);
    }

private:
    template <bool InPlace, class T, std::size_t Rank, class Labels>
    void visit(const leaf<array_operand<T, Rank>, Labels>& node) {
        static constexpr auto labels = Statement::ids::template ids<Labels>;
        check_.read({immediate_builder::handle_of(node.operand), labels}, sizeof(T), InPlace);
    }
    template <bool InPlace, class T>
    void visit(const constant<T>& /*node*/) {}
    template <bool InPlace, class Function, class... Arguments>
    void visit(const join_node<Function, Arguments...>& node) {
        visit_all<InPlace>(node.arguments, std::index_sequence_for<Arguments...>{});
    }
    template <bool InPlace, class Op, class Over, class Inner>
    void visit(const reduce_node<Op, Over, Inner>& node) {
        visit<false>(node.inner);
    }
    template <bool InPlace, class Over, class Inner>
    void visit(const softmax_node<Over, Inner>& node) {
        visit<false>(node.inner);
    }
    template <bool InPlace, class Arguments, std::size_t... Position>
    void visit_all(const Arguments& arguments, std::index_sequence<Position...> /*all*/) {
        (visit<InPlace>(boost::hana::at_c<Position>(arguments)), ...);
    }

    statement_check& check_;
};

// --- execution
// ----------------------------------------------------------------------------------------------------------------

template <assignment How, class Out, class LeftLabels, class E>
void execute_statement(Out* data, std::span<const index> extents, std::span<const index> strides, const E& right) {
    using Statement = statement<LeftLabels, E>;
    using Lowering = lowering<immediate_builder, Statement>;
    const block_target target{data, Statement::left_labels, extents, strides};
    std::array<index, Statement::ids::size + 1> scratch{};
    immediate_builder builder(Statement::ids::names, std::span<index>(scratch.data(), Statement::ids::size), target);
    statement_check check(builder, target, sizeof(Out));
    preflight<Statement>(check).terms(right);
    Lowering lower(builder);

    // A whole reduction or softmax by itself goes straight to the output, whatever its ⊕.
    constexpr bool is_alone =
        How == assignment::set && !Statement::template aggregates<E> && Statement::template fills_left<E>;
    if constexpr (is_alone && is_reduction<E>) {
        lower.template reduce<Out>(into_target{}, right.op, right.inner, Statement::left_labels);
    } else if constexpr (is_alone && is_softmax<E> && std::is_same_v<typename E::value_type, Out>) {
        lower.softmax(into_target{}, right);
    } else {
        write_mode mode = How == assignment::set ? write_mode::overwrite : write_mode::combine;
        const auto part = elementwise_part<Statement, false>(right);
        if constexpr (!std::is_same_v<std::remove_const_t<decltype(part)>, no_terms>) {
            const auto signed_part =
                join_parts(no_terms{}, part, std::conditional_t<How == assignment::subtract, minus, plus>{});
            lower.template reduce<Out>(into_target{mode}, op::sum, signed_part, Statement::left_labels);
            mode = write_mode::combine;
        }
        for_each_direct<Statement, How == assignment::subtract>(right, [&](const auto& term, auto negative) {
            const auto& summed = summand(term);
            if constexpr (decltype(negative)::value) {
                lower.template reduce<Out>(into_target{mode}, op::sum, make_join(negate{}, summed),
                                           Statement::left_labels);
            } else {
                lower.template reduce<Out>(into_target{mode}, op::sum, summed, Statement::left_labels);
            }
            mode = write_mode::combine;
        });
    }
}

/// A labelled array or view: an operand, and what an einsum can be assigned to.
template <class T, std::size_t Rank, class Labels>
class target : public leaf<array_operand<T, Rank>, Labels> {
public:
    explicit target(array_operand<T, Rank> held) : leaf<array_operand<T, Rank>, Labels>(std::move(held)) {}
    target(const target&) = default;
    target(target&&) noexcept = default;
    ~target() = default;

    /// Computes the right-hand side into the elements.
    template <Expression E>
    const target& operator=(const E& right) const {
        return assign<assignment::set>(static_cast<const typename E::node&>(right));
    }
    template <Expression E>
    const target& operator+=(const E& right) const {
        return assign<assignment::add>(static_cast<const typename E::node&>(right));
    }
    template <Expression E>
    const target& operator-=(const E& right) const {
        return assign<assignment::subtract>(static_cast<const typename E::node&>(right));
    }
    /// A(i, j) = B(i, j) of the same type is an assignment of elements too.
    const target& operator=(const target& right) const {
        return assign<assignment::set>(static_cast<const typename target::node&>(right));
    }
    target& operator=(const target& right) {
        std::as_const(*this).operator=(right);
        return *this;
    }
    /// A number, for outputs of rank 0: s() = 2.0.
    template <Scalar S>
    const target& operator=(const S& right) const {
        return assign<assignment::set>(as_node<T>(right));
    }
    template <Scalar S>
    const target& operator+=(const S& right) const {
        return assign<assignment::add>(as_node<T>(right));
    }
    template <Scalar S>
    const target& operator-=(const S& right) const {
        return assign<assignment::subtract>(as_node<T>(right));
    }

private:
    template <assignment How, class E>
    const target& assign(const E& right) const {
        static_cast<void>(sizeof(check_storable<typename E::value_type, T>));
        if constexpr (!is_sound<Labels, E>) {
            report_mistakes<Labels, E>();
        } else if constexpr (is_storable<typename E::value_type, T>) {
            // Only operator() of a mutable array or view makes a target: the elements are not const.
            execute_statement<How, T, Labels>(const_cast<T*>(this->operand.data), this->operand.extents,
                                              this->operand.strides, right);
        }
        return *this;
    }
};

}  // namespace einparallel::EINPARALLEL_DETAIL
