#pragma once
// Derivatives: those of operations are in their table, a functor of the application's says its own.

#include <einparallel/graph/gradient/derivation.ipp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// The simpler term that a call is equal to; none where it has to stay a call.
EINPARALLEL_SELDOM std::optional<term_id> derivation::simplified(op_code code, element_type result,
                                                                 std::span<const term_id> from) {
    const auto known = [&](std::size_t position) {
        return position < from.size() ? value_of(from[position]) : std::nullopt;
    };
    const bool x = known(0).has_value();
    const bool y = known(1).has_value();
    const std::complex<double> a = known(0).value_or(0);
    const std::complex<double> b = known(1).value_or(0);
    const auto is = [](bool is_known, std::complex<double> value, double what) {
        return is_known && value == std::complex<double>(what);
    };
    switch (code) {
        case op_code::multiply:
            if (x && y) {
                return number(result, a * b);
            }
            if (is(x, a, 1) || is(y, b, 0)) {
                return from[1];
            }
            if (is(y, b, 1) || is(x, a, 0)) {
                return from[0];
            }
            if (y) {
                return call(code, result, {from[1], from[0]});
            }
            if (const std::vector<term_id> other = terms_[from[1]].from;
                x && terms_[from[1]].made.code == code && value_of(other[0])) {
                return times(number(result, a * value_of(other[0]).value_or(1)), other[1]);
            }
            return std::nullopt;
        case op_code::add: {
            // As multiples of terms.
            const auto scale_of = [&](term_id term) {
                const std::vector<term_id>& factors = terms_[term].from;
                return terms_[term].made.code == op_code::multiply ? value_of(factors[0]) : std::nullopt;
            };
            const auto scaled_by = [&](term_id term) { return scale_of(term) ? terms_[term].from[1] : term; };
            if (!x && scaled_by(from[0]) == scaled_by(from[1])) {
                const std::complex<double> sum = scale_of(from[0]).value_or(1) + scale_of(from[1]).value_or(1);
                return times(number(result, sum), scaled_by(from[0]));
            }
            return x && y        ? std::optional(number(result, a + b))
                   : is(x, a, 0) ? std::optional(from[1])
                   : is(y, b, 0) ? std::optional(from[0])
                                 : std::nullopt;
        }
        case op_code::subtract:
            return x && y ? std::optional(number(result, a - b)) : is(y, b, 0) ? std::optional(from[0]) : std::nullopt;
        case op_code::divide:
            return x && y        ? std::optional(number(result, a / b))
                   : is(x, a, 0) ? std::optional(from[0])
                   : y           ? std::optional(times(number(result, 1.0 / b), from[0]))
                                 : std::nullopt;
        case op_code::negate:
            return scaled(-1, from[0]);
        case op_code::conjugate:
            return x                                   ? std::optional(number(result, std::conj(a)))
                   : result.kind != 'c'                ? std::optional(from[0])
                   : terms_[from[0]].made.code == code ? std::optional(term_id(terms_[from[0]].from[0]))
                                                       : std::nullopt;
        case op_code::cast:
            return result == type_of(from[0]) ? std::optional(from[0])
                   : x                        ? std::optional(number(result, a))
                                              : std::nullopt;
        case op_code::power:
            return is(y, b, 1) ? std::optional(from[0]) : is(y, b, 0) ? std::optional(number(result, 1)) : std::nullopt;
        case op_code::log:
            return x ? std::optional(number(result, std::log(a))) : std::nullopt;
        case op_code::equal:
            return x && y ? std::optional(number(result, a == b ? 1 : 0)) : std::nullopt;
        case op_code::choice:
            return x                    ? std::optional(from[a != 0.0 ? 1 : 2])
                   : from[1] == from[2] ? std::optional(from[1])
                                        : std::nullopt;
        default:
            return std::nullopt;
    }
}

/// The term that a text in the table describes: words in postfix order. `values` are terms for its letters. Its numbers
/// have type `type`.
EINPARALLEL_SELDOM term_id derivation::evaluated(std::string_view text, element_type type,
                                                 std::span<const std::pair<char, term_id>> values) {
    std::vector<term_id> stack;
    while (!text.empty()) {
        const std::string_view word = taken(text);
        const auto value = find_in(values, word[0], &std::pair<char, term_id>::first);
        double number = 0;
        if (word.size() == 1 && value != values.end()) {
            stack.push_back(value->second);
        } else if (std::from_chars(word.data(), word.data() + word.size(), number).ec == std::errc()) {
            stack.push_back(this->number(type, number));
        } else {
            const operation& called = *find_in(operations, word, &operation::word);
            const std::size_t first = stack.size() - called.arity;
            const std::vector<term_id> from(stack.begin() + std::ptrdiff_t(first), stack.end());
            stack.resize(first);
            const element_type result = called.role == type_role::compares ? element_type_of<bool>() : type;
            stack.push_back(called.code == op_code::subtract ? plus(from[0], scaled(-1, from[1]))
                                                             : call(called.code, result, from));
        }
    }
    return stack.back();
}

/// g · ∂term/∂argument for each argument; none where it is 0.
EINPARALLEL_SELDOM std::vector<std::optional<term_id>> derivation::through(term_id number, term_id g) {
    const written z = terms_[number];
    const element_type type = z.made.type();
    const auto is_continuous = [&](term_id which) { return type_of(which).kind == 'f' || type_of(which).kind == 'c'; };
    std::vector<std::optional<term_id>> all(z.from.size());
    if (!is_continuous(number)) {
        return all;
    }
    const op_code code = z.made.code;
    if (code == op_code::cast) {
        if (is_continuous(z.from[0])) {
            require(type.kind == type_of(z.from[0]).kind,
                    {"complex numbers that are made of real ones have no derivative"});
            all[0] = call(op_code::cast, type_of(z.from[0]), {g});
        }
        return all;
    }
    if (code == op_code::opaque) {
        require(z.rows.derivative != nullptr,
                {"the functor ", z.name, " has no derivative() that returns the functor of its derivative"});
        for (std::size_t argument = 0; argument < all.size(); ++argument) {
            if (is_continuous(z.from[argument]) && !value_of(z.from[argument])) {
                const derived_call derived = z.rows.derivative(z.rows.functor, argument);
                written made = z;
                made.rows = derived.call;
                made.keeps = derived.functor;
                made.name = z.name + "'" + (all.size() > 1 ? std::to_string(argument + 1) : "");
                const term_id factor = add(std::move(made));
                require(type_of(z.from[argument]) == type,
                        {"the functor ", z.name, " makes elements of another type than its argument"});
                all[argument] = times(g, call(op_code::conjugate, type, {factor}));
            }
        }
        return all;
    }
    std::vector<std::pair<char, term_id>> values{
        {'g', g}, {'y', number}, {'z', number == result_ ? read_result_.value_or(number) : number}};
    for (std::size_t argument = 0; argument < z.from.size(); ++argument) {
        values.emplace_back("abc"[argument], z.from[argument]);
    }
    const bool is_size = code == op_code::absolute && type_of(z.from[0]).kind == 'c';
    for (std::size_t argument = 0; argument < z.from.size(); ++argument) {
        const std::string_view text =
            is_size ? "g cast a 0 == 0 a y cast / where *" : operation_of(code).derivatives[argument];
        if (!text.empty() && !value_of(z.from[argument])) {
            all[argument] = evaluated(text, is_size ? type_of(z.from[0]) : type, values);
        }
    }
    return all;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
