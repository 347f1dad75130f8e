#pragma once
// What each vertex of a plan moves and holds, how little any distribution of it can, and which vertices are alike.

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

    friend bool operator==(const vertex_statistics&, const vertex_statistics&) = default;
};

/// Figures of a plan.
struct plan_statistics {
    std::vector<vertex_statistics> vertices;  ///< by position; inputs have none
    std::size_t peak_bytes = 0;               ///< of rank 0
};

/// Costs as much as one rank's program.
EINPARALLEL_INLINE plan_statistics statistics_of(const plan& shown);

namespace EINPARALLEL_DETAIL {

/// Equal layers, one after the other: `length` vertices from `first` on, `times` of them.
struct repetition {
    std::size_t first = 0;
    std::size_t length = 1;
    std::size_t times = 1;

    /// How many layers come before that of a vertex.
    [[nodiscard]] std::size_t layer_of(std::size_t number) const { return (number - first) / length; }
    /// The vertex of the first layer that is shown for a vertex, perhaps itself.
    [[nodiscard]] std::size_t shown_for(std::size_t number) const { return first + (number - first) % length; }
};

/// By vertex the run of three and more equal layers that it is part of; one layer of the vertex alone where there is
/// none. Layers are equal where their vertices are in placement, costs and statistics, and each reads what the one
/// before it reads, or what comes as many vertices later.
EINPARALLEL_INLINE std::vector<repetition> layers_of(const plan& shown,
                                                     const std::vector<vertex_statistics>& statistics);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
