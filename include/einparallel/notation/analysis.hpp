#pragma once
// What an expression's labels mean for a given left-hand side: which are free, which are missing on the left, which
// statements are mistakes. All of it at compile time; a set of labels is an array of flags by label id.

#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/label.hpp>

#include <array>
#include <cstddef>
#include <type_traits>

namespace einparallel::detail {

template <class E>
inline constexpr bool is_constant = false;
template <class T>
inline constexpr bool is_constant<constant<T>> = true;

/// A statement: the labels on the left and the universe of label ids. Left labels have the smallest ids, in their
/// order.
template <class LeftLabels, class Right>
struct statement {
    using left = LeftLabels;
    using ids = universe<concatenate_t<LeftLabels, typename Right::labels>>;
    using flags = std::array<bool, ids::size>;

    template <class... Labels>
    static constexpr flags set_of(label_list<Labels...> /*labels*/) {
        flags set{};
        ((set[static_cast<std::size_t>(ids::template id<Labels>)] = true), ...);
        return set;
    }
    static constexpr flags on_left = set_of(LeftLabels{});

    static constexpr flags both(const flags& a, const flags& b) {
        flags set{};
        for (std::size_t label = 0; label < set.size(); ++label) {
            set[label] = a[label] && b[label];
        }
        return set;
    }
    static constexpr flags either(const flags& a, const flags& b) {
        flags set{};
        for (std::size_t label = 0; label < set.size(); ++label) {
            set[label] = a[label] || b[label];
        }
        return set;
    }
    static constexpr flags without(const flags& a, const flags& b) {
        flags set{};
        for (std::size_t label = 0; label < set.size(); ++label) {
            set[label] = a[label] && !b[label];
        }
        return set;
    }

    /// Labels that an expression still has after its own reductions.
    template <class Operand, class Labels>
    static constexpr flags unbound(std::type_identity<leaf<Operand, Labels>> /*node*/) {
        return set_of(Labels{});
    }
    template <class T>
    static constexpr flags unbound(std::type_identity<constant<T>> /*node*/) {
        return {};
    }
    template <class Function, class... Arguments>
    static constexpr flags unbound(std::type_identity<join_node<Function, Arguments...>> /*node*/) {
        flags all{};
        ((all = either(all, unbound(std::type_identity<Arguments>{}))), ...);
        return all;
    }
    template <class Op, class Over, class Inner>
    static constexpr flags unbound(std::type_identity<reduce_node<Op, Over, Inner>> /*node*/) {
        if constexpr (std::is_same_v<Over, missing_labels>) {
            return both(unbound(std::type_identity<Inner>{}), on_left);
        } else {
            return without(unbound(std::type_identity<Inner>{}), set_of(Over{}));
        }
    }
    template <class Over, class Inner>
    static constexpr flags unbound(std::type_identity<softmax_node<Over, Inner>> /*node*/) {
        return unbound(std::type_identity<Inner>{});
    }

    /// Labels that would be summed outside a softmax in whose argument they stand, without the user having said so:
    /// its own label is meant to be (weights times values), those of an explicit reduction are said.
    template <class E>
    static constexpr flags escaping(std::type_identity<E> /*node*/) {
        return {};
    }
    template <class Function, class... Arguments>
    static constexpr flags escaping(std::type_identity<join_node<Function, Arguments...>> /*node*/) {
        flags all{};
        ((all = either(all, escaping(std::type_identity<Arguments>{}))), ...);
        return all;
    }
    template <class Op, class Over, class Inner>
    static constexpr flags escaping(std::type_identity<reduce_node<Op, Over, Inner>> /*node*/) {
        if constexpr (std::is_same_v<Over, missing_labels>) {
            return {};
        } else {
            return without(escaping(std::type_identity<Inner>{}), set_of(Over{}));
        }
    }
    template <class Over, class Inner>
    static constexpr flags escaping(std::type_identity<softmax_node<Over, Inner>> /*node*/) {
        return without(either(escaping(std::type_identity<Inner>{}), missing_of<Inner>), set_of(label_list<Over>{}));
    }

