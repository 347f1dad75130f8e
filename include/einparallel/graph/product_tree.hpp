#pragma once
// Products of three tensors and more, which a graph contracts pair by pair, and the same graph with another order.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/order/contraction_order.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The sum over a product of tensors, as a tree of contractions of two operands each. Vertices are given by their
/// numbers in the graph. All of them use one numbering of labels.
struct product_tree {
    std::size_t root = 0;
    std::vector<std::size_t> inner;             ///< intermediate contractions; only the tree reads them
    std::vector<std::size_t> leaves;            ///< tensors that are multiplied
    std::vector<std::vector<label_id>> labels;  ///< labels of each leaf
    std::vector<label_id> output;
    std::vector<index> extents;  ///< extents by label
    std::vector<std::string> names;
    element_type element;

    /// True where `other` multiplies tensors with the same labels, extents and element type.
    [[nodiscard]] bool is_alike(const product_tree& other) const {
        return labels == other.labels && output == other.output && extents == other.extents && element == other.element;
    }
};

/// The products of a graph that may be contracted in another order. Each multiplies three tensors or more, and none is
/// a part of another one.
EINPARALLEL_INLINE std::vector<product_tree> products_of(const einsum_graph& graph);

/// The graph with each of the products `trees` contracted in the order `steps`. A new vertex replaces the one that had
/// the result of a product; `origins` still says which of the user's vertices that was.
EINPARALLEL_INLINE einsum_graph reordered(const einsum_graph& graph, const std::vector<product_tree>& trees,
                                          const std::vector<pairwise_contraction>& steps);

}  // namespace einparallel::EINPARALLEL_DETAIL
