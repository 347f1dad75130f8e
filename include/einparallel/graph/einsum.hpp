#pragma once
// ep::einsum<"ij,jk->ik">(X, Y) on tensors: records what the same call on arrays would compute.

#include <einparallel/array/einsum.hpp>
#include <einparallel/graph/record.hpp>
#include <einparallel/graph/tensor.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_spec.hpp>
#include <einparallel/notation/search_range.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// Records the einsum of a subscript string by a call of record(output labels, operands). An operand that the string
/// reads at functions of labels is handed over as a view.
template <class Table, class Record>
std::shared_ptr<vertex> record_string(const Table& table, std::span<const std::shared_ptr<vertex>> nodes,
                                      Record&& record) {
    const subscript_labels labels(table, list_of(nodes, [](const std::shared_ptr<vertex>& node) {
                                      return string_operand{tensor_read_by(node), node->bounds};
                                  }));
    std::vector<recording_builder::operand_type> read;
    for (const std::shared_ptr<vertex>& node : nodes) {
        const label_span own = labels.of(read.size());
        const affine_map* const at = labels.map(read.size());
        const auto range = [&](label_id label) { return interval{0, labels.extent(label)}; };
        read.push_back({at == nullptr ? node : view_vertex(node, *at, own, list_of(own, range)), own});
    }
    std::shared_ptr<vertex> made = record(labels.output(), read);
    if (made->failure.empty()) {
        made->failure = labels.failure();
    }
    return made;
}

template <subscripts Text, class T, class... Tensors>
auto record_einsum(const Tensors&... operands) {
    static constexpr const auto& table = subscript_table_of<Text, Tensors::rank...>;
    const auto node_of = []<class Given>(const Given& operand) {
        using Read = std::conditional_t<sizeof...(Tensors) <= 2, typename Given::value_type, T>;
        return handle_of(tensor_operand<Read, Given::rank>{elements_as<Read, tensor>(operand).node()});
    };
    const std::array nodes{node_of(operands)...};
    using operand = recording_builder::operand_type;
    return tensor<T, table.output_rank>(
        record_string(table, nodes, [](label_span out, const std::vector<operand>& read) {
            return recording_builder(table_names<table>)
                .product(recording_builder::last_vertex{}, out,
                         std::span<const operand, sizeof...(Tensors)>(read.data(), sizeof...(Tensors)), T(1));
        }));
}

}  // namespace EINPARALLEL_DETAIL

inline namespace EINPARALLEL_WAY {

/// Records the einsum of a subscript string in numpy's language. The result is a tensor of the operands' common element
/// type. A product of more than two operands becomes a vertex for each contraction, in the cheapest order.
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
