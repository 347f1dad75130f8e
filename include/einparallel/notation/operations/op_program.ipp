#pragma once
// Makes op programs, writes them as text, reads this text, and examines them.

#include <einparallel/notation/operations/op_program.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::vector<op_register> sources_of(const std::vector<op_instruction>& all, std::size_t number) {
    const op_instruction& each = all[number];
    std::vector<op_register> sources(each.from.begin(), each.from.begin() + arity_of(each.code));
    for (op_register left = each.code == op_code::opaque ? each.from[0] : 0; left > 0; --left) {
        sources.push_back(op_register(number) - left);
    }
    return sources;
}

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE op_program::op_program(reduction by, std::span<const element_type> operands, bool has_state)
    : reduction_(by), reduction_has_state_(has_state), operands_(operands.size()) {
    for (const element_type type : operands) {
        push(op_code::operand, type);
    }
}

EINPARALLEL_INLINE op_instruction& op_program::push(op_code code, element_type type, std::array<op_register, 3> from) {
    instructions_.push_back({code, type.kind, std::uint8_t(type.bytes), false, from, {}});
    return instructions_.back();
}

EINPARALLEL_INLINE op_register op_program::number(element_type type, detail::number_bits bits) {
    push(op_code::number, type).bits = bits;
    return last();
}

EINPARALLEL_INLINE op_register op_program::as(element_type type, op_register from) {
    const element_type held = instructions_[from].type();
    if (held == type || held.kind == 'V' || type.kind == 'V') {
        return from;
    }
    push(op_code::cast, type, {from});
    return last();
}

EINPARALLEL_INLINE op_register op_program::call(const detail::op_function& function, element_type result,
                                                element_type compared, std::span<const op_register> arguments) {
    std::array<op_register, 3> from{};
    if (function.code == op_code::opaque) {
        for (const op_register each : arguments) {
            push(op_code::argument, instructions_[each].type(), {each});
        }
        const auto known = detail::find_in(names_, function.name);
        from = {op_register(arguments.size()), op_register(known - names_.begin()), function.distributes ? 1U : 0U};
        if (known == names_.end()) {
            names_.emplace_back(function.name);
        }
    } else if (function.code == op_code::cast) {
        return as(result, arguments[0]);
    } else {
        const detail::type_role role = detail::operation_of(function.code).role;
        const bool as_they_are = role == detail::type_role::magnitude || role == detail::type_role::positions;
        const element_type computed = detail::compares(function.code) ? compared : result;
        for (std::size_t position = 0; position < arguments.size(); ++position) {
            const bool is_condition = role == detail::type_role::chooses && position == 0;
            from[position] = as_they_are ? arguments[position]
                                         : as(is_condition ? element_type_of<bool>() : computed, arguments[position]);
        }
    }
    push(function.code, result, from).has_state = function.has_state;
    return last();
}

EINPARALLEL_INLINE bool op_program::takes_summands(std::uint64_t operands) const {
    // How a register depends on the operands that are given as summands: not at all, so that a sum of them goes through
    // it summand by summand (linear), or in any other way.
    enum class dependence : std::uint8_t { none, linear, other };
    std::vector<dependence> known;
    const detail::reduction_row& row = detail::reduction_row_of(reduction_);
    // f(x ⊕ x', y ⊕ y') = f(x, y) ⊕ f(x', y'): ⊕ itself, minus, and maps that sums pass through.
    const auto is_additive = [&](const op_instruction& each) {
        const bool is_linear =
            each.code == op_code::subtract || each.code == op_code::negate || each.code == op_code::conjugate;
        return each.code == row.combine || each.code == op_code::argument ||
               (is_linear && reduction_ == reduction::sum && each.kind != 'b');
    };
    // Division is not among them, nor subtraction under max: with 0, or with an infinity that stands for "no edge",
    // single summands give a NaN where their sum gives a number.
    const auto distributes = [&](const op_instruction& each) {
        return each.code == op_code::opaque ? each.from[2] != 0 : each.code == row.distributed;
    };
    for (std::size_t number = 0; number < instructions_.size(); ++number) {
        const op_instruction& each = instructions_[number];
        if (each.code == op_code::operand) {
            known.push_back(number < 64 && ((operands >> number) & 1U) != 0 ? dependence::linear : dependence::none);
            continue;
        }
        std::size_t of[] = {0, 0, 0};  // registers by dependence
        bool same_type = true;
        for (const op_register source : detail::sources_of(instructions_, number)) {
            ++of[std::size_t(known[source])];
            same_type = same_type && instructions_[source].type() == each.type();
        }
        const auto [none, linear, other] = of;
        known.push_back(linear + other == 0 ? dependence::none
                        : other == 0 && same_type &&
                                ((none == 0 && is_additive(each)) || (linear == 1 && distributes(each)))
                            ? dependence::linear
                            : dependence::other);
    }
    return reduction_ != reduction::unknown && !known.empty() && known.back() == dependence::linear;
}

