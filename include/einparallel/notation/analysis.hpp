#pragma once
// What an expression's labels mean for a given left-hand side: which are free, which are missing on the left, which
// statements are mistakes. All of it at compile time; a set of labels is an array of flags by label id.

#include <einparallel/notation/expression.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/leaves.hpp>
#include <einparallel/notation/operations/statement_type.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace einparallel::detail {

/// True for a number, which is an expression without leaves.
template <class E>
inline constexpr bool is_constant = E::leaf_count == 0;

/// The labels on the left, those on the right, and the universe of label ids. Left labels have the smallest ids, in
/// their order.
template <class LeftLabels, class RightLabels>
struct labels_of_statement {
    using left = LeftLabels;
    using ids = universe<united_t<LeftLabels, RightLabels>>;
    using flags = std::array<bool, ids::size>;

    template <class... Labels>
    static constexpr flags set_of(label_list<Labels...> /*labels*/) {
        flags set{};
        ((set[std::size_t(ids::template id<Labels>)] = true), ...);
        return set;
    }
    static constexpr flags on_left = set_of(LeftLabels{});

    /// The labels for which holds(label) is true.
    static constexpr flags those(const auto& holds) {
        flags set{};
        for (std::size_t label = 0; label < set.size(); ++label) {
            set[label] = holds(label);
        }
        return set;
    }
    static constexpr flags any_of(const auto&... sets) {
        return those([&](std::size_t label) { return (sets[label] || ...); });
    }
    static constexpr flags both(const flags& a, const flags& b) {
        return those([&](std::size_t label) { return a[label] && b[label]; });
    }
    static constexpr flags without(const flags& a, const flags& b) {
        return those([&](std::size_t label) { return a[label] && !b[label]; });
    }

    /// Labels that an expression still has after its own reductions.
    template <class E>
    static constexpr flags unbound(std::type_identity<E> /*flat node*/) {
        return set_of(typename E::labels{});
    }
    template <class Function, class... Arguments>
        requires(!join_node<Function, Arguments...>::is_flat)
    static constexpr flags unbound(std::type_identity<join_node<Function, Arguments...>> /*node*/) {
        return any_of(unbound(std::type_identity<Arguments>{})...);
    }
    template <class Op, class Over, class Inner>
    static constexpr flags unbound(std::type_identity<reduce_node<Op, Over, Inner>> /*node*/) {
        if constexpr (std::is_same_v<Over, missing_labels>) {
            return both(unbound(std::type_identity<Inner>{}), on_left);
        } else {
            return without(unbound(std::type_identity<Inner>{}), set_of(Over{}));
        }
    }
    template <class Function, class Over, class Inner>
    static constexpr flags unbound(std::type_identity<row_node<Function, Over, Inner>> /*node*/) {
        return unbound(std::type_identity<Inner>{});
    }

    /// Labels in the argument of a softmax or a running product that an implicit sum would sum outside it, although the
    /// user did not ask for this. The label of the softmax is exempt: weights times values are meant to be summed over
    /// it. Labels of an explicit reduction are exempt, because the user named them.
    static constexpr flags escaping(auto /*node*/) { return {}; }
    template <class Function, class... Arguments>
    static constexpr flags escaping(std::type_identity<join_node<Function, Arguments...>> /*node*/) {
        return any_of(escaping(std::type_identity<Arguments>{})...);
    }
    template <class Op, class Over, class Inner>
    static constexpr flags escaping(std::type_identity<reduce_node<Op, Over, Inner>> /*node*/) {
        if constexpr (std::is_same_v<Over, missing_labels>) {
            return {};
        } else {
            return without(escaping(std::type_identity<Inner>{}), set_of(Over{}));
        }
    }
    template <class Function, class Over, class Inner>
        requires(!std::is_same_v<Function, running<op::sum_type>>)
    static constexpr flags escaping(std::type_identity<row_node<Function, Over, Inner>> /*node*/) {
        return without(any_of(escaping(std::type_identity<Inner>{}), missing_of<Inner>), set_of(label_list<Over>{}));
    }

    /// Labels that a reduction goes over.
    template <class Op, class Over, class Inner>
    static constexpr flags reduced_by(std::type_identity<reduce_node<Op, Over, Inner>> node) {
        return without(unbound(std::type_identity<Inner>{}), unbound(node));
    }

