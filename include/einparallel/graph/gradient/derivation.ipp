#pragma once
// The ⊗ of a vertex as terms, each of which is kept once. Derivatives add terms to those of the program.

#include <einparallel/kernel/row_program.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/notation/search_range.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Number of a term.
using term_id = op_register;

/// A product of a number and terms: scale · x · y · …
struct factored_term {
    std::complex<double> scale = 1;
    std::vector<term_id> factors;
};

/// A term as the ⊗ of a vertex of its own. Operand r of its program is operand number read[r] of the derivation.
struct written_term {
    op_program program;
    std::vector<row_call> calls;                     ///< as join_work_of takes them
    std::vector<std::shared_ptr<const void>> keeps;  ///< owners of the functors that the calls refer to
    std::vector<std::size_t> read;
};

/// Terms made of operands, numbers and calls. Calls with numbers only are computed at once. Products with 0 or 1 are
/// replaced by what they are equal to.
class derivation {
public:
    derivation() = default;
    /// The terms of a program, whose operand r is operand r of the derivation. `calls`: its rows, where they are known.
    EINPARALLEL_SELDOM derivation(const op_program& program, std::span<const row_call> calls) {
        for_each_in(program.instructions(), [&](const op_instruction& each) {
            each.code == op_code::operand ? void(add_operand(each.type())) : void();
        });
        result_ = insert(program, calls, std::vector<term_id>(operands_));
    }

