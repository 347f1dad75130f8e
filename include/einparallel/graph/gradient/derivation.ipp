#pragma once

#include <einparallel/graph/gradient/derivation.hpp>

#include <einparallel/notation/error.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <utility>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_SELDOM derivation::derivation(const op_program& program, std::span<const row_call> calls) {
    for_each_in(program.instructions(), [&](const op_instruction& each) {
        each.code == op_code::operand ? void(add_operand(each.type())) : void();
    });
    result_ = insert(program, calls, std::vector<term_id>(operands_));
}

EINPARALLEL_SELDOM term_id derivation::insert(const op_program& program, std::span<const row_call> calls,
                                              std::span<const term_id> operands) {
    const std::vector<op_instruction>& all = program.instructions();
    std::vector<term_id> known(all.size());
    for (std::size_t number = 0; number < all.size(); ++number) {
        const op_instruction& each = all[number];
        written made{each, {}};
        const element_type type = computed(each.type());
        made.made.kind = type.kind;
        made.made.bytes = std::uint8_t(type.bytes);
        for (const op_register source : sources_of(all, number)) {
            made.from.push_back(known[source]);
        }
        if (each.code == op_code::argument) {
            known[number] = made.from[0];
        } else if (each.code == op_code::operand) {
            known[number] = operands.front();
            operands = operands.subspan(1);
        } else {
            if (each.code == op_code::opaque) {
                made.name = program.name_of(each);
            }
            if (each.code != op_code::number && !calls.empty()) {
                made.rows = calls.front();
                calls = calls.subspan(1);
            }
            const bool is_of_half = each.code == op_code::cast && is_half_type(all[each.from[0]].type());
            if (is_of_half) {
                made.rows = {};  // its operand is a float here
            }
            const bool is_same = each.code == op_code::cast && type_of(made.from[0]) == type;
            known[number] = is_same ? made.from[0] : add(std::move(made));
        }
    }
    return known.back();
}

EINPARALLEL_SELDOM term_id derivation::add(written made) {
    std::fill(made.made.from.begin(), made.made.from.end(), 0);
    const auto is_same = [&](const written& each) {
        return each.made == made.made && each.from == made.from && each.rows.functor == made.rows.functor &&
               each.name == made.name && each.operand == made.operand;
    };
    const auto known = std::find_if(terms_.begin(), terms_.end(), is_same);
    const auto number = term_id(known - terms_.begin());
    if (known == terms_.end()) {
        terms_.push_back(std::move(made));
    }
    return number;
}

EINPARALLEL_SELDOM term_id derivation::add_operand(element_type stored) {
    const element_type type = computed(stored);
    written made{{op_code::operand, type.kind, std::uint8_t(type.bytes)}, {}};
    stored_.push_back(stored);
    made.operand = operands_.size();
    operands_.push_back(add(std::move(made)));
    return operands_.back();
}

EINPARALLEL_SELDOM term_id derivation::number(element_type type, std::complex<double> value) {
    written made{{op_code::number, type.kind, std::uint8_t(type.bytes)}, {}};
    const bool is_single = type == element_type_of<float>() || type == element_type_of<std::complex<float>>();
    made.made.bits = type.kind != 'f' && type.kind != 'c' ? bits_of(index(value.real()))
                     : is_single ? bits_of(std::complex<float>(float(value.real()), float(value.imag())))
                                 : bits_of(value);
    return add(std::move(made));
}

EINPARALLEL_SELDOM std::optional<std::complex<double>> derivation::value_of(term_id term) const {
    const op_instruction& made = terms_[term].made;
    std::optional<std::complex<double>> value;
    if (made.code == op_code::number) {
        with_element(made.type(), [&]<class T>(std::type_identity<T> /*type*/) {
            value = converted<std::complex<double>>(made.value<T>());
        });
    }
    return value;
}

/// What a call makes, where it is no call.
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

EINPARALLEL_SELDOM term_id derivation::call(op_code code, element_type result, std::span<const term_id> from) {
    if (const std::optional<term_id> made = simplified(code, result, from)) {
        return *made;
    }
    return add({{code, result.kind, std::uint8_t(result.bytes)}, {from.begin(), from.end()}});
}

