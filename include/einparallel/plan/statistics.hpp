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

/// Figures of a plan.
struct plan_statistics {
    std::vector<vertex_statistics> vertices;  ///< by position; inputs have none
    std::size_t peak_bytes = 0;               ///< of rank 0
};

/// Costs as much as one rank's program.
EINPARALLEL_INLINE plan_statistics statistics_of(const plan& shown);

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

namespace EINPARALLEL_DETAIL {

/// Equal layers, one after the other: `length` vertices from `first` on, `times` of them.
struct repetition {
    std::size_t first = 0;
    std::size_t length = 1;
    std::size_t times = 1;

    /// How many layers come before that of a vertex. @pre contains(number)
    [[nodiscard]] std::size_t layer_of(std::size_t number) const { return (number - first) / length; }
    [[nodiscard]] bool contains(std::size_t number) const { return number >= first && number < first + length * times; }
};

/// The runs of three and more equal layers of a plan, of which readers are shown the first.
struct repeated_layers {
    std::vector<repetition> runs;

    /// Null for a vertex of no run.
    EINPARALLEL_INLINE [[nodiscard]] const repetition* run_of(std::size_t number) const;
    /// The vertex that is shown for a vertex, perhaps itself.
    EINPARALLEL_INLINE [[nodiscard]] std::size_t shown_for(std::size_t number) const;
};

/// Layers are equal where their vertices are in placement, costs and statistics, and each reads what the one before it
/// reads, or what comes as many vertices later.
EINPARALLEL_INLINE repeated_layers layers_of(const plan& shown, const std::vector<vertex_statistics>& statistics);

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
