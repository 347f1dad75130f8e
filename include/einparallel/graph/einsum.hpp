#pragma once
// ep::einsum<"ij,jk->ik">(X, Y) on tensors: records what the same call on arrays would compute.

#include <einparallel/array/einsum.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/numpy_subscripts.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

template <subscripts Text, class T, class... Tensors>
auto record_einsum(const Tensors&... operands) {
    static constexpr const auto& table = subscript_table_of<Text, Tensors::rank...>;
    const std::array nodes{handle_of(tensor_operand<T, Tensors::rank>{elements_as<T, tensor>(operands).node()})...};
    std::array<const index*, sizeof...(Tensors)> extents{};
    std::transform(nodes.begin(), nodes.end(), extents.begin(), [](const auto& node) { return node->bounds.data(); });
    const subscript_labels labels(table, extents.data());
    std::array<recording_builder::operand_type, sizeof...(Tensors)> read;
    for (std::size_t operand = 0; operand < read.size(); ++operand) {
        read[operand] = {nodes[operand], labels.of(operand)};
    }
    return tensor<T, table.output_rank>(
        recording_builder(table_names<table>)
            .product(recording_builder::last_vertex{}, labels.output(), std::span(std::as_const(read)), T(1)));
}

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// The einsum of numpy's language, recorded: a tensor of the operands' common element type. A product of more than two
/// operands becomes a vertex for each contraction, in the cheapest order.
template <subscripts Text, detail::TensorOperand... Tensors>
auto einsum(const Tensors&... operands) {
    if constexpr (detail::are_sound<Text, Tensors::rank...>) {
        return detail::record_einsum<Text, typename detail::common_element<typename Tensors::value_type...>::type>(
            operands...);
    } else {
        return detail::check_subscripts<Text, Tensors::rank...>();
    }
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
