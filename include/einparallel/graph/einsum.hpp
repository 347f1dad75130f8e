#pragma once
// ep::einsum<"ij,jk->ik">(X, Y) on tensors: records what the same call on arrays would compute.

#include <einparallel/array/einsum.hpp>
#include <einparallel/graph/network.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/numpy_subscripts.hpp>

namespace einparallel {

inline namespace EINPARALLEL_WAY {

/// The einsum of numpy's language, recorded: a tensor of the operands' common element type. A product of more than two
/// operands becomes a vertex for each contraction, in the cheapest order.
template <subscripts Text, detail::TensorOperand... Tensors>
auto einsum(const Tensors&... operands) {
    if constexpr (detail::are_sound<Text, Tensors::rank...>) {
        const auto made = einsum(Text.view(), operands...);
        using T = typename decltype(made)::value_type;
        return tensor<T, detail::subscript_table_of<Text, Tensors::rank...>.output_rank>(made);
    } else {
        return detail::check_subscripts<Text, Tensors::rank...>();
    }
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
