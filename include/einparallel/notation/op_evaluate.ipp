#pragma once
// Op programs on elements, by the functors: what code for devices is compared with.

#include <einparallel/notation/op_program.hpp>

#include <einparallel/notation/op_program.ipp>
#include <einparallel/notation/operators.hpp>

#include <complex>
#include <new>

namespace einparallel::EINPARALLEL_DETAIL {

/// The functors with an op_code.
template <class... Functor>
struct functor_list {
    /// visit(f) for the one that a code stands for.
    template <class Visit>
    static void with(op_code code, const Visit& visit) {
        static_cast<void>(((Functor::code == code && (visit(Functor{}), true)) || ...));
    }
};
using op_functors =
    functor_list<negate, absolute, conjugate, floor_function, round_function, sign_function, relu_function,
                 exp_function, log_function, sqrt_function, tanh_function, sin_function, cos_function, tan_function,
                 erf_function, sigmoid_function, silu_function, gelu_function, plus, minus, times, over, larger,
                 smaller, power, atan2_function, shifted_exponential, less, less_equal, greater, greater_equal, equal,
                 not_equal, choice, place_of>;

/// visit(std::type_identity<T>()) for the T that has this run-time value.
template <class... T, class Visit>
void with_element_among(element_type type, const Visit& visit) {
    static_cast<void>(((element_type_of<T>() == type && (visit(std::type_identity<T>()), true)) || ...));
}
template <class Visit>
void with_element(element_type type, const Visit& visit) {
    with_element_among<float, double, std::complex<float>, std::complex<double>, bool, std::int8_t, std::int16_t,
                       std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(type,
                                                                                                              visit);
}

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

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

EINPARALLEL_INLINE void op_program::evaluate(const void* const* operands, void* result) const {
    std::vector<detail::op_value> values(instructions_.size());
    for (std::size_t number = 0; number < instructions_.size(); ++number) {
        const op_instruction& each = instructions_[number];
        detail::op_value& into = values[number];
        const auto from = [&](std::size_t place) -> const detail::op_value& { return values[each.from[place]]; };
        const auto type_from = [&](std::size_t place) { return instructions_[each.from[place]].type(); };
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
        detail::op_functors::with(each.code, [&]<class F>(const F& function) {
            detail::with_element(type_from(is_choice ? 1 : 0), [&]<class T>(std::type_identity<T> /*type*/) {
                const auto x = [&](std::size_t place) { return from(place).template get<T>(); };
                if constexpr (!detail::computes_in(F::code, element_type_of<T>())) {
                    return;
                } else if constexpr (F::code == op_code::choice) {
                    into.set(function(from(0).template get<bool>(), x(1), x(2)));
                } else if constexpr (F::code == op_code::place) {
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
        });
    }
    detail::with_element(type(), [&]<class T>(std::type_identity<T> /*type*/) {
        *static_cast<T*>(result) = values.back().template get<T>();
    });
}

}  // namespace einparallel
