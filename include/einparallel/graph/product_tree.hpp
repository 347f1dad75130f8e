#pragma once
// Products of three tensors and more as the graph has them, contracted pair by pair, and the graph with another order.

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

/// Σ of a product as a tree of contractions of two operands. Vertices by their number in the graph, labels of all of
/// them by one numbering.
struct product_tree {
    std::size_t root = 0;
    std::vector<std::size_t> inner;             ///< contractions on the way: nobody else reads them
    std::vector<std::size_t> leaves;            ///< what is multiplied
    std::vector<std::vector<label_id>> labels;  ///< of the leaves
    std::vector<label_id> output;
    std::vector<index> extents;  ///< by label
    std::vector<std::string> names;
    element_type element;

    /// Multiplies tensors of equal extents and elements in the same way.
    [[nodiscard]] bool is_alike(const product_tree& other) const {
        return labels == other.labels && output == other.output && extents == other.extents && element == other.element;
    }
};

/// The products of a graph that may be contracted in another order: those of three tensors and more, none of them
/// inside another.
EINPARALLEL_INLINE std::vector<product_tree> products_of(const einsum_graph& graph);

/// The graph with some products in other orders. The vertex that a product's handle refers to is replaced by another
/// that computes the same; `origins` still says which handle that is.
EINPARALLEL_INLINE einsum_graph reordered(const einsum_graph& graph, const std::vector<product_tree>& trees,
                                          const std::vector<pairwise_contraction>& steps);

}  // namespace einparallel::EINPARALLEL_DETAIL
