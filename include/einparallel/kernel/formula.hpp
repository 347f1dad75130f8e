#pragma once
// Expressions in words, for tables: |x - y|, x/(y + z).

#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// An expression in words, and how strongly its loosest operator binds.
struct formula_part {
    enum strength_type { sum, product, whole };

    std::string text;
    strength_type strength = whole;
};

/// The name of operand number `leaf` in a formula: a letter, none of which is the f of a function without a name.
EINPARALLEL_INLINE std::string operand_letter(std::size_t leaf);

/// name(a, b, …); |a|, −a, a itself for what has such a notation. A name ending in `-` is that of a function of the
/// difference of two.
EINPARALLEL_INLINE formula_part call_part(std::string_view name, std::vector<formula_part> arguments);

/// A number in the fewest digits that tell it from others of its type, six and more: 0.5, 2, 1e-09. Ranks compare
/// formulas.
EINPARALLEL_INLINE std::string written_number(double value, bool is_float);
template <class T>
std::string written_value(const T& value) {
    if constexpr (is_complex<T>::value) {
        constexpr bool is_float = std::is_same_v<T, std::complex<float>>;
        return "(" + written_number(static_cast<double>(value.real()), is_float) + "," +
               written_number(static_cast<double>(value.imag()), is_float) + ")";
    } else {
        return written_number(static_cast<double>(value), std::is_same_v<T, float>);
    }
}

}  // namespace einparallel::EINPARALLEL_DETAIL
