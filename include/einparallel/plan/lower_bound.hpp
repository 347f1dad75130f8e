#pragma once
// How little any distribution of one contraction can communicate, and the best that a grid of ranks reaches.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <optional>
#include <vector>

namespace einparallel {

/// A contraction of X (c·m × k) and Y (c·k × n) to Z (c·m × n), labels of one class fused into one extent.
struct contraction_shape {
    index c = 1;
    index m = 1;
    index n = 1;
    index k = 1;

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

/// A grid of ranks over a contraction, and what it moves.
struct integer_grid {
    int c = 1;
    int m = 1;
    int n = 1;
    int k = 1;
    double words = 0;        ///< sent by the rank with the largest blocks
    double total_words = 0;  ///< sent by all ranks together

    [[nodiscard]] int size() const { return c * m * n * k; }
};

/// What a grid moves. A block that q ranks compute with is stored in q pieces: whoever has one sends it to, or receives
/// the others from, q − 1 ranks, so a rank moves (1 − 1/q) of every block. Extents that do not divide count by their
/// largest block.
EINPARALLEL_INLINE [[nodiscard]] integer_grid grid_of(const contraction_shape& shape, int c, int m, int n, int k);

/// The grid of `processes` ranks (where the extents allow none: of as many as they allow) that moves least per rank, by
/// trying all of them.
EINPARALLEL_INLINE [[nodiscard]] integer_grid best_grid(const contraction_shape& shape, int processes);

}  // namespace einparallel
