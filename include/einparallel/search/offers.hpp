#pragma once
// What a graph offers its vertices: sums that may be left pending, for their readers can all work on summands, and cut
// points of uneven blocks.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/search/options.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// What a graph allows to stay pending, by number of the vertex.
struct pending_offers {
    std::vector<bool> leaves;                       ///< the vertex may leave its output in summands
    std::vector<std::vector<std::uint64_t>> reads;  ///< sets of operands that it may read in summands, as bits
};

/// A tensor may stay pending if it is no output and not pinned, neither its maker nor a reader is marked to run without
/// communication, and every reader takes it in summands of the same ⊕ (kernel::takes_summands) and gains from it: it
/// makes fewer elements of it, or it adds several such tensors up. Nothing under the paper's cost, which knows no
/// pending sums, and where the user says how contractions are to run.
EINPARALLEL_INLINE pending_offers offers_of(const einsum_graph& graph, const options& asked);

/// Lists of cut points, by label.
using points_by_label = std::vector<std::vector<std::vector<index>>>;

/// Cut points at which labels may be cut, by vertex and label (of an input, dimension): where an input lies in uneven
/// blocks, or a pin has them, and wherever the same index goes from there through the graph.
EINPARALLEL_INLINE std::vector<points_by_label> known_points(const einsum_graph& graph);

}  // namespace einparallel::EINPARALLEL_DETAIL
