#pragma once
// The ⊕ and ⊗ of a vertex as a value: a list of instructions over registers, which prints as the user's formula.
//
// Instruction r writes register r, once. The first are the operands, register r the element of operand r; the last is
// the result, of the output's element type. Arguments have the types that op_code says: every conversion is a cast.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/op_code.hpp>
#include <einparallel/notation/search_range.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace einparallel {

/// Number of an instruction, and of the register that it writes.
using op_register = std::uint32_t;

namespace detail {

/// The bits of the real and the imaginary part of a number.
using number_bits = std::array<std::uint64_t, 2>;
template <class T>
constexpr number_bits bits_of(const T& value) {
    if constexpr (is_complex<T>::value) {
        return {bits_of(value.real())[0], bits_of(value.imag())[0]};
    } else if constexpr (std::is_same_v<T, float>) {
        return {std::bit_cast<std::uint32_t>(value), 0};
    } else if constexpr (std::is_floating_point_v<T>) {
        return {std::bit_cast<std::uint64_t>(double(value)), 0};
    } else if constexpr (is_half<T>) {
        return {value.bits(), 0};
    } else {
        return {std::uint64_t(value), 0};
    }
}

template <class T>
EINPARALLEL_HOST_DEVICE constexpr T number_of(const number_bits& bits) {
    if constexpr (is_complex<T>::value) {
        using Real = typename T::value_type;
        return T(number_of<Real>({bits[0], 0}), number_of<Real>({bits[1], 0}));
    } else if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<float>(std::uint32_t(bits[0]));
    } else if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<double>(bits[0]);
    } else if constexpr (is_half<T>) {
        return T::of_bits(typename T::bits_type(bits[0]));
    } else {
        return T(bits[0]);
    }
}

}  // namespace detail

/// An instruction: 32 bytes without padding, also on a device.
struct op_instruction {
    op_code code = op_code::operand;    ///< what is computed
    char kind = 'f';                    ///< of the result, as in element_type; V: no element type
    std::uint8_t bytes = 0;             ///< of the result; 0 where its kind is V
    bool has_state = false;             ///< opaque only: another functor of its type may compute something else
    std::array<op_register, 3> from{};  ///< arguments; opaque: their count, name number, 1 if it distributes over ⊕
    detail::number_bits bits{};         ///< the value, where the code is `number`

    /// The type of the result.
    [[nodiscard]] EINPARALLEL_HOST_DEVICE constexpr element_type type() const { return {kind, bytes}; }

    /// The value of a number of type T.
    template <Element T>
    [[nodiscard]] EINPARALLEL_HOST_DEVICE constexpr T value() const {
        return detail::number_of<T>(bits);
    }

    friend constexpr bool operator==(const op_instruction&, const op_instruction&) = default;
};

namespace detail {

/// What the type of a functor says about it.
struct op_function {
    op_code code = op_code::opaque;
    bool has_state = false;    ///< for opaque functors only, as the members below
    bool distributes = false;  ///< over the program's ⊕, in every argument
    std::string_view name = "f";
};

/// The type of a register that holds a T; kind V where T is no element type.
template <class T>
constexpr element_type register_type() {
    if constexpr (is_element<T>) {
        return element_type_of<T>();
    } else {
        return {'V', 0};
    }
}

}  // namespace detail

namespace EINPARALLEL_DETAIL {

/// The registers that instruction `number` reads. An opaque one reads the `argument` instructions right before it.
EINPARALLEL_INLINE std::vector<op_register> sources_of(const std::vector<op_instruction>& all, std::size_t number);

}  // namespace EINPARALLEL_DETAIL

/// ⊕ over ⊗ of operands, as a value. It is empty where a kernel runs at once and no code asks for the program.
class op_program {
public:
    op_program() = default;
    /// A program that only reads its operands: register r is operand r. `has_state`: ⊕ is a user's functor, and another
    /// functor of its type may compute something else.
    EINPARALLEL_INLINE op_program(reduction by, std::span<const element_type> operands, bool has_state = false);

