#pragma once
// A call on strided blocks, which is what every kind of work computes.

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

/// A block of strided memory that an einsum reads or writes. The same type is used from the statement that names a
/// tensor to the kernel that computes with its elements. Extents, strides and labels are by dimension. The block only
/// points to them: they must live as long as the statement.
struct strided_block {
    void* data = nullptr;            ///< the first element; the elements of an operand are only read
    index_span extents{};            ///< empty in a block_call, which has extents by label
    const index* strides = nullptr;  ///< in elements, any sign; no two elements of an output share an address
    label_span labels{};             ///< empty until the statement gives them
    element_type element{};
    const detail::joined_blocks* joined = nullptr;  ///< the blocks that hold its elements; null: one block, at `data`
    /// For an operand with one label whose elements are indices, ep::iota: the element at the label's index 0. Kernels
    /// that take such an operand read no memory for it. −1: the elements are in memory.
    index counts_from = -1;

    strided_block() = default;
    strided_block(const void* first, index_span sizes, const index* steps, element_type type,
                  const detail::joined_blocks* in = nullptr)
        : data(const_cast<void*>(first)), extents(sizes), strides(steps), element(type), joined(in) {}
    strided_block(const strided_block& of, label_span names) : strided_block(of) { labels = names; }
    /// A block of a block_call, which has no extents of its own.
    strided_block(const void* first, element_type type, label_span names, index_span steps)
        : data(const_cast<void*>(first)), strides(steps.data()), labels(names), element(type) {}
    template <Element T>
    strided_block(const T* first, label_span names, index_span steps)
        : strided_block(first, element_type_of<T>(), names, steps) {}

    [[nodiscard]] index_span steps() const { return {strides, labels.size()}; }
    /// The address of its lowest element, and the address behind its highest element. Both are equal where there are no
    /// elements.
    /// @pre one block, with extents
    EINPARALLEL_INLINE [[nodiscard]] std::pair<std::uintptr_t, std::uintptr_t> touched() const;
};

/// The stride of a label in a block: the sum of the strides of all dimensions that carry the label (its diagonal), 0
/// where none does.
index stride_along(const auto& block, label_id label) {
    index stride = 0;
    for (std::size_t dimension = 0; dimension < block.labels.size(); ++dimension) {
        stride += block.labels[dimension] == label ? block.strides[dimension] : 0;
    }
    return stride;
}

/// What a call does with the values that the output held before.
enum class write_mode : std::uint8_t {
    overwrite,  ///< Z = ⊕ …; the identity of ⊕ where nothing is aggregated (a contracted extent of 0)
    combine     ///< Z = Z ⊕ (⊕ …): a ring adds its contribution to the partial result that arrived
};

struct block_call;

/// The decision how a call is computed. It is made once, and can be run on blocks at any addresses.
class prepared_call : private detail::not_copied {
public:
    virtual ~prepared_call() = default;
    /// @param at  the call that this was made for; its blocks may be at other addresses now
    virtual void run(const block_call& at) = 0;

    std::size_t workspace = 0;  ///< bytes of the memory space's workspace that run() needs
};

/// Z[ℓZ] (⊕)= ⊕_agg ⊗(X1[ℓ1], …, Xr[ℓr]) on strided blocks, where (⊕)= is = or ⊕=, as `mode` says. `extents[label]` is
/// the length of the block along that label; a dimension that carries `no_label` has extent 1. All members are spans or
/// pointers, so that making a call allocates nothing.
struct block_call {
    index_span extents;
    std::span<const strided_block> operands;
    strided_block output;
    write_mode mode = write_mode::overwrite;
    progress_hook* hook = nullptr;  ///< gets the progress between blocks (progress.hpp); null: nobody does
    index_span first{};             ///< index at which the block begins along each label; empty: 0 along all of them

    /// The index at which the block begins along a label.
    [[nodiscard]] index first_along(label_id label) const { return first.empty() ? 0 : first[std::size_t(label)]; }
};

}  // namespace einparallel
