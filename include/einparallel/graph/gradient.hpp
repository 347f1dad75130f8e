#pragma once
// ep::gradient: the backward pass of a recorded loss, written as vertices like any others.

#include <einparallel/graph/gradient/backward.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/refused.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

template <class T>
inline constexpr bool has_fractions = std::is_floating_point_v<T> || is_complex<T>::value;

/// A loss, and what it is derived by.
template <class Loss, class... With>
constexpr bool is_differentiable() {
    using L = std::remove_cvref_t<Loss>;
    constexpr bool is_scalar = is_a<L, tensor> && [] {
        if constexpr (is_a<L, tensor>) {
            return L::rank == 0 && std::is_floating_point_v<typename L::value_type>;
        }
        return false;
    }();
    static_assert(
        is_scalar,
        "ep::gradient: the loss is an ep::tensor of rank 0 with elements float or double, as in loss() = x(i) * "
        "y(i); it stands before the tensors that it is derived by");
    static_assert(sizeof...(With) > 0, "ep::gradient: behind the loss stand the tensors that it is derived by");
    static_assert((is_a<std::remove_cvref_t<With>, tensor> && ...),
                  "ep::gradient: a loss is derived by tensors, without labels: ep::gradient(loss, W, V)");
    return is_scalar;
}

}  // namespace EINPARALLEL_DETAIL

/// ∂loss/∂W for each tensor W: tensors like any others, planned and run together with what else is asked for. Reverse
/// mode: an einsum's gradient by an operand is the einsum of the others and of the gradient of its result, and what
/// several read gets the sum. Operations: about those of the loss again for each operand that depends on a W.
/// Of one tensor the gradient itself, of several a std::tuple: auto [dW, dV] = ep::gradient(loss, W, V).
/// Of equal elements the first one has the gradient of ep::max and ep::min, in the order of indices; floor, sign and
/// comparisons have none. Of a complex W it is ∂loss/∂Re W + i ∂loss/∂Im W, the direction in which the loss rises.
/// A handle that was assigned to again stands for the new tensor: keep a copy of that to derive by.
/// @throws error at the next decompose, where the loss does not depend on a W, and where something on the way has no
/// derivative
template <class Loss, class... With>
    requires(detail::is_differentiable<Loss, With...>())
auto gradient(const Loss& loss, const With&... with) {
    static_assert((detail::has_fractions<typename With::value_type> && ...),
                  "ep::gradient: integers and bool have no gradient: elements are float, double or complex");
    const std::array<std::shared_ptr<vertex>, sizeof...(With)> of{
        detail::handle_of(detail::tensor_operand<typename With::value_type, With::rank>{with.node()})...};
    const std::vector<std::shared_ptr<vertex>> made =
        detail::gradients_of(detail::handle_of(detail::tensor_operand<typename Loss::value_type, 0>{loss.node()}), of);
    return [&]<std::size_t... Which>(std::index_sequence<Which...> /*all*/) {
        if constexpr (sizeof...(With) == 1) {
            return (tensor<typename With::value_type, With::rank>(made[Which]), ...);
        } else {
            return std::tuple(tensor<typename With::value_type, With::rank>(made[Which])...);
        }
    }
    (std::index_sequence_for<With...>{});
}

}  // namespace einparallel
