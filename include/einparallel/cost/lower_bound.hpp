#pragma once
// The least that some rank has to send or receive for a contraction.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <optional>
#include <vector>

namespace einparallel {

/// A contraction of X (c·m × k) and Y (c·k × n) to Z (c·m × n). The labels of one class are fused into one extent.
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

/// The least number of words (elements) that some rank has to send or receive for a contraction. `processes` ranks
/// share the operands, the output and the multiplications evenly, and each element is held once. This is the tight
/// bound, whatever the memory, of Al Daas, Ballard, Grigori, Kumar and Rouse (2022), with three cases for the aspect
/// ratio. It is attained where the ideal grid is integral.
/// With batches, the multiplications of a rank touch the fewest elements if they fill whole batches and the rest lies
/// in one batch, for this number of elements is a concave function of the number of multiplications. So nothing has to
/// move where the number of batches is a multiple of `processes`.
EINPARALLEL_INLINE [[nodiscard]] double lower_bound_words(const contraction_shape& shape, int processes);

}  // namespace einparallel
