#pragma once
// What each vertex of a plan moves and holds, how little any distribution of it can, and which vertices are alike.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
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

/// The statistics of every vertex of a plan, by position; inputs have none. Costs as much as one rank's program.
EINPARALLEL_INLINE std::vector<vertex_statistics> statistics_of(const plan& shown);

/// A contraction of X (c·m × k) and Y (c·k × n) to Z (c·m × n), labels of one class fused into one extent.
struct contraction_shape {
    index c = 1;  ///< batch labels
    index m = 1;  ///< labels of X and Z
    index n = 1;  ///< labels of Y and Z
    index k = 1;  ///< contracted labels

    friend bool operator==(const contraction_shape&, const contraction_shape&) = default;
};

/// The shape of an einsum; nothing where it is no contraction of two operands, or has labels that stand twice in one
/// operand or are summed in one operand alone. Labels of extent 1 do not count. `extents` are by label of `form`.
EINPARALLEL_INLINE [[nodiscard]] std::optional<contraction_shape> contraction_shape_of(
    const einsum_form& form, const std::vector<index>& extents);

/// Words that some rank at least has to send or receive where `processes` ranks share the operands, the output and the
/// multiplications of a contraction evenly and each element is held once: the tight bound, whatever the memory, of Al
/// Daas, Ballard, Grigori, Kumar and Rouse (2022), in three cases by the aspect ratio. Attained where the ideal grid is
/// integral.
/// Batches: the multiplications of one rank touch least if they fill whole batches and the rest lies in one (their
/// least number of elements touched is a concave function of the number of multiplications), so nothing has to move
/// where the number of batches is a multiple of `processes`.
EINPARALLEL_INLINE [[nodiscard]] double lower_bound_words(const contraction_shape& shape, int processes);

}  // namespace einparallel