    template <class E>
    static constexpr flags free_of = unbound(std::type_identity<E>{});
    /// Labels that an implicit sum of E goes over.
    template <class E>
    static constexpr flags missing_of = without(free_of<E>, on_left);

    static constexpr std::size_t count(const flags& set) {
        std::size_t labels = 0;
        for (const bool is_in : set) {
            labels += is_in ? 1 : 0;
        }
        return labels;
    }
    template <class E>
    static constexpr flags escaping_of = escaping(std::type_identity<E>{});
    template <class E>
    static constexpr bool aggregates = count(missing_of<E>) > 0;
    /// True where every left label is free in E, so that nothing is broadcast.
    template <class E>
    static constexpr bool fills_left = count(both(free_of<E>, on_left)) == count(on_left);
    /// True where A has fewer free labels than B.
    template <class A, class B>
    static constexpr bool has_fewer_labels = count(free_of<A>) < count(free_of<B>);

    /// The ids of the labels in `set`, ascending: left labels come first, in their order. `Count` is their number.
    template <std::size_t Count>
    static constexpr std::array<label_id, Count> listed(const flags& set) {
        std::array<label_id, Count> labels{};
        std::size_t position = 0;
        for (std::size_t label = 0; label < set.size(); ++label) {
            if (set[label]) {
                labels[position++] = label_id(label);
            }
        }
        return labels;
    }
    template <class E>
    static constexpr auto free_labels = listed<count(free_of<E>)>(free_of<E>);
    static constexpr auto left_labels = ids::template ids<LeftLabels>;
    static constexpr auto right_labels = ids::template ids<RightLabels>;
    /// True where a mistake in an operand, such as a wrong number of labels, has been reported already.
    static constexpr bool was_refitted = appears_in<label<'?'>, united_t<LeftLabels, RightLabels>>;
    /// True where both sides have the same labels, and none stands on the left twice.
    static constexpr bool are_the_same = !was_refitted && count(on_left) == LeftLabels::size &&
                                         count(set_of(RightLabels{})) == count(on_left) &&
                                         count(both(set_of(RightLabels{}), on_left)) == count(on_left);
};
/// The labels of a statement.
template <class LeftLabels, class Right>
using statement = labels_of_statement<LeftLabels, typename Right::labels>;

// --- Mistakes: which label or which terms break a rule. The messages stand in the function that a user calls, because
// a compiler writes a line for every template on the way from there. The note below a message shows what is wrong. ---

/// Stands in place of a label where no label is wrong.
struct nothing {};

/// True where the operands A and B of a +, −, max or min inside a term have the same labels missing on the left.
/// Otherwise it would be unclear over which labels the user wants the sum or the extreme. Numbers are exempt, and
/// everything inside an explicit reduction.
template <class Statement, class... Terms>
inline constexpr bool miss_the_same = true;
template <class Statement, class A, class B>
inline constexpr bool miss_the_same<Statement, A, B> =
    is_constant<A> || is_constant<B> || Statement::template missing_of<A> == Statement::template missing_of<B>;

/// True for +, − and the sign. At the top level of a statement they join terms; inside a term they are checked.
template <class Function>
inline constexpr bool joins_terms =
    std::is_same_v<Function, plus> || std::is_same_v<Function, minus> || std::is_same_v<Function, negate>;

template <class Function>
inline constexpr bool takes_an_extreme = std::is_same_v<Function, larger> || std::is_same_v<Function, smaller>;

/// Labels on the left that a term with an implicit sum does not have: C(i, q) = A(i, j) * B(j, k) is taken for a slip.
template <class Statement, class E>
constexpr auto absent_of(std::type_identity<E> /*node*/) {
    using flags = typename Statement::flags;
    return Statement::template aggregates<E> ? Statement::without(Statement::on_left, Statement::template free_of<E>)
                                             : flags{};
}
template <class Statement, class Function, class... Terms>
    requires joins_terms<Function>
constexpr auto absent_of(std::type_identity<join_node<Function, Terms...>> /*node*/) {
    return Statement::any_of(absent_of<Statement>(std::type_identity<Terms>{})...);
}

