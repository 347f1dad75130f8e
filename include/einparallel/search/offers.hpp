#pragma once
// Which sums of a graph may be left pending, because all their readers can work on summands.

#include <einparallel/graph/einsum_graph.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/search/options.hpp>

#include <cstdint>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Which sums of a graph may stay pending, by number of the vertex.
struct pending_offers {
    std::vector<bool> leaves;                       ///< the vertex may leave its output in summands, not added up
    std::vector<std::vector<std::uint64_t>> reads;  ///< sets of operands, as bits, that the vertex may read in summands
};

/// A tensor may stay pending if it is neither an output nor pinned, and neither its maker nor a reader is marked to run
/// without communication. Every reader must take it in summands of the same ⊕ (kernel::takes_summands) and gain from
/// that: it makes fewer elements than the tensor has, or it adds up several such tensors. Nothing may stay pending
/// under the paper's cost, which knows no pending sums, and where options.algorithm says how contractions are to run.
EINPARALLEL_INLINE pending_offers offers_of(const einsum_graph& graph, const options& asked);

}  // namespace einparallel::EINPARALLEL_DETAIL
