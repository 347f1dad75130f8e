#pragma once

#include <einparallel/array/print.hpp>

#include <ostream>
#include <string>
#include <type_traits>

namespace einparallel::EINPARALLEL_DETAIL {

/// Prints one element. An integer of one byte is printed as a number, not as a letter.
EINPARALLEL_INLINE void print_element(std::ostream& stream, element_type type, const void* element) {
    with_element(type, [&]<class T>(std::type_identity<T> /*type*/) {
        const T& value = *static_cast<const T*>(element);
        if constexpr (std::is_same_v<T, bool>) {
            stream << (value ? "true" : "false");
        } else if constexpr (sizeof(T) == 1) {
            stream << int(value);
        } else {
            stream << value;
        }
    });
}

EINPARALLEL_INLINE std::ostream& print_elements(std::ostream& stream, element_type element, const void* data,
                                                index_span extents, index_span strides) {
    constexpr index shown = 3;
    const bool is_long = element_count(extents) > 1000;
    const auto print = [&](const auto& again, std::size_t dimension, const std::byte* first) -> void {
        if (dimension == extents.size()) {
            print_element(stream, element, first);
            return;
        }
        const bool innermost = dimension + 1 == extents.size();
        const std::string apart = innermost ? ", " : ",\n" + std::string(dimension + 1, ' ');
        stream << '[';
        for (index at = 0; at < extents[dimension]; ++at) {
            stream << (at > 0 ? apart : "");
            if (is_long && at == shown && extents[dimension] > 2 * shown) {
                stream << "..." << apart;
                at = extents[dimension] - shown;
            }
            again(again, dimension + 1, first + at * strides[dimension] * index(element.bytes));
        }
        stream << ']';
    };
    print(print, 0, static_cast<const std::byte*>(data));
    for (std::size_t dimension = 0; is_long && dimension < extents.size(); ++dimension) {
        stream << (dimension == 0 ? "\n(" : " x ") << extents[dimension]
               << (dimension + 1 == extents.size() ? " elements)" : "");
    }
    return stream;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
