#pragma once
// ep::padded(A, before, after, value): an operand with elements around it that no memory holds.

#include <einparallel/array/array.hpp>
#include <einparallel/array/einsum.hpp>
#include <einparallel/array/operand.hpp>
#include <einparallel/array/view.hpp>
#include <einparallel/notation/affine.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/error.hpp>
#include <einparallel/notation/refused.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// How many elements are before, or after, in a list that says it for each dimension.
template <std::size_t Rank, std::size_t Count>
std::array<index, Rank> padding(const extent (&list)[Count]) {
    static_assert(Count == Rank, "ep::padded: before and after have a number for each dimension");
    const std::array<index, Rank> made = listed_extents<Rank>(list);
    expect(std::all_of(made.begin(), made.end(), [](index each) { return each >= 0; }),
           "ep::padded: a negative number of elements before or after");
    return made;
}

}  // namespace EINPARALLEL_DETAIL

/// A tensor with elements around it, from ep::padded: an operand of expressions, with labels.
template <class Operand, class Value = typename Operand::value_type>
class padded_tensor {
public:
    using value_type = typename Operand::value_type;    ///< of its elements
    static constexpr std::size_t rank = Operand::rank;  ///< number of dimensions

    /// From what padded() makes.
    explicit padded_tensor(detail::padded_operand<Operand, Value> held) : held_(std::move(held)) {}

    /// Extents of all dimensions, with what is before and after.
    [[nodiscard]] const std::array<index, rank>& extents() const { return held_.extents; }

    /// An operand. Index 0 is the first element before the tensor.
    template <class... Indices>
        requires detail::addresses<rank, Indices...>
    auto operator()(const Indices&... indices) const { return detail::indexed(held_, indices...); }
    /// Other arguments: refused.
    template <class... Indices>
        requires(!detail::addresses<rank, Indices...>)
    detail::other_access<rank, Indices...>
    operator()(const Indices&... /*indices*/) const { return {}; }

private:
    detail::padded_operand<Operand, Value> held_;
};

namespace EINPARALLEL_DETAIL {

template <class Operand, class Value, std::size_t Rank>
auto padded_with(Operand held, const std::array<index, Rank>& inner, const std::array<index, Rank>& before,
                 const std::array<index, Rank>& after, Value value) {
    padded_operand<Operand, Value> made{std::move(held), before, inner, std::move(value)};
    for (std::size_t dimension = 0; dimension < Rank; ++dimension) {
        made.extents[dimension] += before[dimension] + after[dimension];
    }
    return padded_tensor<Operand, Value>(std::move(made));
}

}  // namespace EINPARALLEL_DETAIL

/// A with `before` elements before it and `after` elements behind it along each dimension, all of them `value`:
/// ep::padded(A, {1, 1}, {1, 1}, 0.0)(i + r, j + s). Its extents are before + n + after, its index 0 is the first
/// element before A. Nothing is copied: what reads it is computed in parts. A temporary array is kept alive. A negative
/// number of elements is an ep::error.
template <detail::DenseOperand A, std::size_t Before, std::size_t After, detail::Scalar Value>
auto padded(A&& tensor, const extent (&before)[Before], const extent (&after)[After], Value value) {
    const auto seen = detail::readable(tensor);
    using T = typename decltype(seen)::value_type;
    constexpr std::size_t rank = std::remove_const_t<decltype(seen)>::rank;
    const detail::array_operand<T, rank> operand{seen.data(), seen.extents(), seen.strides()};
    const auto made = [&](auto held) {
        return detail::padded_with(std::move(held), seen.extents(), detail::padding<rank>(before),
                                   detail::padding<rank>(after), detail::converted<T>(value));
    };
    if constexpr (std::is_same_v<A, array<T, rank>>) {
        return made(detail::owned_operand<T, rank>{operand, std::make_shared<const array<T, rank>>(std::move(tensor))});
    } else {
        return made(operand);
    }
}

}  // namespace einparallel
