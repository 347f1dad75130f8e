#pragma once
// numpy.einsum's language, read at compile time: "ij,jk->ik", "ii->i", "...ij,...jk->...ik", implicit output, spaces.

#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/label.hpp>
#include <einparallel/notation/refused.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace einparallel {

/// A subscript string as a template argument, up to 1023 bytes. A label is one ASCII letter or one other Unicode
/// character written in UTF-8: there is no limit of 52.
using subscripts = fixed_text<1023>;

namespace detail {

enum class subscript_problem : std::uint8_t {
    none,
    character,
    arrow,
    dots,
    operand_count_more,
    operand_count_less,
    rank,
    ellipsis_rank,
    ellipsis_output,
    output_unknown,
    output_repeated
};

/// What a subscript string says for operands of given ranks. `Size` bounds the number of labels of all operands
/// together.
template <std::size_t Size, std::size_t Operands>
struct subscript_table {
    struct name {
        std::array<char, 8> text{};
        std::size_t length = 0;
        [[nodiscard]] constexpr std::string_view view() const { return {text.data(), length}; }
        friend constexpr bool operator==(const name&, const name&) = default;
    };

    subscript_problem problem = subscript_problem::none;
    std::size_t label_count = 0;
    std::array<name, Size + 1> names{};
    bool has_ellipsis = false;
    std::array<bool, Size + 1> is_ellipsis{};       ///< by label: extent 1 may stand against a longer one
    std::array<label_id, Size + 1> dimensions{};    ///< labels of all operands, one after another
    std::array<std::size_t, Operands + 1> first{};  ///< operand r: dimensions[first[r]] … dimensions[first[r + 1] - 1]
    std::array<label_id, Size + 1> output{};
    std::size_t output_rank = 0;
    name culprit{};  ///< the output label that is unknown or repeated

    constexpr label_id find_or_add(const name& wanted) {
        for (std::size_t label = 0; label < label_count; ++label) {
            if (names[label] == wanted) {
                return static_cast<label_id>(label);
            }
        }
        names[label_count] = wanted;
        return static_cast<label_id>(label_count++);
    }

