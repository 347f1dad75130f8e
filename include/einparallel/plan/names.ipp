#pragma once

#include <einparallel/plan/names.hpp>

#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace einparallel::EINPARALLEL_DETAIL {

/// The name of a value of an enumeration; the first one where there is none.
std::string name_at(auto value, std::initializer_list<const char*> names) {
    const auto place = static_cast<std::size_t>(value);
    return names.begin()[place < names.size() ? place : 0];
}

EINPARALLEL_INLINE std::string name_for(algorithm named) {
    return name_at(named, {"automatic", "c", "mn", "k", "master_worker"});
}
EINPARALLEL_INLINE std::string name_for(objective named) {
    return name_at(named, {"time", "paper", "bytes"});
}
EINPARALLEL_INLINE std::string name_for(method named) {
    return name_at(named, {"exact", "linearized"});
}
EINPARALLEL_INLINE std::string name_for(order named) {
    return name_at(named, {"fewest_operations", "best_plan"});
}
EINPARALLEL_INLINE std::string name_for(source_kind named) {
    return name_at(named, {"read by every rank", "on one rank", "distributed", "placeholder"});
}

EINPARALLEL_INLINE std::string printable(std::string text) {
    for (char& letter : text) {
        letter = static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f ? '?' : letter;
    }
    return text;
}

EINPARALLEL_INLINE std::string escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string written;
    for (const char letter : text) {
        const auto code = static_cast<unsigned char>(letter);
        if (code < 0x20) {
            written.append("\\u00").append({digits[code / 16], digits[code % 16]});
        } else {
            written.append(letter == '"' || letter == '\\' ? "\\" : "").append(1, letter);
        }
    }
    return written;
}

EINPARALLEL_INLINE std::string source_text(const planned_vertex& each) {
    return each.origin->origin != nullptr ? each.origin->origin->description() : "";
}

/// True for a byte that goes on with a letter of UTF-8.
constexpr bool continues_letter(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

EINPARALLEL_INLINE std::size_t letters_in(const std::string& text) {
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_letter));
}

EINPARALLEL_INLINE std::string three_digits(double value) {
    char written[64];
    const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return {written, std::to_chars(written, written + sizeof written, value, std::chars_format::fixed, decimals).ptr};
}

/// In the largest unit, each a thousand times the one before, of which there is at least one.
EINPARALLEL_INLINE std::string in_units(double value, std::initializer_list<const char*> units) {
    const char* const* unit = units.begin();
    for (; value >= 999.5 && unit + 1 != units.end(); ++unit) {
        value /= 1000;
    }
    return three_digits(value) + *unit;
}

EINPARALLEL_INLINE std::string counted(double value) {
    return value < 99'999.5 ? std::to_string(static_cast<long long>(value + 0.5))
                            : in_units(value / 1000, {"k", "M", "G", "T", "P", "E"});
}

EINPARALLEL_INLINE std::string duration_text(double seconds) {
    return seconds == 0 ? "0s" : in_units(seconds * 1e9, {"ns", "us", "ms", "s"});
}

/// Where letter number `letter` begins.
EINPARALLEL_INLINE std::size_t offset_of(const std::string& text, std::size_t letter) {
    std::size_t at = 0;
    for (; at < text.size() && (letter > 0 || continues_letter(text[at])); ++at) {
        letter -= continues_letter(text[at]) ? 0 : 1;
    }
    return at;
}

EINPARALLEL_INLINE std::string cell(std::string text, std::size_t width) {
    text = printable(std::move(text));
    const std::size_t letters = letters_in(text);
    const std::size_t before = (width - 2) / 2;
    return letters <= width ? text
                            : text.substr(0, offset_of(text, before)) + ".." +
                                  text.substr(offset_of(text, letters - (width - 2 - before)));
}

EINPARALLEL_INLINE std::string text_table::text() const {
    std::vector<std::size_t> width(alignment_.size(), 0);
    for (const std::vector<std::string>& row : rows_) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            width[column] = std::max(width[column], letters_in(row[column]));
        }
    }
    std::string written;
    for (const std::vector<std::string>& row : rows_) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column) {
            const std::string blanks(width[column] - letters_in(row[column]), ' ');
            line += column > 0 ? "  " : "";
            line += alignment_[column] == 'r' ? blanks + row[column] : row[column] + blanks;
        }
        written += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return written;
}

/// How many per second, of what takes `seconds_each`.
EINPARALLEL_INLINE std::string rate_text(double seconds_each, const char* unit) {
    return (seconds_each > 0 ? counted(std::min(1 / seconds_each, 1e21)) : "unlimited ") + unit + "/s";
}

EINPARALLEL_INLINE std::string machine_text(const machine& shown) {
    return duration_text(shown.seconds_per_message) + " per message, " + rate_text(shown.seconds_per_byte, "B") + ", " +
           rate_text(shown.seconds_per_flop, "flop") + ", " + three_digits(shown.operations_per_touch) +
           " flop in the time of a copied element, " + three_digits(100 * shown.exposed) +
           "% of the shorter of arithmetic and transfer exposed";
}

/// A letter, digit, underscore or dot.
constexpr bool belongs_to_word(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '.';
}

/// A name that can stand in a formula: in quotes where it is no word.
EINPARALLEL_INLINE std::string name_in_formula(const std::string& name) {
    const bool is_word = !name.empty() && all_in(name, [](char letter) {
        return belongs_to_word(letter) || static_cast<unsigned char>(letter) >= 0x80;
    });
    const bool is_bracketed = name.size() > 2 && name.front() == '(' && name.find(')') == name.size() - 1;
    return is_word || is_bracketed ? name : "'" + name + "'";
}

/// The formula of an einsum whose operands `name_of` names.
std::string formula_text(const vertex& einsum, const std::vector<std::size_t>& inputs, auto&& name_of) {
    std::vector<std::string> names;
    std::ranges::for_each(inputs, [&](std::size_t input) { names.push_back(name_in_formula(name_of(input))); });
    return einsum.work->program().formula(names, einsum.form.output.size() < einsum.form.names.size());
}

EINPARALLEL_INLINE std::string formula_text(const plan& shown, const planned_vertex& each) {
    return formula_text(*each.origin, each.inputs, [&](std::size_t input) { return shown.vertices()[input].name; });
}

/// With what it computes where the user has not named it.
std::string full_name(const vertex& of, const std::string& name, auto&& formula) {
    return of.is_input() || !of.name.empty() ? name : name + " = " + cell(formula(), 32);
}

EINPARALLEL_INLINE std::string full_name(const einsum_graph& graph, std::size_t number) {
    const auto name_of = [&](std::size_t each) { return graph.name_of(each); };
    const vertex& of = *graph.vertices[number];
    return full_name(of, name_of(number), [&] { return formula_text(of, graph.inputs[number], name_of); });
}

EINPARALLEL_INLINE std::string full_name(const plan& shown, const planned_vertex& each) {
    return full_name(*each.origin, each.name, [&] { return formula_text(shown, each); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
