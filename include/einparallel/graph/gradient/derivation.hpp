#pragma once
// The ⊗ of a vertex while derivatives of it are written: terms, each of them once, from the program's on.

#include <einparallel/kernel/row_program.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/operations/op_program.hpp>

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

/// c · x · y · …
struct factored_term {
    std::complex<double> scale = 1;
    std::vector<term_id> factors;
};

/// A term as the ⊗ of a vertex of its own: operand r of the program is the operand with number read[r] here.
struct written_term {
    op_program program;
    std::vector<row_call> calls;                     ///< as join_work_of takes them
    std::vector<std::shared_ptr<const void>> keeps;  ///< functors of theirs
    std::vector<std::size_t> read;
};

/// Terms of operands, numbers and calls. Numbers are computed with, and what is multiplied by 0 or 1 is not written.
class derivation {
public:
    derivation() = default;
    /// The terms of a program, of which operand r is operand r here. `calls`: its rows, where they are known.
    EINPARALLEL_INLINE derivation(const op_program& program, std::span<const row_call> calls);

    /// What the program makes.
    [[nodiscard]] term_id result() const { return result_; }
    /// What another program makes of these terms.
    EINPARALLEL_INLINE term_id insert(const op_program& program, std::span<const row_call> calls,
                                      std::span<const term_id> operands);
    /// Derivatives that are functions of what the program makes, as that of exp, read it there.
    void read_result(term_id as) { read_result_ = as; }
    [[nodiscard]] element_type type_of(term_id term) const { return terms_[term].made.type(); }
    /// Operand number `operand`.
    [[nodiscard]] term_id operand(std::size_t operand) const { return operands_[operand]; }

    /// One more operand. Halves are terms of float.
    EINPARALLEL_INLINE term_id add_operand(element_type stored);
    EINPARALLEL_INLINE term_id number(element_type type, std::complex<double> value);
    /// @param from  of the types that op_code says
    EINPARALLEL_INLINE term_id call(op_code code, element_type result, std::span<const term_id> from);
    term_id call(op_code code, element_type result, std::initializer_list<term_id> from) {
        return call(code, result, std::span(from.begin(), from.size()));
    }
    /// x · y and x + y, of one type.
    term_id times(term_id x, term_id y) { return call(op_code::multiply, type_of(x), {x, y}); }
    term_id plus(term_id x, term_id y) { return call(op_code::add, type_of(x), {x, y}); }
    term_id scaled(double scale, term_id x) { return times(number(type_of(x), scale), x); }
    /// What a derivative of the table says of terms, by their letters there. Its numbers have the type that is said.
    EINPARALLEL_INLINE term_id evaluated(std::string_view text, element_type type,
                                         std::span<const std::pair<char, term_id>> values);

    /// By operand: g · ∂result/∂operand, of complex terms with the conjugate of that; none where it is 0. `g` is a term
    /// of the result's type. Of equal arguments of max and min the first counts; where a term does not change but for
    /// steps, as floor and comparisons, its derivative is 0.
    /// @throws error that names what has no derivative
    EINPARALLEL_INLINE std::vector<std::optional<term_id>> gradients(term_id result, term_id g);

    /// A term as a product of others.
    EINPARALLEL_INLINE [[nodiscard]] factored_term factors_of(term_id term) const;
    /// scale · factors.
    EINPARALLEL_INLINE term_id product_of(const factored_term& product, element_type type);
    /// Operands that a term reads, ascending; and whether it is one.
    EINPARALLEL_INLINE [[nodiscard]] std::vector<std::size_t> operands_of(term_id term) const;
    [[nodiscard]] std::optional<std::size_t> as_operand(term_id term) const {
        return terms_[term].made.code == op_code::operand ? std::optional(terms_[term].operand) : std::nullopt;
    }

    EINPARALLEL_INLINE [[nodiscard]] written_term write(term_id result, reduction by) const;

private:
    struct written {
        op_instruction made;
        std::vector<term_id> from;            ///< arguments; of opaque ones what they are handed
        row_call rows{};                      ///< none: the library's own
        std::string name{};                   ///< of an opaque one
        std::size_t operand = 0;              ///< its number
        std::shared_ptr<const void> keeps{};  ///< the functor, where a derivative() made it
    };

    EINPARALLEL_INLINE term_id add(written made);
    EINPARALLEL_INLINE [[nodiscard]] std::optional<std::complex<double>> value_of(term_id term) const;
    EINPARALLEL_INLINE [[nodiscard]] std::optional<term_id> simplified(op_code code, element_type result,
                                                                       std::span<const term_id> from);
    EINPARALLEL_INLINE [[nodiscard]] std::vector<bool> reached_from(term_id term) const;
    EINPARALLEL_INLINE std::vector<std::optional<term_id>> through(term_id term, term_id g);

    std::vector<written> terms_;
    std::vector<term_id> operands_;
    std::vector<element_type> stored_;  ///< of operands
    term_id result_ = 0;
    std::optional<term_id> read_result_;
};

}  // namespace einparallel::EINPARALLEL_DETAIL