    /// A label by its own spelling, or number `number` (counted from the last) of the ellipsis dimensions.
    static constexpr name spelled(std::string_view text) {
        name made;
        for (const char character : text) {
            made.text[made.length++] = character;
        }
        return made;
    }
    static constexpr name ellipsis(std::size_t number) {
        name made = spelled("...");
        made.text[made.length++] = static_cast<char>('0' + number);
        return made;
    }
};

/// Bytes of the label at the front of `text`: 1 for an ASCII letter, 2 to 4 for another character, 0 where there is no
/// label.
constexpr std::size_t label_length(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char lead = byte(0);
    if ((lead >= 'a' && lead <= 'z') || (lead >= 'A' && lead <= 'Z')) {
        return 1;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    if (length > text.size()) {
        return 0;
    }
    for (std::size_t at = 1; at < length; ++at) {
        if ((byte(at) & 0xC0U) != 0x80U) {
            return 0;
        }
    }
    return length;
}

/// One operand's or the output's subscript: appends its labels to `into` (from position `count` on) and returns the
/// problem. `rank` is the operand's rank; for the output, `ellipsis_rank` says how many dimensions "..." stands for.
template <class Table, std::size_t Capacity>
constexpr subscript_problem read_subscript(Table& table, std::string_view text, std::array<label_id, Capacity>& into,
                                           std::size_t& count, std::size_t ellipsis_rank, bool is_output) {
    bool seen_ellipsis = false;
    while (!text.empty()) {
        if (text.front() == ' ') {
            text.remove_prefix(1);
            continue;
        }
        if (text.front() == '.') {
            if (!text.starts_with("...") || seen_ellipsis) {
                return subscript_problem::dots;
            }
            seen_ellipsis = true;
            text.remove_prefix(3);
            for (std::size_t number = ellipsis_rank; number-- > 0;) {
                const label_id label = table.find_or_add(Table::ellipsis(number));
                table.has_ellipsis = table.is_ellipsis[static_cast<std::size_t>(label)] = true;
                into[count++] = label;
            }
            continue;
        }
        const std::size_t length = label_length(text);
        if (length == 0) {
            return subscript_problem::character;
        }
        if (count + 1 >= Capacity) {
            return is_output ? subscript_problem::output_repeated : subscript_problem::rank;
        }
        const std::size_t known = table.label_count;
        const label_id label = table.find_or_add(Table::spelled(text.substr(0, length)));
        const auto end = into.begin() + static_cast<std::ptrdiff_t>(count);
        if (is_output && (table.label_count > known || std::find(into.begin(), end, label) != end)) {
            table.culprit = table.names[static_cast<std::size_t>(label)];
            return table.label_count > known ? subscript_problem::output_unknown : subscript_problem::output_repeated;
        }
        into[count++] = label;
        text.remove_prefix(length);
    }
    return subscript_problem::none;
}

/// Labels spelled in one subscript, "..." not counted; and whether "..." is there.
struct subscript_size {
    std::size_t labels = 0;
    bool ellipsis = false;
};
constexpr subscript_size measure_subscript(std::string_view text) {
    subscript_size size;
    while (!text.empty()) {
        const std::size_t length = text.front() == ' ' || text.front() == '.' ? 0 : label_length(text);
        size.ellipsis = size.ellipsis || text.front() == '.';
        size.labels += length > 0 ? 1 : 0;
        text.remove_prefix(length > 0 ? length : 1);
    }
    return size;
}

template <std::size_t Size, std::size_t Operands>
constexpr subscript_table<Size, Operands> read_subscripts(subscripts spelled,
                                                          const std::array<std::size_t, Operands>& ranks) {
    // By value: g++ 12 under UBSan takes no address of a template argument for a constant.
    const std::string_view text = spelled.view();
    using table_type = subscript_table<Size, Operands>;
    table_type table;
    const auto fail = [&](subscript_problem problem) {
        table.problem = problem;
        return table;
    };
    const std::size_t arrow = text.find("->");
    std::string_view inputs = text.substr(0, arrow);
    const std::string_view output = arrow == std::string_view::npos ? std::string_view{} : text.substr(arrow + 2);
    if (inputs.find_first_of("->") != std::string_view::npos || output.find_first_of("->,") != std::string_view::npos) {
        return fail(subscript_problem::arrow);
    }

    std::size_t count = 0;
    std::size_t widest_ellipsis = 0;
    for (std::size_t operand = 0; operand < Operands; ++operand) {
        const std::size_t comma = inputs.find(',');
        const std::string_view one = inputs.substr(0, comma);
        const subscript_size size = measure_subscript(one);
        table.first[operand] = count;
        const std::size_t ellipsis_rank =
            size.ellipsis && ranks[operand] >= size.labels ? ranks[operand] - size.labels : 0;
        const subscript_problem problem = read_subscript(table, one, table.dimensions, count, ellipsis_rank, false);
        if (problem != subscript_problem::none) {
            return fail(problem);
        }
        if (count - table.first[operand] != ranks[operand]) {
            return fail(size.ellipsis ? subscript_problem::ellipsis_rank : subscript_problem::rank);
        }
        widest_ellipsis = ellipsis_rank > widest_ellipsis ? ellipsis_rank : widest_ellipsis;
        const bool last = operand + 1 == Operands;
        if (last != (comma == std::string_view::npos)) {
            return fail(last ? subscript_problem::operand_count_less : subscript_problem::operand_count_more);
        }
        inputs = last ? std::string_view{} : inputs.substr(comma + 1);
    }
    table.first[Operands] = count;

    if (arrow != std::string_view::npos) {
        const subscript_problem problem =
            read_subscript(table, output, table.output, table.output_rank, widest_ellipsis, true);
        if (problem != subscript_problem::none) {
            return fail(problem);
        }
        if (widest_ellipsis > 0 && output.find('.') == std::string_view::npos) {
            return fail(subscript_problem::ellipsis_output);
        }
        return table;
    }

    // Implicit output: the ellipsis, then the labels that stand exactly once, in the order of their characters.
    for (std::size_t number = widest_ellipsis; number-- > 0;) {
        table.output[table.output_rank++] = table.find_or_add(table_type::ellipsis(number));
    }
    const auto spelled_once = table.output.begin() + static_cast<std::ptrdiff_t>(table.output_rank);
    const auto end = table.dimensions.begin() + static_cast<std::ptrdiff_t>(count);
    for (std::size_t label = 0; label < table.label_count; ++label) {
        if (!table.is_ellipsis[label] && std::count(table.dimensions.begin(), end, static_cast<label_id>(label)) == 1) {
            table.output[table.output_rank++] = static_cast<label_id>(label);
        }
    }
    std::sort(spelled_once, table.output.begin() + static_cast<std::ptrdiff_t>(table.output_rank),
              [&](label_id a, label_id b) {
                  return table.names[static_cast<std::size_t>(a)].view() <
                         table.names[static_cast<std::size_t>(b)].view();
              });
    return table;
}

/// The table of a subscript string for operands of these ranks.
template <subscripts Text, std::size_t... Ranks>
inline constexpr auto subscript_table_of =
    read_subscripts<(Ranks + ... + Text.view().size()), sizeof...(Ranks)>(Text, {Ranks...});

/// The output label that breaks a rule, empty where none does: the note below the sentence shows it.
template <subscript_problem Problem, subscripts Text, std::size_t... Ranks>
inline constexpr label_name culprit_of = [] {
    label_name found;
    const auto& table = subscript_table_of<Text, Ranks...>;
    for (std::size_t letter = 0; table.problem == Problem && letter < table.culprit.length; ++letter) {
        found.characters[letter] = table.culprit.text[letter];
    }
    return found;
}();
template <label_name Label>
inline constexpr bool output_label_is_in_an_operand = Label == label_name();
template <label_name Label>
inline constexpr bool output_label_stands_once = Label == label_name();

/// One sentence for every mistake in a subscript string; what functions of such a string return.
template <subscripts Text, std::size_t... Ranks>
struct check_subscripts : refused {
    static constexpr subscript_problem problem = subscript_table_of<Text, Ranks...>.problem;
    static_assert(
        problem != subscript_problem::character,
        "ep::einsum: malformed subscript string: a label is a letter (or another Unicode character); only ',', '->', "
        "'...' and spaces may stand beside labels");
    static_assert(problem != subscript_problem::arrow,
                  "ep::einsum: malformed subscript string: '->' stands at most once, and one output follows it");
    static_assert(
        problem != subscript_problem::dots,
        "ep::einsum: malformed subscript string: an ellipsis is three dots and stands at most once in an operand");
    static_assert(problem != subscript_problem::operand_count_more,
                  "ep::einsum: more operands than subscripts: every operand needs its own, separated by ','");
    static_assert(problem != subscript_problem::operand_count_less,
                  "ep::einsum: more subscripts than operands: every subscript needs an operand");
    static_assert(problem != subscript_problem::rank,
                  "ep::einsum: the number of labels in a subscript differs from the rank of its operand");
    static_assert(problem != subscript_problem::ellipsis_rank,
                  "ep::einsum: a subscript with an ellipsis has more labels than its operand has dimensions");
    static_assert(
        problem != subscript_problem::ellipsis_output,
        "ep::einsum: an operand's ellipsis stands for dimensions that the output lacks: write '...' in the output");
    static_assert(output_label_is_in_an_operand<culprit_of<subscript_problem::output_unknown, Text, Ranks...>>,
                  "ep::einsum: this output label appears in no operand");
    static_assert(output_label_stands_once<culprit_of<subscript_problem::output_repeated, Text, Ranks...>>,
                  "ep::einsum: this output label is repeated");
};

template <subscripts Text, std::size_t... Ranks>
inline constexpr bool are_sound = subscript_table_of<Text, Ranks...>.problem == subscript_problem::none;

}  // namespace detail

}  // namespace einparallel
