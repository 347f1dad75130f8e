#pragma once
// numpy.einsum's language, read at compile time or at run time: "ij,jk->ik", "ii->i", "...ij,...jk->...ik", implicit
// output, spaces.

#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/refused.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

namespace einparallel {

/// A subscript string as a template argument, up to 1023 bytes. A label is one ASCII letter or one other Unicode
/// character written in UTF-8: there is no limit of 52.
using subscripts = fixed_text<1023>;

namespace detail {

/// The mistakes in a subscript string; those of an output label come last. Their sentences, which static_asserts and
/// errors have in common, have the same names.
enum class subscript_problem : std::uint8_t {
    character,
    arrow,
    dots,
    operand_count_more,
    operand_count_less,
    rank,
    ellipsis_rank,
    label_count,
    ellipsis_output,
    output_unknown,
    output_repeated,
    none
};
#define EINPARALLEL_DETAIL_SUBSCRIPT_character                                                                   \
    "malformed subscript string: a label is a letter (or another Unicode character); only ',', '->', '...' and " \
    "spaces may stand beside labels"
#define EINPARALLEL_DETAIL_SUBSCRIPT_arrow \
    "malformed subscript string: '->' stands at most once, and one output follows it"
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
#define EINPARALLEL_DETAIL_SUBSCRIPT_output_unknown "this output label appears in no operand"
#define EINPARALLEL_DETAIL_SUBSCRIPT_output_repeated "this output label is repeated"

/// The size of tables that are made at run time.
inline constexpr std::size_t size_at_run_time = std::size_t(-1);

/// What a subscript string says for operands of given ranks. `Size` bounds the number of labels of all operands
/// together, and of the output.
template <std::size_t Size>
struct subscript_table {
    /// By label, dimension or operand.
    template <class T>
    using row = std::conditional_t<Size == size_at_run_time, std::vector<T>, std::array<T, Size + 2>>;

    subscript_problem problem = subscript_problem::none;
    bool has_numbers = false;  ///< labels may be whole numbers, with spaces between them
    std::size_t label_count = 0;
    row<label_name> names{};
    bool has_ellipsis = false;
    row<bool> is_ellipsis{};     ///< by label: extent 1 may stand against a longer one
    row<label_id> dimensions{};  ///< labels of all operands, one after another
    std::size_t dimension_count = 0;
    row<std::size_t> operand{};  ///< of each of these
    row<std::size_t> first{};    ///< operand r: dimensions[first[r]] … dimensions[first[r + 1] - 1]
    row<label_id> output{};
    std::size_t output_rank = 0;
    label_name culprit{};             ///< the output label that is unknown or repeated
    std::size_t culprit_operand = 0;  ///< the operand whose subscript has the mistake

