#pragma once
// numpy.einsum's language, read at compile time or at run time: "ij,jk->ik", "ii->i", "...ij,...jk->...ik", implicit
// output, spaces; and functions of labels, "i+r,r->i" or "[2*i + r, 3],[r]->[i]".

#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/label.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

namespace einparallel {

/// A subscript string as a template argument, up to 1023 bytes. A label is an ASCII letter or another UTF-8 character.
using subscripts = fixed_text<1023>;

namespace detail {

/// The mistakes in a subscript string; those of an output label come last.
enum class subscript_problem : std::uint8_t {
    character,
    function,
    arrow,
    dots,
    operand_count_more,
    operand_count_less,
    rank,
    ellipsis_rank,
    label_count,
    ellipsis_output,
    output_function,
    output_unknown,
    output_repeated,
    none
};

/// The `Size` of tables that are made at run time.
inline constexpr std::size_t size_at_run_time = std::size_t(-1);

/// A dimension that is read at a function of labels, and where its terms begin among those of all functions.
struct subscript_function {
    std::size_t dimension = 0;
    std::size_t first_term = 0;
    index constant = 0;
};

/// What a subscript string says for operands of given ranks. `Size` bounds the number of labels of all operands
/// together, and of the output.
template <std::size_t Size>
struct subscript_table {
    /// A list by label, dimension or operand.
    template <class T>
    using row = std::conditional_t<Size == size_at_run_time, std::vector<T>, std::array<T, Size + 2>>;

    subscript_problem problem = subscript_problem::none;
    bool has_numbers = false;  ///< labels may be whole numbers, with spaces between them
    std::size_t label_count = 0;
    row<label_name> names{};
    bool has_ellipsis = false;
    row<bool> is_ellipsis{};     ///< by label: it comes from an ellipsis, so extent 1 is broadcast
    row<label_id> dimensions{};  ///< labels of all operands, one after another; no_label where a function stands
    std::size_t dimension_count = 0;
    row<subscript_function> functions{};  ///< by dimension; one more says where the terms end
    std::size_t function_count = 0;
    row<index_term> terms{};
    row<std::size_t> operand{};  ///< the operand of each of the dimensions
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
    /// The label, added if it is new, for ellipsis dimension `number`, counted from the last one.
    constexpr label_id ellipsis(std::size_t number) {
        label_name name("...");
        name.characters[3] = char('0' + number);
        return find_or_add(name);
    }
};

/// Bytes of the number at the front of `text`.
constexpr std::size_t number_length(std::string_view text) {
    return std::min(text.find_first_not_of("0123456789"), text.size());
}

/// Bytes of the label at the front of `text`: 1 for an ASCII letter, 2 to 4 for another character, 0 for no label.
constexpr std::size_t label_length(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.empty() ? ' ' : text[0]);
    const bool is_letter = (lead >= 'a' && lead <= 'z') || (lead >= 'A' && lead <= 'Z');
    const std::size_t length = is_letter ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    for (std::size_t at = 1; at < length; ++at) {
        if (at == text.size() || !continues_character(text[at])) {
            return 0;
        }
    }
    return length;
}

/// Removes spaces from the front of `text`, then `character` if it is next. Returns whether it was.
constexpr bool take(std::string_view& text, char character) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const bool is_there = text.starts_with(character);
    text.remove_prefix(is_there ? 1 : 0);
    return is_there;
}

