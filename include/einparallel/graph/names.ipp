#pragma once

#include <einparallel/graph/names.hpp>

#include <einparallel/notation/label.hpp>
#include <einparallel/notation/search_range.hpp>

namespace einparallel::EINPARALLEL_DETAIL {

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

EINPARALLEL_INLINE std::size_t letters_in(const std::string& text) {
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

/// Where letter number `letter` begins.
EINPARALLEL_INLINE std::size_t offset_of(const std::string& text, std::size_t letter) {
    std::size_t at = 0;
    for (; at < text.size() && (letter > 0 || continues_character(text[at])); ++at) {
        letter -= continues_character(text[at]) ? 0 : 1;
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

/// A letter, digit, underscore or dot.
constexpr bool belongs_to_word(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '.';
}

EINPARALLEL_INLINE std::string name_in_formula(const std::string& name) {
    const bool is_word = !name.empty() && all_in(name, [](char letter) {
        return belongs_to_word(letter) || static_cast<unsigned char>(letter) >= 0x80;
    });
    const bool is_bracketed = name.size() > 2 && name.front() == '(' && name.find(')') == name.size() - 1;
    return is_word || is_bracketed ? name : "'" + name + "'";
}

EINPARALLEL_INLINE std::string full_name(const einsum_graph& graph, std::size_t number) {
    const auto name_of = [&](std::size_t each) { return graph.name_of(each); };
    const vertex& of = *graph.vertices[number];
    return full_name(of, name_of(number), [&] { return formula_text(of, graph.inputs[number], name_of); });
}

}  // namespace einparallel::EINPARALLEL_DETAIL
