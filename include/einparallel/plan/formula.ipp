#pragma once
// What a vertex computes, as its user wrote it: a kernel's formula with the operands' names in it.

#include <einparallel/plan/words.hpp>

#include <einparallel/kernel/formula.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// A letter, digit, underscore or dot.
constexpr bool belongs_to_word(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '.';
}

/// A name that can stand in a formula: in quotes where it is no word.
EINPARALLEL_INLINE std::string name_in_formula(const std::string& name) {
    const bool is_word = !name.empty() && std::ranges::all_of(name, [](char letter) {
        return belongs_to_word(letter) || static_cast<unsigned char>(letter) >= 0x80;
    });
    const bool is_bracketed = name.size() > 2 && name.front() == '(' && name.find(')') == name.size() - 1;
    return is_word || is_bracketed ? name : "'" + name + "'";
}

/// `formula` with operand r's letter replaced by names[r].
EINPARALLEL_INLINE std::string with_names(std::string_view formula, const std::vector<std::string>& names) {
    std::vector<std::string> letters;
    for (std::size_t operand = 0; operand < names.size(); ++operand) {
        letters.push_back(operand_letter(operand));
    }
    std::string written;
    for (std::size_t begin = 0; begin < formula.size();) {
        std::size_t end = begin;
        while (end < formula.size() && belongs_to_word(formula[end])) {
            ++end;
        }
        if (end == begin) {
            written += formula[begin++];
            continue;
        }
        const std::string_view word = formula.substr(begin, end - begin);
        const auto letter = std::ranges::find(letters, word);
        const bool is_call = end < formula.size() && formula[end] == '(';
        if (letter != letters.end() && !is_call) {
            written += name_in_formula(names[static_cast<std::size_t>(letter - letters.begin())]);
        } else {
            written += word;
        }
        begin = end;
    }
    return written;
}

/// True for a + b, whose ⊕ needs parentheses to show how far it reaches; not for |a + b|.
EINPARALLEL_INLINE bool is_open_sum(std::string_view expression) {
    int depth = 0;
    bool between_bars = false;
    for (std::size_t position = 0; position + 2 < expression.size(); ++position) {
        const char letter = expression[position];
        depth += letter == '(' ? 1 : letter == ')' ? -1 : 0;
        between_bars = between_bars != (letter == '|');
        const std::string_view here = expression.substr(position, 3);
        if (depth == 0 && !between_bars && (here == " + " || here == " - ")) {
            return true;
        }
    }
    return false;
}

EINPARALLEL_INLINE std::string formula_text(const plan& shown, const planned_vertex& each) {
    if (each.origin == nullptr || each.origin->work == nullptr) {
        return "";
    }
    const std::string formula = each.origin->work->formula();
    const std::size_t blank = formula.find(' ');
    const std::string reduction = formula.substr(0, blank);
    const std::string expression = blank == std::string::npos ? formula : formula.substr(blank + 1);
    bool aggregates = false;
    for (std::size_t label = 0; label < each.work.own_labels(); ++label) {
        aggregates = aggregates || !each.work.form.in_output(static_cast<label_id>(label));
    }
    std::vector<std::string> names;
    for (const std::size_t input : each.inputs) {
        names.push_back(shown.vertices()[input].name);
    }
    const std::string written = with_names(expression, names);
    if (!aggregates || blank == std::string::npos) {
        return written;
    }
    return is_open_sum(expression) ? reduction + "(" + written + ")" : reduction + " " + written;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
