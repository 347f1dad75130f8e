#pragma once
// Converts elements to the type that is computed with: in rows, and as they are packed.

#include <einparallel/kernel/simd/op_row.hpp>
#include <einparallel/kernel/simd/packing.hpp>
#include <einparallel/kernel/simd/vector_half.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/operations/operators.hpp>

#include <complex>
#include <cstddef>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// True where convert_row() converts elements of type From to another type T. Integers are converted to integers that
/// have at least as many bits; -1 becomes the largest number where T is unsigned. Other elements are converted where T
/// is the common type of both (arithmetic_t), as from float to double.
template <class From, class T>
inline constexpr bool widens_to = !std::is_same_v<From, T> && (std::is_integral_v<From> && std::is_integral_v<T>
                                                                   ? sizeof(From) <= sizeof(T)
                                                                   : std::is_same_v<arithmetic_t<From, T>, T>);

/// Converts `count` contiguous elements of type `element` to T, as widens_to allows; half types to float.
template <class T>
void convert_row(element_type element, T* into, const void* from, index count) {
    if constexpr (std::is_same_v<T, float>) {
        if (is_half_type(element)) {
            with_half(element, [&]<class Half>(std::type_identity<Half> /*half*/) {
                with_best_instructions([&](auto set) {
                    vector_half<Half, set.value>::widen(into, static_cast<const Half*>(from), count);
                });
            });
            return;
        }
    }
    with_element(element, [&]<class From>(std::type_identity<From> /*from*/) {
        if constexpr (is_complex<T>::value) {
            using Real = typename T::value_type;
            if constexpr (std::is_same_v<From, std::complex<float>> && std::is_same_v<Real, double>) {
                convert_row(element_type_of<float>(), reinterpret_cast<Real*>(into), from, 2 * count);
            } else if constexpr (widens_to<From, T>) {  // the real parts, from the last on
                Real* const reals = reinterpret_cast<Real*>(into);
                if constexpr (std::is_same_v<From, Real>) {
                    for (index at = 0; at < count; ++at) {
                        into[at] = static_cast<const Real*>(from)[at];
                    }
                } else {
                    convert_row(element, reals, from, count);
                    for (index at = count; at-- > 0;) {
                        into[at] = T(reals[at]);
                    }
                }
            }
        } else if constexpr (widens_to<From, T>) {
#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
            static const row_function rows = made_row_function<0, unchanged, T, From>();
            rows(nullptr, into, &from, count);
#else  // of one instruction set, which is less to compile
            op_row<instruction_set::baseline, 0, unchanged, T, From>::run(nullptr, into, &from, count);
#endif
        }
    });
}

/// The context of tile kernels of products whose operands are converted: the scale, the types of the operands, and the
/// functions that pack elements of T.
template <class T>
struct conversion {
    T scale;
    element_type a{};
    element_type b{};
    pack_function pack_a = nullptr;
    pack_function pack_b = nullptr;
};

/// A tile_kernel::pack_a or pack_b for an operand that is converted.
template <class T, bool IsA>
void pack_converted(const void* context, void* into, const void* from, const packed_block& block) {
    const auto& how = *static_cast<const conversion<T>*>(context);
    const element_type element = IsA ? how.a : how.b;
    pack_through(
        context, static_cast<T*>(into), static_cast<const std::byte*>(from), index(element.bytes), block,
        [element](T* row, const std::byte* read, index count) { convert_row(element, row, read, count); },
        IsA ? how.pack_a : how.pack_b);
}

}  // namespace einparallel::EINPARALLEL_DETAIL
