#pragma once

#include <einparallel/kernel/print.hpp>

#include <complex>
#include <cstdint>
#include <ostream>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

template <class T>
void print_as(std::ostream& stream, const void* element) {
    stream << *static_cast<const T*>(element);
}

/// Integers by their size, as numbers.
template <class Byte, class Two, class Four, class Eight>
void print_integer(std::ostream& stream, std::size_t bytes, const void* element) {
    switch (bytes) {
        case 1:
            stream << static_cast<int>(*static_cast<const Byte*>(element));
            break;
        case 2:
            print_as<Two>(stream, element);
            break;
        case 4:
            print_as<Four>(stream, element);
            break;
        default:
            print_as<Eight>(stream, element);
    }
}

EINPARALLEL_INLINE void print_element(std::ostream& stream, element_type type, const void* element) {
    switch (type.kind) {
        case 'b':
            stream << (*static_cast<const bool*>(element) ? "true" : "false");
            break;
        case 'i':
            print_integer<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(stream, type.bytes, element);
            break;
        case 'u':
            print_integer<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(stream, type.bytes, element);
            break;
        case 'c':
            type.bytes == sizeof(std::complex<float>) ? print_as<std::complex<float>>(stream, element)
                                                      : print_as<std::complex<double>>(stream, element);
            break;
        default:
            type.bytes == sizeof(float) ? print_as<float>(stream, element) : print_as<double>(stream, element);
    }
}

EINPARALLEL_INLINE std::ostream& print_elements(std::ostream& stream, element_type element, const void* data,
                                                std::span<const index> extents, std::span<const index> strides) {
    constexpr index shown = 3;
    index count = 1;
    for (const index extent : extents) {
        count *= extent;
    }
    const bool is_long = count > 1000;
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
            again(again, dimension + 1, first + at * strides[dimension] * static_cast<index>(element.bytes));
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