/// Reads a dimension off the front of `text`: a label, or Σ number * label + number. A list also has − and single
/// numbers.
template <class Table>
constexpr subscript_problem read_dimension(Table& table, std::string_view& text, bool is_listed, label_id& into,
                                           std::size_t dimension) {
    const std::size_t first = table.functions[table.function_count].first_term;
    std::size_t end = first;
    index constant = 0;
    bool is_beyond = false, is_more = true;
    for (index sign = is_listed && take(text, '-') ? -1 : 1; is_more;) {
        label_id label = no_label;
        do {
            take(text, ' ');
            const std::size_t digits = number_length(text);
            std::string_view behind =
                text.substr(digits);  // where labels are numbers a coefficient is known by its '*'
            const bool is_factor = take(behind, '*') || label != no_label;
            const bool is_number = digits > 0 && (is_listed || !table.has_numbers || is_factor);
            const std::size_t length = digits > 0 ? digits : label_length(text);
            if (length == 0 || (!is_number && (label != no_label || length >= sizeof(label_name)))) {
                return is_listed || end > first ? subscript_problem::function : subscript_problem::character;
            }
            index number = is_number ? 0 : 1;
            for (std::size_t at = 0; is_number && at < digits; ++at) {
                number = bounded(number, 10, text[at] - '0', is_beyond);
            }
            sign = bounded(sign, number, 0, is_beyond);
            label = is_number ? label : table.find_or_add(label_name(text.substr(0, length)));
            text.remove_prefix(length);
        } while (take(text, '*'));
        std::size_t term = first;
        while (term < end && table.terms[term].label != label) {
            ++term;
        }
        index& sum = label == no_label ? constant : table.terms[term].coefficient;
        if (label != no_label && term == end) {
            table.terms[end++] = {label, 0};
        }
        sum = bounded(sum, 1, sign, is_beyond);
        sign = is_listed && take(text, '-') ? -1 : 1;
        is_more = sign < 0 || take(text, '+');
    }
    into = no_label;
    if (end == first + 1 && constant == 0 && table.terms[first].coefficient == 1) {
        into = table.terms[first].label;
    } else {
        table.functions[table.function_count++] = {dimension, first, constant};
        table.functions[table.function_count].first_term = end;
    }
    return is_beyond                  ? subscript_problem::function
           : is_listed || end > first ? subscript_problem::none
                                      : subscript_problem::character;
}

/// Reads the subscript of an operand or the output, bare or as a list in brackets. Appends its labels to `into` (from
/// position `count` on) and returns the problem. `ellipsis_rank` says how many dimensions "..." stands for.
template <class Table, class Labels>
constexpr subscript_problem read_subscript(Table& table, std::string_view text, Labels& into, std::size_t& count,
                                           std::size_t ellipsis_rank) {
    const bool is_listed = take(text, '[');
    text.remove_suffix(text.size() - (text.find_last_not_of(' ') + 1));
    if (is_listed && !text.ends_with(']')) {
        return subscript_problem::function;
    }
    text.remove_suffix(is_listed ? 1 : 0);
    take(text, ' ');
    bool seen_ellipsis = false;
    for (bool is_first = true; !text.empty(); is_first = false) {
        if (table.label_count > std::size_t(std::numeric_limits<label_id>::max())) {
            return subscript_problem::label_count;
        }
        if (is_listed && !is_first && !take(text, ',')) {
            return subscript_problem::function;
        }
        if (!is_listed && text.front() == '.') {
            if (!text.starts_with("...") || seen_ellipsis) {
                return subscript_problem::dots;
            }
            seen_ellipsis = true;
            text.remove_prefix(3);
            for (std::size_t number = ellipsis_rank; number-- > 0;) {
                into[count] = table.ellipsis(number);
                table.has_ellipsis = table.is_ellipsis[std::size_t(into[count++])] = true;
            }
        } else {
            const subscript_problem problem = read_dimension(table, text, is_listed, into[count], count);
            if (problem != subscript_problem::none) {
                return problem;
            }
            ++count;
        }
        take(text, ' ');
    }
    return subscript_problem::none;
}

/// Where one of these characters first stands outside brackets; the length of the text where none does.
constexpr std::size_t find_outside(std::string_view text, std::string_view characters) {
    std::size_t at = 0;
    for (bool is_inside = false; at < text.size() && (is_inside || characters.find(text[at]) == text.npos); ++at) {
        is_inside = text[at] == '[' || (is_inside && text[at] != ']');
    }
    return at;
}

