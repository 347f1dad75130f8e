#pragma once
// Op programs on elements, by the functors: what code for devices is compared with.

#include <einparallel/device/op_cells.hpp>
#include <einparallel/notation/operations/op_program.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

namespace einparallel::testing {

using namespace detail;

/// A value of any element type.
class op_value {
public:
    template <class T>
    void set(const T& value) {
        ::new (static_cast<void*>(bytes_.data())) T(value);
    }
    template <class T>
    [[nodiscard]] const T& get() const {
        return *std::launder(reinterpret_cast<const T*>(bytes_.data()));
    }

private:
    alignas(16) std::array<std::byte, 16> bytes_{};
};

/// *result = ⊗ of one element of each operand, by the functors. @pre !program.is_opaque()
inline void evaluate(const op_program& program, const void* const* operands, void* result) {
    const std::span<const op_instruction> instructions = program.instructions();
    std::vector<op_value> values(instructions.size());
    for (std::size_t number = 0; number < instructions.size(); ++number) {
        const op_instruction& each = instructions[number];
        op_value& into = values[number];
        const auto from = [&](std::size_t place) -> const op_value& { return values[each.from[place]]; };
        const auto type_from = [&](std::size_t place) { return instructions[each.from[place]].type(); };
        detail::with_element(each.type(), [&]<class T>(std::type_identity<T> /*type*/) {
            if (each.code == op_code::operand) {
                into.set(*static_cast<const T*>(operands[number]));
            } else if (each.code == op_code::number) {
                into.set(each.value<T>());
            } else if (each.code == op_code::cast) {
                detail::with_element(type_from(0), [&]<class From>(std::type_identity<From> /*type*/) {
                    if constexpr (std::is_same_v<T, bool>) {
                        into.set(from(0).template get<From>() != From(0));
                    } else if constexpr (detail::is_complex<T>::value || !detail::is_complex<From>::value) {
                        into.set(detail::converted<T>(from(0).template get<From>()));
                    }
                });
            }
        });
        const bool is_choice = each.code == op_code::choice;
        const auto call = [&]<class F>(const F& function) {
            detail::with_element(type_from(is_choice ? 1 : 0), [&]<class T>(std::type_identity<T> /*type*/) {
                const auto x = [&](std::size_t place) { return from(place).template get<T>(); };
                if constexpr (!detail::computes_in(F::code, element_type_of<T>())) {
                    return;
                } else if constexpr (F::code == op_code::choice) {
                    into.set(function(from(0).template get<bool>(), x(1), x(2)));
                } else if constexpr (F::code == op_code::position) {
                    detail::with_element(each.type(), [&]<class Index>(std::type_identity<Index> /*type*/) {
                        if constexpr (detail::is_number<Index>) {
                            into.set(function(x(0), x(1), from(2).template get<Index>()));
                        }
                    });
                } else if constexpr (arity_of(F::code) == 1) {
                    into.set(function(x(0)));
                } else {
                    into.set(function(x(0), x(1)));
                }
            });
        };
        detail::with_functor(detail::op_functors(), each.code, call);
        detail::with_functor(detail::type_list<detail::choice, detail::position_where>(), each.code, call);
    }
    detail::with_element(program.type(), [&]<class T>(std::type_identity<T> /*type*/) {
        *static_cast<T*>(result) = values.back().template get<T>();
    });
}

}  // namespace einparallel::testing