EINPARALLEL_INLINE std::string op_program::text() const {
    constexpr std::string_view sixteen = "0123456789abcdef";
    std::string written(detail::reduction_row_of(reduction_).word);
    written += reduction_has_state_ ? " state" : "";
    for (const op_instruction& each : instructions_) {
        written.append("; ").append(detail::operation_of(each.code).word).append(1, ' ').append(1, each.kind);
        written += std::to_string(each.bytes);
        for (std::size_t component = 0; each.code == op_code::number && component < (each.kind == 'c' ? 2U : 1U);
             ++component) {
            std::array<char, 16> digits{};
            char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), each.bits[component], 16).ptr;
            written.append(1, ' ').append(digits.data(), end);
        }
        for (int source = 0; source < arity_of(each.code); ++source) {
            written += ' ' + std::to_string(each.from[std::size_t(source)]);
        }
        if (each.code == op_code::opaque) {
            written += ' ' + std::to_string(each.from[0]);
            written.append(each.has_state ? " state" : "").append(each.from[2] != 0 ? " distributes" : "").append(" ");
            for (const char letter : name_of(each)) {
                const bool is_plain =
                    letter > ' ' && letter < 0x7f && std::string_view("\"\\;%").find(letter) == std::string_view::npos;
                const auto code = static_cast<unsigned char>(letter);
                is_plain ? written.append(1, letter)
                         : written.append(1, '%').append(1, sixteen[code / 16]).append(1, sixteen[code % 16]);
            }
        }
    }
    return written;
}

/// Appends the instruction that `statement`, a part of text(), describes. Returns false where it describes none that
/// may follow here.
EINPARALLEL_INLINE bool op_program::read(std::string_view statement) {
    const auto word = [&] { return detail::taken(statement); };
    const auto number = [](std::string_view digits, auto& into, int base) {
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into, base);
        return !digits.empty() && error == std::errc() && end == digits.data() + digits.size();
    };
    const auto known = detail::find_in(detail::operations, word(), &detail::operation::word);
    const auto code = static_cast<op_code>(known - detail::operations.begin());
    const std::string_view shown = word();
    element_type type{shown.empty() ? ' ' : shown[0], 0};
    if (known == detail::operations.end() || shown.empty() || !number(shown.substr(1), type.bytes, 10) ||
        !(type == element_type{'V', 0} || detail::is_element_type(type))) {
        return false;
    }
    const std::size_t before = instructions_.size();
    if (code == op_code::operand) {
        push(code, type);
        return operands_++ == before && statement.empty();
    }
    if (code == op_code::number) {
        detail::number_bits bits{};
        const bool read = number(word(), bits[0], 16) && (type.kind != 'c' || number(word(), bits[1], 16));
        this->number(type, bits);
        return read && statement.empty();
    }
    if (code == op_code::opaque) {
        op_register count = 0;
        bool read = number(word(), count, 10) && count <= before;
        for (op_register each = 1; read && each <= count; ++each) {
            read = instructions_[before - each].code == op_code::argument;
        }
        detail::op_function function;
        function.has_state = statement.starts_with("state ") && !word().empty();
        function.distributes = statement.starts_with("distributes ") && !word().empty();
        std::string name;
        for (; read && !statement.empty(); statement.remove_prefix(1)) {
            unsigned char letter = static_cast<unsigned char>(statement[0]);
            if (letter == '%') {
                read = number(statement.substr(1, 2), letter, 16) && statement.size() > 2;
                statement.remove_prefix(read ? 2 : 0);
            }
            name += char(letter);
        }
        function.name = name;
        call(function, type, {}, {});
        instructions_.back().from[0] = count;
        return read;
    }
    std::array<op_register, 3> from{};
    std::array<element_type, 3> of{};
    const auto arity = std::size_t(arity_of(code));
    for (std::size_t position = 0; position < arity; ++position) {
        if (!number(word(), from[position], 10) || from[position] >= before) {
            return false;
        }
        of[position] = instructions_[from[position]].type();
    }
    const element_type computed = of[code == op_code::choice ? 1 : 0];
    const bool fits =
        code == op_code::argument   ? of[0] == type
        : code == op_code::cast     ? of[0] != type && (of[0].kind != 'c' || type.kind == 'c' || type.kind == 'b')
        : code == op_code::absolute ? type == (computed.kind == 'c' ? element_type{'f', computed.bytes / 2} : computed)
        : code == op_code::position ? of[1] == computed && of[2] == type && (type.kind == 'i' || type.kind == 'u')
                                    : !detail::compares(code) || type == element_type_of<bool>();
    if (!fits || !detail::computes_in(code, computed) || !statement.empty()) {
        return false;
    }
    if (code == op_code::argument) {
        push(code, type, from);
    } else {
        call({code}, type, computed, std::span(from).first(arity));
    }
    return instructions_.size() == before + 1;  // with no cast that the text does not say
}

EINPARALLEL_INLINE op_program op_program::parse(std::string_view text) {
    op_program made;
    std::string_view statement = detail::taken(text, "; ");
    made.reduction_has_state_ = statement.ends_with(" state");
    statement = statement.substr(0, statement.find(' '));
    const auto known = detail::find_in(detail::reductions, statement, &detail::reduction_row::word);
    made.reduction_ = static_cast<reduction>(known - detail::reductions.begin());
    bool read = known != detail::reductions.end() && !text.empty();
    while (read && !text.empty()) {
        statement = detail::taken(text, "; ");
        read = made.read(statement);
    }
    detail::require(read, {"op program: '", statement, "' is no instruction that can stand there"});
    return made;
}

}  // namespace einparallel
