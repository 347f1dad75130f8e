#pragma once

#include <einparallel/kernel/formula.hpp>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string operand_letter(std::size_t leaf) {
    constexpr std::string_view letters = "xyzuvwabcdeghijklmnopqrst";
    return leaf < letters.size() ? std::string(1, letters[leaf]) : "x" + std::to_string(leaf);
}

/// a + b, a*b: with the parentheses that are needed and no others.
EINPARALLEL_INLINE formula_part infix_part(std::string_view infix, formula_part a, formula_part b) {
    const bool is_product = infix == "*" || infix == "/";
    const formula_part::strength_type own = is_product ? formula_part::product : formula_part::sum;
    const bool ordered = infix != "+" && infix != "*";
    const auto in_parentheses = [](const std::string& text) { return "(" + text + ")"; };
    std::string text = a.strength < own ? in_parentheses(a.text) : std::move(a.text);
    text += is_product ? std::string(infix) : " " + std::string(infix) + " ";
    const bool apart = b.strength < own || (b.strength == own && ordered) || b.text.starts_with('-');
    text += apart ? in_parentheses(b.text) : b.text;
    return {std::move(text), own};
}

EINPARALLEL_INLINE formula_part call_part(std::string_view name, std::vector<formula_part> arguments) {
    if (name == "-" && arguments.size() == 1) {
        const bool apart = arguments[0].strength == formula_part::sum || arguments[0].text.starts_with('-');
        return {"-" + (apart ? "(" + arguments[0].text + ")" : arguments[0].text), formula_part::product};
    }
    if (name.find_first_not_of("+-*/<=>!") == std::string_view::npos && arguments.size() == 2) {
        return infix_part(name, std::move(arguments[0]), std::move(arguments[1]));
    }
    if (name == "id") {
        return std::move(arguments[0]);
    }
    if (name == "abs") {
        return {"|" + arguments[0].text + "|"};
    }
    if (name.ends_with('-') && arguments.size() == 2) {
        return {std::string(name.substr(0, name.size() - 1)) + "(" +
                infix_part("-", std::move(arguments[0]), std::move(arguments[1])).text + ")"};
    }
    std::string text = std::string(name) + "(";
    for (std::size_t position = 0; position < arguments.size(); ++position) {
        text += (position > 0 ? ", " : "") + arguments[position].text;
    }
    return {text + ")"};
}

EINPARALLEL_INLINE std::string written_number(double value, bool is_float) {
    char text[32];
    for (int digits = 6; digits <= 17; ++digits) {
        std::snprintf(text, sizeof(text), "%.*g", digits, value);
        const double read = std::strtod(text, nullptr);
        if (read == value || (is_float && static_cast<float>(read) == static_cast<float>(value))) {
            break;
        }
    }
    return text;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
