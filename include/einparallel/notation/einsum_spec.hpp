#pragma once
// The compile-time specification of an einsum written as a string: its mistakes; labels, classes, ranks.

#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/numpy_subscripts.hpp>
#include <einparallel/notation/refused.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace einparallel {

namespace detail {

/// The messages about mistakes in a subscript string, for static_asserts and for errors at run time.
#define EINPARALLEL_DETAIL_SUBSCRIPT_character                                                                        \
    "malformed subscript string: a label is a letter (or another Unicode character); beside labels stand ',', '->', " \
    "'...' and spaces, and an index that is a function of labels is written as in \"i+r,r->i\" or \"[2*i - r, "       \
    "3],[r]->[i]\""
#define EINPARALLEL_DETAIL_SUBSCRIPT_function                                                                       \
    "malformed subscript string: an index is a sum of labels times integers and an integer, as in \"i+r,r->i\" or " \
    "\"[2*i - r, 3],[r]->[i]\", where every '[' has its ']'"
#define EINPARALLEL_DETAIL_SUBSCRIPT_arrow                                                                             \
    "malformed subscript string: '->' stands at most once, and one output follows it; differences stand in brackets, " \
    "[i - r]"
#define EINPARALLEL_DETAIL_SUBSCRIPT_dots \
    "malformed subscript string: an ellipsis is three dots and stands at most once in an operand"
#define EINPARALLEL_DETAIL_SUBSCRIPT_operand_count_more \
    "more operands than subscripts: every operand needs its own, separated by ','"
#define EINPARALLEL_DETAIL_SUBSCRIPT_operand_count_less \
    "more subscripts than operands: every subscript needs an operand"
#define EINPARALLEL_DETAIL_SUBSCRIPT_rank "the number of labels in a subscript differs from the rank of its operand"
#define EINPARALLEL_DETAIL_SUBSCRIPT_ellipsis_rank \
    "a subscript with an ellipsis has more labels than its operand has dimensions"
#define EINPARALLEL_DETAIL_SUBSCRIPT_label_count "more than 32,767 labels"
#define EINPARALLEL_DETAIL_SUBSCRIPT_ellipsis_output \
    "an operand's ellipsis stands for dimensions that the output lacks: write '...' in the output"
#define EINPARALLEL_DETAIL_SUBSCRIPT_output_function "the dimensions of the output are labels, not functions of them"
#define EINPARALLEL_DETAIL_SUBSCRIPT_output_unknown "this output label appears in no operand"
#define EINPARALLEL_DETAIL_SUBSCRIPT_output_repeated "this output label is repeated"

template <std::size_t Size, std::size_t Operands>
constexpr subscript_table<Size> read_subscripts(subscripts spelled, const std::array<std::size_t, Operands>& ranks) {
    // By value: g++ 12 under UBSan takes no address of a template argument for a constant.
    subscript_table<Size> table;
    table.problem = read_string(table, spelled.view(), ranks.data(), Operands);
    return table;
}
/// The table of a subscript string for operands of these ranks.
template <subscripts Text, std::size_t... Ranks>
inline constexpr auto subscript_table_of =
    read_subscripts<(Ranks + ... + Text.view().size()), sizeof...(Ranks)>(Text, {Ranks...});

/// The output label that has the mistake `Problem`; empty where no label has it. A compiler's note below the message
/// shows this label.
template <subscript_problem Problem, subscripts Text, std::size_t... Ranks>
inline constexpr label_name culprit_of = subscript_table_of<Text, Ranks...>.problem == Problem
                                             ? subscript_table_of<Text, Ranks...>.culprit
                                             : label_name();
template <label_name Label>
inline constexpr bool output_label_is_in_an_operand = Label == label_name();
template <label_name Label>
inline constexpr bool output_label_stands_once = Label == label_name();

/// Checks a subscript string at compile time: one static_assert for each possible mistake. Functions return this type
/// where the string has a mistake.
template <subscripts Text, std::size_t... Ranks>
struct check_subscripts : refused {
    static constexpr subscript_problem problem = subscript_table_of<Text, Ranks...>.problem;
    static_assert(problem != subscript_problem::character, "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_character);
    static_assert(problem != subscript_problem::function, "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_function);
    static_assert(problem != subscript_problem::arrow, "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_arrow);
    static_assert(problem != subscript_problem::dots, "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_dots);
    static_assert(problem != subscript_problem::operand_count_more,
                  "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_operand_count_more);
    static_assert(problem != subscript_problem::operand_count_less,
                  "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_operand_count_less);
    static_assert(problem != subscript_problem::rank, "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_rank);
    static_assert(problem != subscript_problem::ellipsis_rank,
                  "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_ellipsis_rank);
    static_assert(problem != subscript_problem::label_count, "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_label_count);
    static_assert(problem != subscript_problem::ellipsis_output,
                  "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_ellipsis_output);
    static_assert(problem != subscript_problem::output_function,
                  "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_output_function);
    static_assert(output_label_is_in_an_operand<culprit_of<subscript_problem::output_unknown, Text, Ranks...>>,
                  "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_output_unknown);
    static_assert(output_label_stands_once<culprit_of<subscript_problem::output_repeated, Text, Ranks...>>,
                  "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_output_repeated);
};

template <subscripts Text, std::size_t... Ranks>
inline constexpr bool are_sound = subscript_table_of<Text, Ranks...>.problem == subscript_problem::none;

/// Rank of operand `operand` of a subscript string without an ellipsis.
constexpr std::size_t spelled_rank(subscripts spelled, std::size_t operand) {
    return spelled_dimensions(input_subscript(spelled.view(), operand));
}

template <subscripts Text, class Operands>
struct spec_table;
template <subscripts Text, std::size_t... Operand>
struct spec_table<Text, std::index_sequence<Operand...>> {
    static_assert(sizeof(check_subscripts<Text, spelled_rank(Text, Operand)...>) > 0);
    static constexpr const auto& value = subscript_table_of<Text, spelled_rank(Text, Operand)...>;
    static_assert(value.function_count == 0, "einsum_spec: dimensions are labels, not functions of them");
};

}  // namespace detail

/// The meaning of `einsum<Text>`, known at compile time. Text has no ellipsis, because only operands tell how many
/// dimensions an ellipsis stands for.
template <subscripts Text>
struct einsum_spec {
    /// Number of operands.
    static constexpr std::size_t operands = detail::input_count(Text.view());

private:
    static constexpr const auto& table = detail::spec_table<Text, std::make_index_sequence<operands>>::value;

public:
    /// Number of distinct labels: the D of the paper.
    static constexpr std::size_t labels = table.label_count;
    /// Number of dimensions of the output.
    static constexpr std::size_t output_rank = table.output_rank;

    /// The class of label `Name`: c, m, n, k, x_only or y_only.
    template <label_name Name>
    static constexpr einparallel::label_class label_class() {
        constexpr label_id wanted = id<Name>;
        static_assert(wanted != no_label, "einsum_spec::label_class: this label appears in no operand");
        return classify(
            operands, [](std::size_t operand) { return in_operand(operand, wanted); }, in_output(wanted));
    }

    /// The id of label `Name`: its position in the order of first appearance over operands; no_label where it appears
    /// in no operand.
    template <label_name Name>
    static constexpr label_id id = table.find(Name) < table.label_count ? label_id(table.find(Name)) : no_label;

    /// True where the operand has the label.
    static constexpr bool in_operand(std::size_t operand, label_id label) {
        const auto* const end = table.dimensions.data() + table.first[operand + 1];
        return std::find(table.dimensions.data() + table.first[operand], end, label) != end;
    }
    /// True where the output has the label.
    static constexpr bool in_output(label_id label) {
        const auto* const end = table.output.data() + table.output_rank;
        return std::find(table.output.data(), end, label) != end;
    }

    /// The run-time form of this einsum.
    [[nodiscard]] static einsum_form form() {
        einsum_form made;
        for (std::size_t label = 0; label < table.label_count; ++label) {
            made.names.emplace_back(table.names[label].view());
        }
        for (std::size_t operand = 0; operand < operands; ++operand) {
            made.operands.emplace_back(table.dimensions.data() + table.first[operand],
                                       table.dimensions.data() + table.first[operand + 1]);
        }
        made.output.assign(table.output.data(), table.output.data() + table.output_rank);
        return made;
    }
};

}  // namespace einparallel
