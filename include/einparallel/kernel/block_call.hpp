#pragma once
// A call on strided blocks: what every kind of work gets.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/einsum_form.hpp>
#include <einparallel/notation/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace einparallel {

class progress_hook;

namespace EINPARALLEL_DETAIL {

struct joined_blocks;  // kernel/joined.hpp

}  // namespace EINPARALLEL_DETAIL

/// Strided memory that an einsum reads or writes: one value from where a tensor is named to where its elements are
/// computed with. Extents, strides and labels are by dimension and live elsewhere, as long as the statement.
struct strided_block {
    void* data = nullptr;            ///< the first element; of an operand, it is only read
    index_span extents{};            ///< none in calls, which know them by label
    const index* strides = nullptr;  ///< in elements, any sign; no two elements of an output share an address
    label_span labels{};             ///< none until the statement says them
    element_type element{};
    const detail::joined_blocks* joined = nullptr;  ///< where its elements lie, if not in one block

    strided_block() = default;
    strided_block(const void* first, index_span sizes, const index* steps, element_type type,
                  const detail::joined_blocks* in = nullptr)
        : data(const_cast<void*>(first)), extents(sizes), strides(steps), element(type), joined(in) {}
    strided_block(const strided_block& of, label_span names) : strided_block(of) { labels = names; }
    /// In a call.
    strided_block(const void* first, element_type type, label_span names, index_span steps)
        : data(const_cast<void*>(first)), strides(steps.data()), labels(names), element(type) {}
    template <Element T>
    strided_block(const T* first, label_span names, index_span steps)
        : strided_block(first, element_type_of<T>(), names, steps) {}

    [[nodiscard]] index_span steps() const { return {strides, labels.size()}; }
    /// The lowest and one past the highest address of its elements; equal where there are none. @pre one block, with
    /// extents
    EINPARALLEL_INLINE [[nodiscard]] std::pair<std::uintptr_t, std::uintptr_t> touched() const;
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

struct block_call;

/// How a call is computed: decided once, run at whatever addresses.
class prepared_call : private detail::not_copied {
public:
    virtual ~prepared_call() = default;
    /// @param at  the call that it was made for, its blocks where they are now
    virtual void run(const block_call& at) = 0;

    std::size_t workspace = 0;  ///< bytes that it takes, of the memory space's
};

/// Z[ℓZ] (⊕)= ⊕_agg ⊗(X1[ℓ1], …, Xr[ℓr]) on strided blocks. `extents[label]` is the length of the block along that
/// label; a dimension that carries `no_label` has extent 1. A call reads spans only: it never allocates to describe
/// itself.
struct block_call {
    index_span extents;
    std::span<const strided_block> operands;
    strided_block output;
    write_mode mode = write_mode::overwrite;
    progress_hook* hook = nullptr;  ///< reported to between blocks (progress.hpp); null: to nobody
    index_span first{};             ///< where the block begins along each label, for sentences; none: at 0
};

}  // namespace einparallel