    /// The term that is the program's result.
    [[nodiscard]] term_id result() const { return result_; }
    /// Adds the terms of another program whose operands are the terms `operands`. Returns the term of its result.
    EINPARALLEL_SELDOM term_id insert(const op_program& program, std::span<const row_call> calls,
                                      std::span<const term_id> operands) {
        const std::vector<op_instruction>& all = program.instructions();
        std::vector<term_id> known(all.size());
        for (std::size_t number = 0; number < all.size(); ++number) {
            const op_instruction& each = all[number];
            written made{each, {}};
            const element_type type = computed(each.type());
            made.made.kind = type.kind;
            made.made.bytes = std::uint8_t(type.bytes);
            made.from = list_of(sources_of(all, number), [&](op_register source) { return known[source]; });
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
                if (each.code == op_code::cast && is_half_type(all[each.from[0]].type())) {
                    made.rows = {};  // its operand is a float here
                }
                const bool is_same = each.code == op_code::cast && type_of(made.from[0]) == type;
                known[number] = is_same ? made.from[0] : add(std::move(made));
            }
        }
        return known.back();
    }

    /// Sets the term that stands for the program's result in derivatives that use it, as that of exp does.
    void read_result(term_id as) { read_result_ = as; }
    [[nodiscard]] element_type type_of(term_id term) const { return terms_[term].made.type(); }
    /// The term of operand number `operand`.
    [[nodiscard]] term_id operand(std::size_t operand) const { return operands_[operand]; }

    /// Adds an operand and returns its term. Operands that are stored as halves are terms of float.
    EINPARALLEL_SELDOM term_id add_operand(element_type stored) {
        const element_type type = computed(stored);
        written made{{op_code::operand, type.kind, std::uint8_t(type.bytes)}, {}};
        stored_.push_back(stored);
        made.operand = operands_.size();
        operands_.push_back(add(std::move(made)));
        return operands_.back();
    }

    EINPARALLEL_SELDOM term_id number(element_type type, std::complex<double> value) {
        written made{{op_code::number, type.kind, std::uint8_t(type.bytes)}, {}};
        const bool is_single = type == element_type_of<float>() || type == element_type_of<std::complex<float>>();
        made.made.bits = type.kind != 'f' && type.kind != 'c' ? bits_of(index(value.real()))
                         : is_single ? bits_of(std::complex<float>(float(value.real()), float(value.imag())))
                                     : bits_of(value);
        return add(std::move(made));
    }

    /// @param from  arguments, of the types that the operation takes
    EINPARALLEL_SELDOM term_id call(op_code code, element_type result, std::span<const term_id> from) {
        if (const std::optional<term_id> made = simplified(code, result, from)) {
            return *made;
        }
        return add({{code, result.kind, std::uint8_t(result.bytes)}, {from.begin(), from.end()}});
    }

    term_id call(op_code code, element_type result, std::initializer_list<term_id> from) {
        return call(code, result, std::span(from.begin(), from.size()));
    }

    /// x · y and x + y, of one type.
    term_id times(term_id x, term_id y) { return call(op_code::multiply, type_of(x), {x, y}); }
    term_id plus(term_id x, term_id y) { return call(op_code::add, type_of(x), {x, y}); }
    term_id scaled(double scale, term_id x) { return times(number(type_of(x), scale), x); }
    /// The term that a text in the table of derivatives describes. `values` are terms for its letters. Its numbers have
    /// type `type`.
    EINPARALLEL_INLINE term_id evaluated(std::string_view text, element_type type,
                                         std::span<const std::pair<char, term_id>> values);

    /// For each operand: g · ∂result/∂operand, with the conjugate of the derivative for complex terms; none where it is
    /// 0. `g` is a term of the result's type. Of equal arguments of max and min, the first one has the derivative. A
    /// term that changes in steps only, as floor and comparisons, has the derivative 0.
    /// @throws error that names the term without derivative
    EINPARALLEL_SELDOM std::vector<std::optional<term_id>> gradients(term_id result, term_id g) {
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
        return list_of(operands_, [&](term_id term) { return term < all.size() ? all[term] : std::nullopt; });
    }

    /// A term as a product of a number and other terms.
    EINPARALLEL_SELDOM [[nodiscard]] factored_term factors_of(term_id term) const {
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

    /// The term scale · factors.
    EINPARALLEL_SELDOM term_id product_of(const factored_term& product, element_type type) {
        term_id made = number(type, product.scale);
        for (const term_id factor : product.factors) {
            made = times(made, factor);
        }
        return made;
    }

    /// Numbers of the operands that a term reads, ascending.
    EINPARALLEL_SELDOM [[nodiscard]] std::vector<std::size_t> operands_of(term_id term) const {
        const std::vector<bool> reached = reached_from(term);
        std::vector<std::size_t> read;
        for (std::size_t operand = 0; operand < operands_.size(); ++operand) {
            if (reached[operands_[operand]]) {
                read.push_back(operand);
            }
        }
        return read;
    }

    [[nodiscard]] std::optional<std::size_t> as_operand(term_id term) const {
        return terms_[term].made.code == op_code::operand ? std::optional(terms_[term].operand) : std::nullopt;
    }

    EINPARALLEL_SELDOM [[nodiscard]] written_term write(term_id result, reduction by) const {
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
            const auto from = list_of(each.from, [&](term_id source) { return registers[source]; });
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

private:
    struct written {
        op_instruction made;
        std::vector<term_id> from;            ///< arguments of a call
        row_call rows{};                      ///< of a functor; empty for the library's own operations
        std::string name{};                   ///< name of a functor
        std::size_t operand = 0;              ///< number of an operand
        std::shared_ptr<const void> keeps{};  ///< the functor, where a derivative() made it
    };

    EINPARALLEL_SELDOM term_id add(written made) {
        std::fill(made.made.from.begin(), made.made.from.end(), 0);
        const auto is_same = [&](const written& each) {
            return each.made == made.made && each.from == made.from && each.rows.functor == made.rows.functor &&
                   each.name == made.name && each.operand == made.operand;
        };
        const auto known = find_if_in(terms_, is_same);
        const auto number = term_id(known - terms_.begin());
        if (known == terms_.end()) {
            terms_.push_back(std::move(made));
        }
        return number;
    }

    EINPARALLEL_SELDOM [[nodiscard]] std::optional<std::complex<double>> value_of(term_id term) const {
        const op_instruction& made = terms_[term].made;
        std::optional<std::complex<double>> value;
        if (made.code == op_code::number) {
            with_element(made.type(), [&]<class T>(std::type_identity<T> /*type*/) {
                value = converted<std::complex<double>>(made.value<T>());
            });
        }
        return value;
    }

    EINPARALLEL_INLINE [[nodiscard]] std::optional<term_id> simplified(op_code code, element_type result,
                                                                       std::span<const term_id> from);
    EINPARALLEL_SELDOM [[nodiscard]] std::vector<bool> reached_from(term_id term) const {
        std::vector<bool> reached(terms_.size());
        reached[term] = true;
        for (std::size_t number = term + 1; number-- > 0;) {
            for (std::size_t source = 0; reached[number] && source < terms_[number].from.size(); ++source) {
                reached[terms_[number].from[source]] = true;
            }
        }
        return reached;
    }

    EINPARALLEL_INLINE std::vector<std::optional<term_id>> through(term_id term, term_id g);

    std::vector<written> terms_;
    std::vector<term_id> operands_;
    std::vector<element_type> stored_;  ///< element types in which operands are stored
    term_id result_ = 0;
    std::optional<term_id> read_result_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