    /// Number of a label; label_count where there is none of this name.
    [[nodiscard]] constexpr std::size_t find(const label_name& name) const {
        const label_name* const first_name = names.data();
        return std::size_t(std::find(first_name, first_name + label_count, name) - first_name);
    }
    constexpr label_id find_or_add(const label_name& name) {
        const std::size_t label = find(name);
        names[label] = name;
        label_count = std::max(label_count, label + 1);
        return label_id(label);
    }
    /// … of number `number` (counted from the last) of the dimensions that an ellipsis stands for.
    constexpr label_id ellipsis(std::size_t number) {
        label_name name("...");
        name.characters[3] = char('0' + number);
        return find_or_add(name);
    }
};

/// Bytes of the label at the front of `text`: 1 for an ASCII letter, 2 to 4 for another character, those of a number
/// where there may be numbers, 0 where there is no label.
constexpr std::size_t label_length(std::string_view text, bool has_numbers) {
    const auto lead = static_cast<unsigned char>(text[0]);
    if ((lead >= 'a' && lead <= 'z') || (lead >= 'A' && lead <= 'Z')) {
        return 1;
    }
    if (const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size()); digits > 0) {
        return has_numbers && digits < sizeof(label_name) ? digits : 0;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    if (length > text.size()) {
        return 0;
    }
    for (std::size_t at = 1; at < length; ++at) {
        if (!continues_character(text[at])) {
            return 0;
        }
    }
    return length;
}

/// One operand's or the output's subscript: appends its labels to `into` (from position `count` on) and returns the
/// problem. `ellipsis_rank` says how many dimensions "..." stands for.
template <class Table, class Labels>
constexpr subscript_problem read_subscript(Table& table, std::string_view text, Labels& into, std::size_t& count,
                                           std::size_t ellipsis_rank) {
    bool seen_ellipsis = false;
    while (!text.empty()) {
        if (table.label_count > std::size_t(std::numeric_limits<label_id>::max())) {
            return subscript_problem::label_count;
        }
        std::size_t length = 1;
        if (text.front() == '.') {
            if (!text.starts_with("...") || seen_ellipsis) {
                return subscript_problem::dots;
            }
            seen_ellipsis = true;
            length = 3;
            for (std::size_t number = ellipsis_rank; number-- > 0;) {
                into[count] = table.ellipsis(number);
                table.has_ellipsis = table.is_ellipsis[std::size_t(into[count++])] = true;
            }
        } else if (text.front() != ' ') {
            length = label_length(text, table.has_numbers);
            if (length == 0) {
                return subscript_problem::character;
            }
            into[count++] = table.find_or_add(label_name(text.substr(0, length)));
        }
        text.remove_prefix(length);
    }
    return subscript_problem::none;
}

/// The subscripts of the operands.
constexpr std::string_view input_subscripts(std::string_view text) {
    return text.substr(0, text.find("->"));
}
/// The subscript of one of them. @pre there are as many
constexpr std::string_view input_subscript(std::string_view text, std::size_t operand) {
    std::string_view inputs = input_subscripts(text);
    for (; operand > 0; --operand) {
        inputs.remove_prefix(inputs.find(',') + 1);
    }
    return inputs.substr(0, inputs.find(','));
}
/// How many there are.
constexpr std::size_t input_count(std::string_view text) {
    const std::string_view inputs = input_subscripts(text);
    return 1 + std::size_t(std::count(inputs.begin(), inputs.end(), ','));
}
/// Labels spelled in one subscript, "..." not counted: what neither dots nor spaces are.
constexpr std::size_t spelled_labels(std::string_view text, bool has_numbers = false) {
    std::size_t count = 0;
    for (std::size_t length = 0; !text.empty(); text.remove_prefix(length)) {
        length = std::max<std::size_t>(label_length(text, has_numbers), 1);
        count += text.front() != ' ' && text.front() != '.' ? 1 : 0;
    }
    return count;
}

/// Reads a string for operands of these ranks. Returns the problem. @param table  with rows that are long enough
template <class Table>
constexpr subscript_problem read_string(Table& table, std::string_view text, const std::size_t* ranks,
                                        std::size_t operands) {
    table.culprit_operand = operands;
    const std::string_view inputs = input_subscripts(text);
    const std::string_view output = text.substr(std::min(inputs.size() + 2, text.size()));
    if (inputs.find_first_of("->") != std::string_view::npos || output.find_first_of("->,") != std::string_view::npos) {
        return subscript_problem::arrow;
    }
    if (const std::size_t count = input_count(text); count != operands) {
        return count < operands ? subscript_problem::operand_count_more : subscript_problem::operand_count_less;
    }

    std::size_t& count = table.dimension_count;
    std::size_t widest_ellipsis = 0;
    std::string_view rest = inputs;
    for (std::size_t operand = 0; operand < operands; ++operand) {
        const std::string_view one = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        const bool has_ellipsis = one.find('.') != std::string_view::npos;
        const std::size_t labels = spelled_labels(one, table.has_numbers);
        const std::size_t ellipsis_rank = has_ellipsis && ranks[operand] > labels ? ranks[operand] - labels : 0;
        table.culprit_operand = operand;
        const subscript_problem problem = read_subscript(table, one, table.dimensions, count, ellipsis_rank);
        if (problem != subscript_problem::none) {
            return problem;
        }
        if (labels + ellipsis_rank != ranks[operand]) {
            return has_ellipsis ? subscript_problem::ellipsis_rank : subscript_problem::rank;
        }
        widest_ellipsis = std::max(widest_ellipsis, ellipsis_rank);
        table.first[operand + 1] = count;
        std::fill(table.operand.data() + table.first[operand], table.operand.data() + count, operand);
    }
    table.culprit_operand = operands;

    // An implicit output: the ellipsis, then the labels that stand exactly once, in the order of their characters.
    const bool is_implicit = inputs.size() == text.size();
    const std::size_t known = table.label_count;
    const subscript_problem problem =
        read_subscript(table, is_implicit ? "..." : output, table.output, table.output_rank, widest_ellipsis);
    if (problem != subscript_problem::none) {
        return problem;
    }
    if (is_implicit) {
        const std::size_t spelled_once = table.output_rank;
        for (std::size_t label = 0; label < known; ++label) {
            const label_id* const dimensions = table.dimensions.data();
            if (!table.is_ellipsis[label] && std::count(dimensions, dimensions + count, label_id(label)) == 1) {
                table.output[table.output_rank++] = label_id(label);
            }
        }
        std::sort(table.output.data() + spelled_once, table.output.data() + table.output_rank,
                  [&](label_id a, label_id b) {
                      return table.names[std::size_t(a)].view() < table.names[std::size_t(b)].view();
                  });
        return subscript_problem::none;
    }
    const label_id* const labels = table.output.data();
    for (std::size_t at = 0; at < table.output_rank; ++at) {
        const auto label = std::size_t(labels[at]);
        if (label >= known || std::find(labels, labels + at, labels[at]) != labels + at) {
            table.culprit = table.names[label];
            return label >= known ? subscript_problem::output_unknown : subscript_problem::output_repeated;
        }
    }
    const bool lacks_ellipsis = widest_ellipsis > 0 && output.find('.') == std::string_view::npos;
    return lacks_ellipsis ? subscript_problem::ellipsis_output : subscript_problem::none;
}

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

/// The output label that breaks a rule, empty where none does: the note below the sentence shows it.
template <subscript_problem Problem, subscripts Text, std::size_t... Ranks>
inline constexpr label_name culprit_of = subscript_table_of<Text, Ranks...>.problem == Problem
                                             ? subscript_table_of<Text, Ranks...>.culprit
                                             : label_name();
template <label_name Label>
inline constexpr bool output_label_is_in_an_operand = Label == label_name();
template <label_name Label>
inline constexpr bool output_label_stands_once = Label == label_name();

/// One sentence for every mistake in a subscript string; what functions of such a string return.
template <subscripts Text, std::size_t... Ranks>
struct check_subscripts : refused {
    static constexpr subscript_problem problem = subscript_table_of<Text, Ranks...>.problem;
    static_assert(problem != subscript_problem::character, "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_character);
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
    static_assert(output_label_is_in_an_operand<culprit_of<subscript_problem::output_unknown, Text, Ranks...>>,
                  "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_output_unknown);
    static_assert(output_label_stands_once<culprit_of<subscript_problem::output_repeated, Text, Ranks...>>,
                  "ep::einsum: " EINPARALLEL_DETAIL_SUBSCRIPT_output_repeated);
};

template <subscripts Text, std::size_t... Ranks>
inline constexpr bool are_sound = subscript_table_of<Text, Ranks...>.problem == subscript_problem::none;

}  // namespace detail

}  // namespace einparallel