template <class Statement, bool InTerm, class E>
constexpr bool are_sound_terms(std::type_identity<E> /*node*/) {
    return true;
}
template <class Statement, bool InTerm, class Function, class... Arguments>
constexpr bool are_sound_terms(std::type_identity<join_node<Function, Arguments...>> /*node*/) {
    constexpr bool in_term = InTerm || !joins_terms<Function>;
    constexpr bool keeps_sums_apart = joins_terms<Function> ? !InTerm : !takes_an_extreme<Function>;
    constexpr bool sound = keeps_sums_apart || miss_the_same<Statement, Arguments...>;
    return sound && (are_sound_terms<Statement, in_term>(std::type_identity<Arguments>{}) && ...);
}

/// The label at `Position`; `nothing` behind the last one.
template <std::size_t Position, class... Labels>
auto label_at(label_list<Labels...> /*list*/) -> std::tuple_element_t<Position, std::tuple<Labels..., nothing>>;

/// The first labels of a statement that break a rule; `nothing` where none does.
template <class LeftLabels, class Right>
class found_mistakes {
    using rules = statement<LeftLabels, Right>;

    /// Position of the first label for which wrong(label, position) is true; `Count` where there is none.
    template <std::size_t Count, class Wrong>
    static constexpr std::size_t first_at(const std::array<label_id, Count>& labels, const Wrong& wrong) {
        std::size_t position = 0;
        while (position < Count && (rules::was_refitted || !wrong(std::size_t(labels[position]), position))) {
            ++position;
        }
        return position;
    }

    static constexpr std::size_t unknown_at =
        first_at(rules::left_labels, [](auto each, auto) { return !rules::template free_of<Right>[each]; });
    static constexpr auto absent_labels = absent_of<rules>(std::type_identity<Right>{});
    static constexpr std::size_t absent_at =
        first_at(rules::left_labels, [](auto each, auto) { return absent_labels[each]; });
    static constexpr std::size_t repeated_at =
        first_at(rules::left_labels, [](auto each, auto position) { return each != position; });
    static constexpr std::size_t escaping_at =
        first_at(rules::right_labels, [](auto each, auto) { return rules::template escaping_of<Right>[each]; });

public:
    static constexpr bool sound_terms =
        rules::was_refitted || are_sound_terms<rules, false>(std::type_identity<Right>{});
    /// A label on the left that no operand has.
    using unknown = decltype(label_at<unknown_at>(LeftLabels{}));
    /// A label on the left that is missing in a term that sums implicitly.
    using absent = decltype(label_at<absent_at>(LeftLabels{}));
    /// A label that stands twice on the left.
    using repeated = decltype(label_at<repeated_at>(LeftLabels{}));
    /// A label of a softmax's argument that an implicit sum would sum outside the softmax. softmax(t, Q(s, d) * K(t,
    /// d)) would be summed over d only after the softmax: it looks like attention, and is not.
    using escaping = decltype(label_at<escaping_at>(typename Right::labels{}));
};
/// For statements that cannot have mistakes: without a label that is summed there is little to check.
struct no_mistakes {
    static constexpr bool sound_terms = true;
    using unknown = nothing;
    using absent = nothing;
    using repeated = nothing;
    using escaping = nothing;
};
template <class LeftLabels, class Right>
using mistakes = std::conditional_t<Right::is_flat && statement<LeftLabels, Right>::are_the_same, no_mistakes,
                                    found_mistakes<LeftLabels, Right>>;

// The names that the notes below the messages show.
template <class Label>
inline constexpr bool is_in_an_operand = std::is_same_v<Label, nothing>;
template <class Label>
inline constexpr bool is_in_each_sum = std::is_same_v<Label, nothing>;
template <class Label>
inline constexpr bool stands_once = std::is_same_v<Label, nothing>;
template <class Label>
inline constexpr bool is_summed_inside = std::is_same_v<Label, nothing>;

/// True where the statement keeps all rules. With `Broadcasts` (the left side knows its extents) the left may have
/// labels that no operand has: the result is broadcast over them.
template <class LeftLabels, class Right, bool Broadcasts = false>
inline constexpr bool is_sound =
    !statement<LeftLabels, Right>::was_refitted && mistakes<LeftLabels, Right>::sound_terms &&
    (Broadcasts || is_in_an_operand<typename mistakes<LeftLabels, Right>::unknown>)&&is_in_each_sum<
        typename mistakes<LeftLabels, Right>::absent> &&
    stands_once<typename mistakes<LeftLabels, Right>::repeated> &&
    is_summed_inside<typename mistakes<LeftLabels, Right>::escaping>;

/// The assignments =, += and -=.
enum class assignment : std::uint8_t { set, add, subtract };

}  // namespace einparallel::detail