/// The part of `text` that holds the subscripts of the operands.
constexpr std::string_view input_subscripts(std::string_view text) {
    return text.substr(0, text.find("->"));
}
/// The subscript of one operand. @pre `text` has a subscript for it
constexpr std::string_view input_subscript(std::string_view text, std::size_t operand) {
    std::string_view inputs = input_subscripts(text);
    for (; operand > 0; --operand) {
        inputs.remove_prefix(find_outside(inputs, ",") + 1);
    }
    return inputs.substr(0, find_outside(inputs, ","));
}
/// The number of operands' subscripts.
constexpr std::size_t input_count(std::string_view text) {
    std::size_t count = 1;
    for (std::string_view rest = input_subscripts(text); find_outside(rest, ",") < rest.size(); ++count) {
        rest.remove_prefix(find_outside(rest, ",") + 1);
    }
    return count;
}
/// Number of dimensions in one subscript, "..." not counted. A list separates them by ','. Elsewhere each label or
/// number is one, unless '+' or '*' joins it to the one before.
constexpr std::size_t spelled_dimensions(std::string_view text) {
    if (take(text, '[')) {
        const bool is_empty = text.find_first_not_of(" ]") == text.npos;
        return is_empty ? 0 : 1 + std::size_t(std::count(text.begin(), text.end(), ','));
    }
    std::size_t count = 0;
    bool is_joined = false;
    for (std::size_t length = 0; !text.empty(); text.remove_prefix(length)) {
        length = std::max(label_length(text), std::max<std::size_t>(number_length(text), 1));
        const bool joins = text.front() == '+' || text.front() == '*';
        count += text.front() != ' ' && text.front() != '.' && !joins && !is_joined ? 1 : 0;
        is_joined = joins || (is_joined && text.front() == ' ');
    }
    return count;
}

/// Reads a string for operands of these ranks. Returns the problem. @param table  with lists that are long enough
template <class Table>
constexpr subscript_problem read_string(Table& table, std::string_view text, const std::size_t* ranks,
                                        std::size_t operands) {
    table.culprit_operand = operands;
    const std::string_view inputs = input_subscripts(text);
    const std::string_view output = text.substr(std::min(inputs.size() + 2, text.size()));
    if (find_outside(inputs, "->") < inputs.size() || find_outside(output, "->,") < output.size()) {
        return subscript_problem::arrow;
    }
    if (std::count(text.begin(), text.end(), '[') != std::count(text.begin(), text.end(), ']')) {
        return subscript_problem::function;
    }
    if (const std::size_t count = input_count(text); count != operands) {
        return count < operands ? subscript_problem::operand_count_more : subscript_problem::operand_count_less;
    }

    std::size_t& count = table.dimension_count;
    std::size_t widest_ellipsis = 0;
    std::string_view rest = inputs;
    for (std::size_t operand = 0; operand < operands; ++operand) {
        const std::string_view one = rest.substr(0, find_outside(rest, ","));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        const bool has_ellipsis = one.find('.') != std::string_view::npos;
        const std::size_t labels = spelled_dimensions(one);
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
    const std::size_t functions = table.function_count;
    const subscript_problem problem =
        read_subscript(table, is_implicit ? "..." : output, table.output, table.output_rank, widest_ellipsis);
    if (problem != subscript_problem::none) {
        return problem;
    }
    if (is_implicit) {
        const std::size_t spelled_once = table.output_rank;
        for (std::size_t label = 0; label < known; ++label) {
            const label_id* const dimensions = table.dimensions.data();
            const index_term* const terms = table.terms.data();
            const auto is_it = [&](const index_term& term) { return term.label == label_id(label); };
            const auto times = std::count(dimensions, dimensions + count, label_id(label)) +
                               std::count_if(terms, terms + table.functions[table.function_count].first_term, is_it);
            if (!table.is_ellipsis[label] && times == 1) {
                table.output[table.output_rank++] = label_id(label);
            }
        }
        std::sort(table.output.data() + spelled_once, table.output.data() + table.output_rank,
                  [&](label_id a, label_id b) {
                      return table.names[std::size_t(a)].view() < table.names[std::size_t(b)].view();
                  });
        return subscript_problem::none;
    }
    if (table.function_count > functions) {
        return subscript_problem::output_function;
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

}  // namespace detail

}  // namespace einparallel