    /// The reduction ⊕.
    [[nodiscard]] reduction aggregates_by() const { return reduction_; }
    /// The instructions of ⊗, in the order of registers.
    [[nodiscard]] const std::vector<op_instruction>& instructions() const { return instructions_; }
    /// The number of operands, which are the first instructions.
    [[nodiscard]] std::size_t operand_count() const { return operands_; }
    /// The type of the result. @pre not empty
    [[nodiscard]] element_type type() const { return instructions_.back().type(); }
    /// The name of an opaque instruction, f where its functor has none.
    [[nodiscard]] const std::string& name_of(const op_instruction& opaque) const { return names_[opaque.from[1]]; }

    /// True where ⊕ or an instruction is a user's functor, or a register has no element type. Only the functor itself
    /// then computes the program.
    EINPARALLEL_INLINE [[nodiscard]] bool is_opaque() const {
        return reduction_ == reduction::unknown || detail::any_in(instructions_, [](const op_instruction& each) {
                   return each.code == op_code::opaque || each.kind == 'V';
               });
    }
    /// True where integers are divided; a divisor may be zero.
    EINPARALLEL_INLINE [[nodiscard]] bool divides_integers() const {
        return detail::any_in(instructions_, [](const op_instruction& each) {
            return detail::divides(each.code) && each.kind != 'f' && each.kind != 'c';
        });
    }
    /// True where equal programs may compute different results: ⊕ or an opaque instruction has a state.
    EINPARALLEL_INLINE [[nodiscard]] bool has_state() const {
        return reduction_has_state_ || detail::any_in(instructions_, &op_instruction::has_state);
    }
    /// True where the operands whose bits are set may be given as summands of ⊕. ⊗ of each summand then gives a summand
    /// of the result: f(x ⊕ x', y) = f(x, y) ⊕ f(x', y). False where rounding or wrapping would change.
    EINPARALLEL_INLINE [[nodiscard]] bool takes_summands(std::uint64_t operands) const;

    /// Short text for tables: the word for ⊕, a blank, and ⊗ of operands with the names x, y, z, u, v, w, a, b, …: "sum
    /// x*y", "max |x - y|".
    EINPARALLEL_INLINE [[nodiscard]] std::string formula() const;
    /// The formula with the operands' names. Where `aggregates` is false, it has no ⊕; else it shows how far ⊕ reaches.
    EINPARALLEL_INLINE [[nodiscard]] std::string formula(std::span<const std::string> names, bool aggregates) const;

    /// The whole program as text, in printable characters without quotes and backslashes, so that it can stand in a
    /// JSON string: "sum; operand f8; number f8 4000000000000000; * f8 0 1".
    EINPARALLEL_INLINE [[nodiscard]] std::string text() const;
    /// Reads what text() writes. @throws error that shows the first text which is no instruction
    EINPARALLEL_INLINE [[nodiscard]] static op_program parse(std::string_view text);

    friend bool operator==(const op_program&, const op_program&) = default;

    /// Appends a number of the expression. Returns its register.
    EINPARALLEL_INLINE op_register number(element_type type, detail::number_bits bits);
    /// Appends a call, after casts of its arguments to `compared` for a comparison, else to `result`. A register that
    /// has this type already is not cast. Returns the register of the result.
    EINPARALLEL_INLINE op_register call(const detail::op_function& function, element_type result, element_type compared,
                                        std::span<const op_register> arguments);

private:
    EINPARALLEL_INLINE op_instruction& push(op_code code, element_type type, std::array<op_register, 3> from = {});
    [[nodiscard]] op_register last() const { return op_register(instructions_.size() - 1); }
    EINPARALLEL_INLINE op_register as(element_type type, op_register from);
    EINPARALLEL_INLINE bool read(std::string_view statement);

    reduction reduction_ = reduction::unknown;
    bool reduction_has_state_ = true;
    std::size_t operands_ = 0;
    std::vector<op_instruction> instructions_;
    std::vector<std::string> names_;
};

}  // namespace einparallel
