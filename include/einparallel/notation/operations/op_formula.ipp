#pragma once
// Op programs as formulas: |x - y|, x/(y + z).

#include <einparallel/notation/operations/op_program.hpp>

#include <einparallel/notation/operations/op_program.ipp>
#include <einparallel/notation/search_range.hpp>

#include <charconv>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// An expression as text, and how strongly its loosest operator binds.
struct formula_term {
    enum strength_type { sum, product, whole };

    std::string text;
    strength_type strength = whole;
};

/// The name of operand number `leaf` in a formula: a letter, but not f, which names functions without a name.
EINPARALLEL_INLINE std::string operand_letter(std::size_t leaf) {
    constexpr std::string_view letters = "xyzuvwabcdeghijklmnopqrst";
    return leaf < letters.size() ? std::string(1, letters[leaf]) : std::string("x").append(std::to_string(leaf));
}

/// The text of a + b or a*b, with only the parentheses that it needs.
EINPARALLEL_INLINE formula_term infix_term(std::string_view infix, formula_term a, formula_term b) {
    const bool is_product = infix == "*" || infix == "/" || infix == "%";
    const formula_term::strength_type own = is_product ? formula_term::product : formula_term::sum;
    const bool ordered = infix != "+" && infix != "*";
    const auto in_parentheses = [](const std::string& text) { return std::string("(").append(text).append(")"); };
    std::string text = a.strength < own ? in_parentheses(a.text) : std::move(a.text);
    text.append(is_product ? "" : " ").append(infix).append(is_product ? "" : " ");
    const bool apart = b.strength < own || (b.strength == own && ordered) || b.text.starts_with('-');
    text += apart ? in_parentheses(b.text) : b.text;
    return {std::move(text), own};
}

/// The text of a call: name(a, b, …), or |a|, −a, a + b where that is usual. A name that ends in `-` is a function of
/// the difference of its two arguments.
EINPARALLEL_INLINE formula_term call_term(std::string_view name, std::vector<formula_term> arguments) {
    if (name == "neg") {
        const bool apart = arguments[0].strength == formula_term::sum || arguments[0].text.starts_with('-');
        return {"-" + (apart ? "(" + arguments[0].text + ")" : arguments[0].text), formula_term::product};
    }
    if (name.find_first_not_of("+-*/%<=>!") == std::string_view::npos && arguments.size() == 2) {
        return infix_term(name, std::move(arguments[0]), std::move(arguments[1]));
    }
    if (name == "abs") {
        return {"|" + arguments[0].text + "|"};
    }
    if (name.ends_with('-') && arguments.size() == 2) {
        return {std::string(name.substr(0, name.size() - 1)) + "(" +
                infix_term("-", std::move(arguments[0]), std::move(arguments[1])).text + ")"};
    }
    std::string text = std::string(name) + "(";
    for (std::size_t position = 0; position < arguments.size(); ++position) {
        text += (position > 0 ? ", " : "") + arguments[position].text;
    }
    return {text + ")"};
}

/// A number with six digits at most, or more where these are needed to tell it from others of its type: 0.5, 2, 1e-09,
/// (0,1).
EINPARALLEL_INLINE std::string written_number(const op_instruction& number) {
    const auto written = [](auto value) {
        std::array<char, 32> text{};
        char* end = text.data();
        auto read = value;
        for (int digits = 6; digits <= 17 && (digits == 6 || read != value); ++digits) {
            end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits).ptr;
            std::from_chars(text.data(), end, read);
        }
        return std::string(text.data(), end);
    };
    std::string text;
    with_element(number.type(), [&]<class T>(std::type_identity<T> /*type*/) {
        const T value = number.value<T>();
        if constexpr (is_complex<T>::value) {
            text = "(" + written(value.real()) + "," + written(value.imag()) + ")";
        } else {
            text = written(static_cast<std::conditional_t<std::is_integral_v<T>, double, computed_t<T>>>(value));
        }
    });
    return text;
}

/// The formula of ⊗. Operands without a name get a letter.
EINPARALLEL_INLINE formula_term formula_of(const op_program& shown, std::span<const std::string> names) {
    std::vector<formula_term> terms;
    const std::vector<op_instruction>& instructions = shown.instructions();
    for (std::size_t number = 0; number < instructions.size(); ++number) {
        const op_instruction& each = instructions[number];
        const auto arguments =
            list_of(sources_of(instructions, number), [&](op_register source) { return terms[source]; });
        switch (each.code) {
            case op_code::operand:
                terms.push_back({number < names.size() ? names[number] : operand_letter(number)});
                break;
            case op_code::number:
                terms.push_back({written_number(each)});
                break;
            case op_code::argument:
            case op_code::cast:
                terms.push_back(std::move(arguments[0]));
                break;
            default:
                terms.push_back(
                    call_term(each.code == op_code::opaque ? shown.name_of(each) : operation_of(each.code).word,
                              std::move(arguments)));
        }
    }
    return terms.empty() ? formula_term() : std::move(terms.back());
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE std::string op_program::formula() const {
    return std::string(detail::reduction_row_of(reduction_).word) + " " + detail::formula_of(*this, {}).text;
}

EINPARALLEL_INLINE std::string op_program::formula(std::span<const std::string> names, bool aggregates) const {
    const detail::formula_term shown = detail::formula_of(*this, names);
    const std::string by(aggregates ? detail::reduction_row_of(reduction_).word : "");
    return !aggregates                                   ? shown.text
           : shown.strength == detail::formula_term::sum ? by + "(" + shown.text + ")"
                                                         : by + " " + shown.text;
}

}  // namespace einparallel
