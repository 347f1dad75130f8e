#pragma once
// What each vertex of a plan moves and holds, and the least that any distribution of its work has to move.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel {

/// Figures of one einsum of a plan. The first three sum to planned_vertex::bytes.
struct vertex_statistics {
    std::size_t gathered_bytes = 0;       ///< bytes that all ranks send to gather operands or to pass them round a ring
    std::size_t aggregated_bytes = 0;     ///< bytes that all ranks send to aggregate the output
    std::size_t repartitioned_bytes = 0;  ///< bytes that all ranks send to bring operands, or to gather held blocks
    std::size_t held_bytes = 0;           ///< most bytes that rank 0 holds while it computes the vertex, in all tensors
    std::size_t paged_bytes = 0;          ///< bytes that rank 0 moves to and from files meanwhile (plan::bytes_paged)
    /// Contractions: the bytes that some rank has to send or receive at least, see lower_bound_words(). Empty for other
    /// vertices; also where element sizes differ, sums are pending, gathered blocks are held, or a master feeds
    /// workers.
    std::optional<double> least_bytes;

    /// Bytes gathered and aggregated per rank, divided by least_bytes; empty where that is empty. It is infinity where
    /// bytes are sent though none need be, and 1 where none need be and none are. Repartition does not count, because
    /// sending more than necessary can save it.
    EINPARALLEL_INLINE [[nodiscard]] std::optional<double> over_least(int ranks) const;
};

/// Figures of a plan.
struct plan_statistics {
    std::vector<vertex_statistics> vertices;  ///< by position in the plan; those of inputs are zero
    std::size_t peak_bytes = 0;               ///< bytes that rank 0 holds at most in a run
};

/// The figures of a plan. This takes as long as writing the program of one rank.
EINPARALLEL_INLINE plan_statistics statistics_of(const plan& shown);

}  // namespace einparallel
