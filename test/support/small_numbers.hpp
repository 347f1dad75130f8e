#pragma once
// Elements of any type whose sums and products are exact, or wrap.

#include <einparallel/array/array.hpp>
#include <einparallel/notation/element_type.hpp>

#include <array>
#include <cstddef>
#include <random>
#include <type_traits>

namespace einparallel::testing {

/// From −4 or 0 on, nine of them; of short integers any.
template <class T, std::size_t Rank>
array<T, Rank> small_numbers(const std::array<index, Rank>& extents, std::mt19937& random) {
    array<T, Rank> made(extents);
    for (index at = 0; at < made.size(); ++at) {
        if constexpr (std::is_integral_v<T> && sizeof(T) <= 2) {
            made.data()[at] = static_cast<T>(random());
        } else {
            made.data()[at] = detail::converted<T>(int(random() % 9) - (std::is_unsigned_v<T> ? 0 : 4));
        }
    }
    return made;
}

}  // namespace einparallel::testing
