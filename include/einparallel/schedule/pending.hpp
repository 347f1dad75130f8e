#pragma once
// Sums that are left unfinished: an einsum whose operands, or whose output, come in summands that still have to be
// added up (Partial carried across vertices, Sharding with einsum).

#include <einparallel/layout/mesh.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace einparallel {

/// What a vertex does with sums that are not finished. A pending tensor is a tensor with one more dimension in front,
/// its summands: slice s is the s-th summand. So it rests, moves and counts like every other tensor.
struct pending_sums {
    std::uint64_t operands = 0;  ///< bit r: operand r comes in summands
    int summands = 1;            ///< that those operands come in; all in the same number
    bool output = false;         ///< the output's summands are left to its readers

    friend bool operator==(const pending_sums&, const pending_sums&) = default;

    [[nodiscard]] bool reads(std::size_t operand) const { return operand < 64 && ((operands >> operand) & 1U) != 0; }
    [[nodiscard]] bool none() const { return operands == 0 && !output; }
};

/// An einsum with its pending sums written as labels behind its own. `carried` is a label of extent `summands` that the
/// pending operands have in front and the output lacks: it is contracted, and always cut into single summands, so that
/// a kernel sees an extent of 1. `pending` is a label that only the output has, in front; its extent is the number of
/// ranks that have summands of a block, and every rank writes one of them.
struct summed_einsum {
    einsum_form form;
    std::vector<index> extents;  ///< by label
    label_id carried = no_label;
    label_id pending = no_label;
};

namespace EINPARALLEL_DETAIL {

/// Number of ranks that share one block of a tensor with these labels, or have summands of it: all axes that cut
/// another label.
EINPARALLEL_INLINE int sharers(const std::vector<label_id>& labels, const mesh& ranks);

/// The mesh with all axes that the output lacks along the label of its summands, which stands in front: together they
/// number the summands, row-major.
EINPARALLEL_INLINE mesh axes_of_summands(mesh ranks, const std::vector<label_id>& output);

}  // namespace EINPARALLEL_DETAIL

/// The label that stands for the summands of pending operands in the mesh of a vertex with `labels` labels.
inline label_id carried_label(std::size_t labels) {
    return label_id(labels);
}

/// The einsum with its pending sums as labels. `ranks` is its mesh: with an axis of sums.summands parts along
/// carried_label() where operands are pending.
/// @pre where the output is left pending, more than one rank has summands of a block
EINPARALLEL_INLINE summed_einsum with_sums(const einsum_form& form, const std::vector<index>& extents,
                                           const pending_sums& sums, const mesh& ranks);

}  // namespace einparallel
