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
#include <memory>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

template <subscripts Text, class... Tensors>
auto record_einsum(const Tensors&... operands) {
    using Out = typename common_element<typename Tensors::value_type...>::type;
    static constexpr const auto& table = subscript_table_of<Text, Tensors::rank...>;
    const std::array<std::shared_ptr<vertex>, sizeof...(Tensors)> nodes{
        recording_builder::handle_of(tensor_operand<typename Tensors::value_type, Tensors::rank>{operands.node()})...};
    std::array<const index*, sizeof...(Tensors)> extents{};
    std::transform(nodes.begin(), nodes.end(), extents.begin(), [](const auto& node) { return node->bounds.data(); });
    const subscript_labels labels(table, extents.data());
    std::array<labelled_handle<std::shared_ptr<vertex>>, sizeof...(Tensors)> handles;
    for (std::size_t operand = 0; operand < sizeof...(Tensors); ++operand) {
        handles[operand] = {nodes[operand], labels.of(operand)};
    }
    recording_builder builder(table_names<table>);
    return tensor<Out, table.output_rank>(product_of<Out, typename Tensors::value_type...>(
        builder, recording_builder::last_vertex{}, labels.output(), handles));
}

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// The einsum of numpy's language, recorded: a tensor of the operands' common element type. A product of more than two
/// operands becomes a vertex for each contraction, in the cheapest order.
template <subscripts Text, detail::TensorOperand... Tensors>
auto einsum(const Tensors&... operands) {
    if constexpr (detail::are_sound<Text, Tensors::rank...>) {
        return detail::record_einsum<Text>(operands...);
    } else {
        return detail::check_subscripts<Text, Tensors::rank...>();
    }
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
