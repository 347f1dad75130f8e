#pragma once
// ep::gradient: the backward pass of a recorded loss, written as vertices like any others.

#include <einparallel/graph/gradient/backward.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/refused.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

template <class T>
inline constexpr bool has_fractions = std::is_floating_point_v<T> || is_complex<T>::value || is_half<T>;

template <class Loss>
inline constexpr bool is_loss = false;
template <class T>
inline constexpr bool is_loss<tensor<T, 0>> = std::is_floating_point_v<computed_t<T>>;
template <class With>
inline constexpr bool is_continuous = true;
template <class T, std::size_t Rank>
inline constexpr bool is_continuous<tensor<T, Rank>> = has_fractions<T>;
template <class T, std::size_t Rank>
inline constexpr bool is_continuous<std::vector<tensor<T, Rank>>> = has_fractions<T>;

/// A loss, and tensors with respect to which it can be differentiated.
template <class Loss, class... With>
concept Differentiable = is_loss<Loss> && sizeof...(With) > 0 && ((Tensors<With> && is_continuous<With>)&&...);

template <class Loss, class... With>
struct other_than_loss : refused {
    static_assert(is_loss<Loss>,
                  "ep::gradient: the loss is an ep::tensor of rank 0 with elements float or double, as in loss() = "
                  "x(i) * y(i); the loss comes first, then the tensors with respect to which it is differentiated");
    static_assert(!is_loss<Loss> || sizeof...(With) > 0,
                  "ep::gradient: after the loss come the tensors with respect to which it is differentiated");
    static_assert(!is_loss<Loss> || (Tensors<With> && ...),
                  "ep::gradient: a loss is differentiated with respect to tensors, which stand without labels: "
                  "ep::gradient(loss, W, V)");
    static_assert(!is_loss<Loss> || (is_continuous<With> && ...),
                  "ep::gradient: integers and bool have no gradient: elements are float, double or complex");
};

}  // namespace EINPARALLEL_DETAIL

/// ∂loss/∂W for each tensor W. The gradients are recorded tensors like any others: they are planned and run together
/// with the other outputs. Reverse mode: the gradient of an einsum by one operand is the einsum of the other operands
/// and of the gradient of the result. A tensor with several readers gets the sum. For each operand that depends on a W,
/// this takes about as many operations again as the einsum that reads it.
/// For one tensor the result is its gradient, for several ones a std::tuple: auto [dW, dV] = ep::gradient(loss, W, V).
/// A std::vector of tensors, such as the weights of all layers, counts as one: its gradients are a std::vector.
/// Where elements of ep::max or ep::min are equal, the first one in the order of indices has the gradient. floor, sign
/// and comparisons have none. The gradient of a complex W is ∂loss/∂Re W + i ∂loss/∂Im W, the direction in which the
/// loss rises.
/// A handle that was assigned to again refers to the new tensor. Copy the handle before, and give the copy, to
/// differentiate by the old tensor.
/// @throws error at the next decompose, where the loss does not depend on a W, and where an operation between them has
/// no derivative
template <class Loss, class... With>
    requires detail::Differentiable<Loss, With...>
auto gradient(const Loss& loss, const With&... with) {
    std::vector<std::shared_ptr<vertex>> of;
    const auto handle = []<class T, std::size_t Rank>(const tensor<T, Rank>& each) {
        return detail::handle_of(detail::tensor_operand<T, Rank>{each.node()});
    };
    detail::for_each_tensor([&](const auto& each) { of.push_back(handle(each)); }, with...);
    const std::vector<std::shared_ptr<vertex>> made = detail::gradients_of(handle(loss), of);
    auto next = made.begin();
    const auto gradients = [&next]<class Given>(const Given& given) {
        if constexpr (detail::TensorOperand<Given>) {
            return Given(*next++);
        } else {
            Given all;
            std::for_each(given.begin(), given.end(), [&](const auto&) { all.emplace_back(*next++); });
            return all;
        }
    };
    if constexpr (sizeof...(With) == 1) {
        return (gradients(with), ...);
    } else {
        return std::tuple{gradients(with)...};  // in this order
    }
}
/// Other arguments: refused.
template <class Loss, class... With>
    requires(!detail::Differentiable<Loss, With...>)
detail::other_than_loss<Loss, With...> gradient(const Loss& /*loss*/, const With&... /*with*/) {
    return {};
}

}  // namespace einparallel
