#pragma once
// What a graph offers its vertices: sums that may be left pending, for their readers can all work on summands.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/search/options.hpp>

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

}  // namespace einparallel::EINPARALLEL_DETAIL
