#pragma once
// The derivative of every operation.

#include <einparallel/graph/gradient/derivation.hpp>

#include <einparallel/notation/error.hpp>

#include <numbers>
#include <string>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

/// g · ∂term/∂argument, by argument; none where there is nothing.
EINPARALLEL_SELDOM std::vector<std::optional<term_id>> derivation::through(term_id number, term_id g) {
    const written z = terms_[number];
    const element_type type = z.made.type();
    const term_id a = z.from[0];
    const term_id b = z.from.size() > 1 ? z.from[1] : a;
    const auto is_continuous = [&](term_id which) { return type_of(which).kind == 'f' || type_of(which).kind == 'c'; };
    if (!is_continuous(number)) {
        return {};
    }
    const term_id result = number == result_ ? read_result_.value_or(number) : number;
    const auto value = [&](double of) { return this->number(type, of); };
    const auto over = [&](term_id x, term_id y) { return call(op_code::divide, type, {x, y}); };
    const auto conjugated = [&](term_id x) { return call(op_code::conjugate, type, {x}); };
    const auto of = [&](op_code code, term_id x) { return call(code, type, {x}); };
    const auto truth = [&](op_code code, term_id x, term_id y) { return call(code, element_type_of<bool>(), {x, y}); };
    const auto chosen = [&](term_id when, term_id x, term_id y) { return call(op_code::choice, type, {when, x, y}); };
    const auto less_one = [&](term_id x) { return plus(value(1), scaled(-1, x)); };
    switch (z.made.code) {
        case op_code::cast:
            if (is_continuous(a)) {
                require(type.kind == type_of(a).kind, {"complex numbers made of real ones"});
                return {call(op_code::cast, type_of(a), {g})};
            }
            return {};
        case op_code::negate:
            return {scaled(-1, g)};
        case op_code::absolute:
            if (type_of(a).kind == 'c') {
                const element_type complex = type_of(a);
                const term_id size = call(op_code::cast, complex, {number});
                const term_id along = call(op_code::divide, complex, {a, size});
                const term_id zero = this->number(complex, 0);
                const term_id is_zero = truth(op_code::equal, a, zero);
                return {
                    times(call(op_code::cast, complex, {g}), call(op_code::choice, complex, {is_zero, zero, along}))};
            }
            return {times(g, of(op_code::sign, a))};
        case op_code::conjugate:
            return {conjugated(g)};
        case op_code::floor:
        case op_code::round:
        case op_code::sign:
            return {};
        case op_code::relu:
            return {chosen(truth(op_code::greater, result, value(0)), g, value(0))};
        case op_code::exp:
            return {times(g, conjugated(result))};
        case op_code::shifted_exponential:  // of a softmax, which does not depend on what is subtracted
            return {times(g, result), std::nullopt};
        case op_code::log:
            return {over(g, conjugated(a))};
        case op_code::sqrt:
            return {over(scaled(.5, g), conjugated(result))};
        case op_code::tanh:
            return {times(g, conjugated(less_one(times(result, result))))};
        case op_code::sin:
            return {times(g, conjugated(of(op_code::cos, a)))};
        case op_code::cos:
            return {times(g, conjugated(scaled(-1, of(op_code::sin, a))))};
        case op_code::tan:
            return {times(g, conjugated(plus(value(1), times(result, result))))};
        case op_code::erf:
            return {times(g, scaled(2 * std::numbers::inv_sqrtpi, of(op_code::exp, scaled(-1, times(a, a)))))};
        case op_code::sigmoid:
            return {times(g, conjugated(times(result, less_one(result))))};
        case op_code::silu: {
            const term_id s = of(op_code::sigmoid, a);
            return {times(g, conjugated(plus(s, times(number, less_one(s)))))};
        }
        case op_code::gelu: {
            const term_id below = scaled(.5, plus(value(1), of(op_code::erf, scaled(std::numbers::sqrt2 / 2, a))));
            const term_id density =
                scaled(std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2, of(op_code::exp, scaled(-.5, times(a, a))));
            return {times(g, plus(below, times(a, density)))};
        }
        case op_code::add:
            return {g, g};
        case op_code::subtract:
            return {g, scaled(-1, g)};
        case op_code::multiply:
            return {times(g, conjugated(b)), times(g, conjugated(a))};
        case op_code::divide:
            return {over(g, conjugated(b)), scaled(-1, times(g, conjugated(over(number, b))))};
        case op_code::larger:
        case op_code::smaller: {
            const term_id second = truth(z.made.code == op_code::larger ? op_code::less : op_code::greater, a, b);
            return {chosen(second, value(0), g), chosen(second, g, value(0))};
        }
        case op_code::power: {
            const auto raised = [&](term_id x, term_id y) { return call(op_code::power, type, {x, y}); };
            const std::optional<std::complex<double>> exponent = value_of(b);
            const auto lower = [&] {
                return exponent == std::complex<double>(2)   ? a
                       : exponent == std::complex<double>(1) ? value(1)
                       : exponent                            ? raised(a, this->number(type, *exponent - 1.0))
                                                             : raised(a, plus(value(-1), b));
            };
            const std::optional<std::complex<double>> base = value_of(a);
            const auto logarithm = [&] {
                return base ? this->number(type, *base == 0.0 ? 0.0 : std::log(*base))
                            : chosen(truth(op_code::equal, a, value(0)), value(0), of(op_code::log, a));
            };
            return {base ? std::nullopt : std::optional(times(g, conjugated(times(b, lower())))),
                    exponent ? std::nullopt : std::optional(times(g, conjugated(times(number, logarithm()))))};
        }
        case op_code::angle: {
            const term_id square = plus(times(a, a), times(b, b));
            return {times(g, over(b, square)), times(g, over(scaled(-1, a), square))};
        }
        case op_code::choice:
            return {std::nullopt, chosen(a, g, value(0)), chosen(a, value(0), g)};
        default: {
            require(z.rows.derivative != nullptr,
                    {"the functor ", z.name, " has no derivative() that returns the functor of its derivative"});
            std::vector<std::optional<term_id>> all(z.from.size());
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
                    all[argument] = times(g, conjugated(factor));
                }
            }
            return all;
        }
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