    template <class E>
    static constexpr flags free_of = unbound(std::type_identity<E>{});
    /// Labels that an implicit sum of E goes over.
    template <class E>
    static constexpr flags missing_of = without(free_of<E>, on_left);

    static constexpr std::size_t count(const flags& set) {
        std::size_t members = 0;
        for (const bool is_member : set) {
            members += is_member ? 1 : 0;
        }
        return members;
    }
    template <class E>
    static constexpr flags escaping_of = escaping(std::type_identity<E>{});
    template <class E>
    static constexpr bool aggregates = count(missing_of<E>) > 0;
    /// Every left label is free in E: nothing is broadcast.
    template <class E>
    static constexpr bool fills_left = count(both(free_of<E>, on_left)) == count(on_left);
    /// A's free labels are some, not all, of B's.
    template <class A, class B>
    static constexpr bool has_fewer_labels = count(free_of<A>) < count(free_of<B>);

    /// The free labels of E as ids, left labels first and in their order. Without those missing on the left if `Kept`
    /// is on_left's intersection.
    template <std::size_t Count>
    static constexpr std::array<label_id, Count> listed(const flags& set) {
        std::array<label_id, Count> labels{};
        std::size_t position = 0;
        for (std::size_t label = 0; label < set.size(); ++label) {
            if (set[label]) {
                labels[position++] = static_cast<label_id>(label);
            }
        }
        return labels;
    }
    template <class E>
    static constexpr auto free_labels = listed<count(free_of<E>)>(free_of<E>);
    static constexpr auto left_labels = ids::template ids<LeftLabels>;
    static constexpr auto right_labels = ids::template ids<typename Right::labels>;
};

// --- mistakes: for each rule its truth, and a struct with one sentence, instantiated once per label so that the label
// stands in the error. The truth is kept apart because clang takes a struct whose assertion failed for no constant.
// ----------------------

/// A value of type From may become an element of type To: not complex to real, and not a fraction to an integer.
template <class From, class To>
inline constexpr bool drops_imaginary = is_complex<From>::value && !is_complex<To>::value;
template <class From, class To>
inline constexpr bool drops_fraction = std::is_integral_v<To> && !std::is_integral_v<From>;
template <class From, class To>
inline constexpr bool is_storable = !drops_imaginary<From, To> && !drops_fraction<From, To>;

template <class From, class To>
struct check_storable {
    static_assert(!drops_imaginary<From, To>, "einsum: complex values cannot be assigned to real elements");
    static_assert(drops_imaginary<From, To> || !drops_fraction<From, To>,
                  "einsum: floating-point values cannot be assigned to integer elements: round them with ep::map");
};

template <class Label, class Statement, class Right>
inline constexpr bool is_in_an_operand =
    Statement::template free_of<Right>[static_cast<std::size_t>(Statement::ids::template id<Label>)];

template <class Label, class Statement, class Right>
struct check_output_label {
    static_assert(is_in_an_operand<Label, Statement, Right>, "einsum: this output label appears in no operand");
};

template <class Label, std::size_t Position, class LeftLabels>
inline constexpr bool is_first_of_its_kind = position_of<Label>(LeftLabels{}) == Position;

template <class Label, std::size_t Position, class LeftLabels>
struct check_output_once {
    static_assert(is_first_of_its_kind<Label, Position, LeftLabels>, "einsum: this output label is repeated");
};

/// Inside a term, + and − join operands that miss the same labels on the left; otherwise nobody can tell over which of
/// them the user wants the sum. Numbers are exempt, and whatever stands inside an explicit reduction.
template <class Statement, class A, class B>
inline constexpr bool misses_the_same =
    is_constant<A> || is_constant<B> || Statement::template missing_of<A> == Statement::template missing_of<B>;

template <class Statement, class A, class B>
struct check_inner_sum {
    static_assert(misses_the_same<Statement, A, B>,
                  "einsum: the operands of this + or - inside a term have different labels missing on the left: say "
                  "what is summed "
                  "with ep::sum(expr) or ep::sum(label, expr)");
};

/// Top-level +, − and sign join terms; those inside a term are looked at.
template <class Function>
inline constexpr bool joins_terms =
    std::is_same_v<Function, plus> || std::is_same_v<Function, minus> || std::is_same_v<Function, negate>;

template <class Statement, bool InTerm, class E>
constexpr bool are_sound_terms(std::type_identity<E> /*node*/) {
    return true;
}
template <class Statement, bool InTerm, class Function, class... Arguments>
constexpr bool are_sound_terms(std::type_identity<join_node<Function, Arguments...>> /*node*/) {
    if constexpr (InTerm && joins_terms<Function> && sizeof...(Arguments) == 2) {
        if constexpr (!misses_the_same<Statement, Arguments...>) {
            return false;
        }
    }
    constexpr bool in_term = InTerm || !joins_terms<Function>;
    return (are_sound_terms<Statement, in_term>(std::type_identity<Arguments>{}) && ...);
}

/// An implicit sum stands outside its whole term, so softmax(t, Q(s, d) * K(t, d)) would be summed over d only after
/// the softmax, which looks like attention and is none.
template <class Label, bool Escapes>
struct check_softmax_argument {
    static_assert(!Escapes,
                  "softmax: a label of its argument is missing on the left and would be summed outside the softmax; "
                  "write softmax(t, sum(d, ...)), or put the whole term into sum(d, ...)");
};

template <class Statement, class Right, class... Labels, std::size_t... Position>
constexpr bool is_sound_output(label_list<Labels...> /*left*/, std::index_sequence<Position...> /*positions*/) {
    return (is_first_of_its_kind<Labels, Position, label_list<Labels...>> && ... && true) &&
           (is_in_an_operand<Labels, Statement, Right> && ... && true);
}

/// Some tensor had the wrong number of labels, which has been said already.
template <class LeftLabels, class Right>
inline constexpr bool was_refitted = appears_in<label<'?'>, concatenate_t<LeftLabels, typename Right::labels>>;

/// The statement keeps all rules.
template <class LeftLabels, class Right>
inline constexpr bool is_sound =
    !was_refitted<LeftLabels, Right> &&
    is_sound_output<statement<LeftLabels, Right>, Right>(LeftLabels{}, std::make_index_sequence<LeftLabels::size>{}) &&
    are_sound_terms<statement<LeftLabels, Right>, false>(std::type_identity<Right>{}) &&
    statement<LeftLabels, Right>::count(statement<LeftLabels, Right>::template escaping_of<Right>) == 0;

// Instantiates the sentences for the rules that a statement breaks.
template <class Statement, bool InTerm, class E>
void report_terms(std::type_identity<E> /*node*/) {}
template <class Statement, bool InTerm, class Function, class... Arguments>
void report_terms(std::type_identity<join_node<Function, Arguments...>> /*node*/) {
    if constexpr (InTerm && joins_terms<Function> && sizeof...(Arguments) == 2) {
        static_cast<void>(sizeof(check_inner_sum<Statement, Arguments...>));
    }
    constexpr bool in_term = InTerm || !joins_terms<Function>;
    (report_terms<Statement, in_term>(std::type_identity<Arguments>{}), ...);
}
template <class Statement, class Right, class... Labels, std::size_t... Position>
void report_output(label_list<Labels...> /*left*/, std::index_sequence<Position...> /*positions*/) {
    static_cast<void>((sizeof(check_output_once<Labels, Position, label_list<Labels...>>) + ... + 0));
    static_cast<void>((sizeof(check_output_label<Labels, Statement, Right>) + ... + 0));
}
template <class Statement, class Right, class... Labels>
void report_softmax(label_list<Labels...> /*all*/) {
    constexpr auto escaping = Statement::template escaping_of<Right>;
    static_cast<void>(
        (sizeof(
             check_softmax_argument<Labels, escaping[static_cast<std::size_t>(Statement::ids::template id<Labels>)]>) +
         ... + 0));
}
template <class LeftLabels, class Right>
void report_mistakes() {
    if constexpr (!was_refitted<LeftLabels, Right>) {
        using Statement = statement<LeftLabels, Right>;
        report_output<Statement, Right>(LeftLabels{}, std::make_index_sequence<LeftLabels::size>{});
        report_terms<Statement, false>(std::type_identity<Right>{});
        report_softmax<Statement, Right>(typename Right::labels{});
    }
}

}  // namespace einparallel::detail
