#pragma once
// Arrays as text: std::cout << A.

#include <einparallel/array/array.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <iosfwd>
#include <span>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// Prints elements as [[1, 2], [3, 4]], with a line for each row and the stream's precision. If there are more than a
/// thousand elements, prints only the first three and the last three along each dimension, and the extents.
EINPARALLEL_INLINE std::ostream& print_elements(std::ostream& stream, element_type element, const void* data,
                                                index_span extents, index_span strides);

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// Prints the elements in brackets, with a line for each row and the stream's precision. If there are more than a
/// thousand elements, prints only the first three and the last three along each dimension, and the extents.
///@{
template <class T, std::size_t Rank>
std::ostream& operator<<(std::ostream& stream, const view<T, Rank>& elements) {
    return detail::print_elements(stream, element_type_of<typename view<T, Rank>::value_type>(), elements.data(),
                                  elements.extents(), elements.strides());
}
template <class T, std::size_t Rank>
std::ostream& operator<<(std::ostream& stream, const array<T, Rank>& elements) {
    return stream << view<const T, Rank>(elements);
}
///@}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
