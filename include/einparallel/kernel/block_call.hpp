#pragma once
// A call on strided blocks: what every kind of work gets.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/einsum_form.hpp>

#include <cstdint>
#include <span>

namespace einparallel {

class progress_hook;

/// One operand of a call on blocks: its first element, and per dimension the label and the stride (in elements, any
/// sign).
struct operand_block {
    const void* data = nullptr;
    label_span labels;
    index_span strides;
};

/// The output of a call on blocks. No two of its elements share an address.
struct output_block {
    void* data = nullptr;
    label_span labels;
    index_span strides;
};

/// The stride of a label in a block; of several dimensions that carry it, along their diagonal.
index stride_along(const auto& block, label_id label) {
    index stride = 0;
    for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
        stride += block.labels[dimension] == label ? block.strides[dimension] : 0;
    }
    return stride;
}

/// What happens to what the output held before.
enum class write_mode : std::uint8_t {
    overwrite,  ///< Z = ⊕ …, the identity of ⊕ where nothing is aggregated (a contracted extent of 0)
    combine     ///< Z = Z ⊕ (⊕ …): how a ring adds its contribution to the partial that arrived
};

/// Z[ℓZ] (⊕)= ⊕_agg ⊗(X1[ℓ1], …, Xr[ℓr]) on strided blocks. `extents[label]` is the length of the block along that
/// label; a dimension that carries `no_label` has extent 1. A call reads spans only: it never allocates to describe
/// itself.
struct block_call {
    index_span extents;
    std::span<const operand_block> operands;
    output_block output;
    write_mode mode = write_mode::overwrite;
    progress_hook* hook = nullptr;  ///< reported to between blocks (progress.hpp); null: to nobody
    index_span first{};             ///< where the block begins along each label, for sentences; none: at 0
};

}  // namespace einparallel
