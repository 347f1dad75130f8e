#pragma once
// Sums that are left unfinished: einsums with operands or an output in summands that still have to be added up (Partial
// carried across vertices, Sharding with einsum).

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace einparallel {

/// Which tensors of a vertex are pending, that is, sums that are not finished. A pending tensor has one more dimension
/// in front, for its summands: slice s is the s-th summand. So it rests and moves like every other tensor.
struct pending_sums {
    std::uint64_t operands = 0;  ///< bit r: operand r is pending
    int summands = 1;            ///< number of summands of each pending operand, equal for all of them
    bool output = false;         ///< true where the output stays pending: its readers add its summands

    friend bool operator==(const pending_sums&, const pending_sums&) = default;

    [[nodiscard]] bool reads(std::size_t operand) const { return operand < 64 && ((operands >> operand) & 1U) != 0; }
    [[nodiscard]] bool none() const { return operands == 0 && !output; }
};

/// An einsum with extra labels, behind its own, for pending sums. `carried` is a label of extent pending_sums::summands
/// that the pending operands have in front and the output lacks. It is contracted, and always cut into single summands,
/// so a kernel sees an extent of 1. `pending` is a label that only the output has, in front. Its extent is the number
/// of ranks that have summands of a block, and every such rank writes one summand.
struct summed_einsum {
    einsum_form form;
    std::vector<index> extents;  ///< by label
    label_id carried = no_label;
    label_id pending = no_label;
};

namespace EINPARALLEL_DETAIL {

/// Number of ranks that share one block of a tensor with these labels, or have summands of it: the product of the parts
/// of all axes that cut other labels.
EINPARALLEL_INLINE int sharers(const std::vector<label_id>& labels, const mesh& ranks);

/// Moves all axes whose labels the output lacks to the output's first label, the label of its summands. Together, in
/// row-major order, these axes number the summands.
EINPARALLEL_INLINE mesh axes_of_summands(mesh ranks, const std::vector<label_id>& output);

}  // namespace EINPARALLEL_DETAIL

/// The label for the summands of pending operands in the mesh of a vertex whose einsum has `labels` labels.
inline label_id carried_label(std::size_t labels) {
    return label_id(labels);
}

/// The einsum with extra labels for its pending sums. `ranks` is its mesh: where operands are pending, it has an axis
/// of sums.summands parts along carried_label().
/// @pre where the output is left pending, more than one rank has summands of a block
EINPARALLEL_INLINE summed_einsum with_sums(const einsum_form& form, const std::vector<index>& extents,
                                           const pending_sums& sums, const mesh& ranks);

}  // namespace einparallel
