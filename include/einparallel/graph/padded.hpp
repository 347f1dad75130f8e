#pragma once
// ep::padded(X, before, after, value) of a recorded tensor.

#include <einparallel/array/padded.hpp>
#include <einparallel/graph/inputs.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace einparallel {

/// A recorded tensor with `before` elements before it and `after` elements behind it along each dimension, all of them
/// `value`, as ep::padded of an array (array/padded.hpp). Whoever reads it computes in parts: the padding is neither
/// moved between ranks nor held in memory. @throws error for a handle on nothing and for a negative number of elements
template <Element T, std::size_t Rank, std::size_t Before, std::size_t After, detail::Scalar Value>
auto padded(const tensor<T, Rank>& tensor, const extent (&before)[Before], const extent (&after)[After], Value value) {
    detail::expect(tensor.node() != nullptr, "padded: nothing was assigned to this tensor");
    std::array<index, Rank> inner{};
    std::copy(tensor.node()->bounds.begin(), tensor.node()->bounds.end(), inner.begin());
    const T made = detail::converted<T>(value);
    return detail::padded_with(detail::tensor_operand<T, Rank>{tensor.node()}, inner, detail::padding<Rank>(before),
                               detail::padding<Rank>(after), detail::constant_vertex(element_type_of<T>(), &made, {1}));
}

}  // namespace einparallel
