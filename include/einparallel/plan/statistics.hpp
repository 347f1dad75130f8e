#pragma once
// What each vertex of a plan moves and holds, and how little any distribution of it can.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel {

/// Figures of one einsum of a plan. The first three sum to planned_vertex::bytes.
struct vertex_statistics {
    std::size_t gathered_bytes = 0;       ///< that all ranks send to hand operands round
    std::size_t aggregated_bytes = 0;     ///< that all ranks send to aggregate the output
    std::size_t repartitioned_bytes = 0;  ///< that all ranks send to bring operands from where they rest
    std::size_t held_bytes = 0;  ///< that rank 0 holds at most while it computes the vertex, all tensors together
    /// Contractions: bytes that a rank must send or receive at least, see lower_bound_words(). Nothing for other
    /// vertices, and where element sizes differ.
    std::optional<double> least_bytes;

    /// Bytes gathered and aggregated per rank, over the least possible: infinity where something moves that need not,
    /// 1 where nothing has to and nothing does. Repartition is not counted: a vertex may well send more than it must,
    /// so that its operands stay where they are.
    EINPARALLEL_INLINE [[nodiscard]] std::optional<double> over_least(int ranks) const;
};

/// Figures of a plan.
struct plan_statistics {
    std::vector<vertex_statistics> vertices;  ///< by position; inputs have none
    std::size_t peak_bytes = 0;               ///< of rank 0
};

/// Costs as much as one rank's program.
EINPARALLEL_INLINE plan_statistics statistics_of(const plan& shown);

}  // namespace einparallel