EINPARALLEL_SELDOM std::vector<bool> derivation::reached_from(term_id term) const {
    std::vector<bool> reached(terms_.size());
    reached[term] = true;
    for (std::size_t number = term + 1; number-- > 0;) {
        for (std::size_t source = 0; reached[number] && source < terms_[number].from.size(); ++source) {
            reached[terms_[number].from[source]] = true;
        }
    }
    return reached;
}

EINPARALLEL_SELDOM std::vector<std::optional<term_id>> derivation::gradients(term_id result, term_id g) {
    const std::vector<bool> reached = reached_from(result);
    std::vector<std::optional<term_id>> all(reached.size());
    all[result] = g;
    for (term_id number = result + 1; number-- > 0;) {
        if (!all[number] || !reached[number] || terms_[number].from.empty()) {
            continue;
        }
        const std::vector<term_id> from = terms_[number].from;
        const std::vector<std::optional<term_id>> by_source = through(number, *all[number]);
        for (std::size_t source = 0; source < by_source.size(); ++source) {
            std::optional<term_id>& sum = all[from[source]];
            if (by_source[source] && value_of(*by_source[source]) != std::complex<double>(0)) {
                sum = sum ? plus(*sum, *by_source[source]) : *by_source[source];
            }
        }
    }
    std::vector<std::optional<term_id>> made(operands_.size());
    for (std::size_t operand = 0; operand < operands_.size(); ++operand) {
        if (operands_[operand] < all.size()) {
            made[operand] = all[operands_[operand]];
        }
    }
    return made;
}

EINPARALLEL_SELDOM factored_term derivation::factors_of(term_id term) const {
    factored_term made;
    if (const std::optional<std::complex<double>> value = value_of(term)) {
        made.scale = *value;
    } else if (terms_[term].made.code == op_code::multiply) {
        for (const term_id source : terms_[term].from) {
            const factored_term inner = factors_of(source);
            made.scale *= inner.scale;
            made.factors.insert(made.factors.end(), inner.factors.begin(), inner.factors.end());
        }
    } else {
        made.factors.push_back(term);
    }
    return made;
}

EINPARALLEL_SELDOM term_id derivation::product_of(const factored_term& product, element_type type) {
    term_id made = number(type, product.scale);
    for (const term_id factor : product.factors) {
        made = times(made, factor);
    }
    return made;
}

EINPARALLEL_SELDOM std::vector<std::size_t> derivation::operands_of(term_id term) const {
    const std::vector<bool> reached = reached_from(term);
    std::vector<std::size_t> read;
    for (std::size_t operand = 0; operand < operands_.size(); ++operand) {
        if (reached[operands_[operand]]) {
            read.push_back(operand);
        }
    }
    return read;
}

EINPARALLEL_SELDOM written_term derivation::write(term_id result, reduction by) const {
    written_term made;
    made.read = operands_of(result);
    std::vector<op_register> registers(terms_.size());
    std::vector<element_type> types;
    for (const std::size_t operand : made.read) {
        registers[operands_[operand]] = op_register(types.size());
        types.push_back(stored_[operand]);
    }
    made.program = op_program(by, types);
    for (const std::size_t operand : made.read) {
        const element_type type = computed(stored_[operand]);
        if (type != stored_[operand]) {
            op_register& at = registers[operands_[operand]];
            at = made.program.call({op_code::cast}, type, {}, {&at, 1});
            made.calls.emplace_back();
        }
    }
    const std::vector<bool> reached = reached_from(result);
    for (term_id number = 0; number <= result; ++number) {
        const written& each = terms_[number];
        if (!reached[number] || each.made.code == op_code::operand) {
            continue;
        }
        if (each.made.code == op_code::number) {
            registers[number] = made.program.number(each.made.type(), each.made.bits);
            continue;
        }
        std::vector<op_register> from;
        for (const term_id source : each.from) {
            from.push_back(registers[source]);
        }
        // Functors of one name may be any: a term with one is like itself only.
        const op_function function{each.made.code, each.made.code == op_code::opaque, false, each.name};
        registers[number] = made.program.call(function, each.made.type(), type_of(each.from[0]), from);
        made.calls.push_back(each.rows);
        if (each.keeps != nullptr) {
            made.keeps.push_back(each.keeps);
        }
    }
    return made;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
