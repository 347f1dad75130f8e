#pragma once
// One rank's elements of a distributed tensor, with their type erased: which elements, and where they lie in memory.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/run/context.hpp>
#include <einparallel/schedule/program.hpp>

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The elements of a box, in memory of the host or of a device, with any strides.
struct strided_box {
    std::byte* data = nullptr;  ///< the element at the lower corner of `held`
    box held;
    std::vector<index> strides;  ///< in elements
    element_type element;
    bool is_on_device = false;  ///< in memory of a device, which the host cannot read

    [[nodiscard]] std::size_t bytes() const { return std::size_t(held.size()) * element.bytes; }

    /// The address of the first element of `region`. @pre contains(held, region)
    EINPARALLEL_INLINE [[nodiscard]] std::byte* first(const box& region) const {
        return data + offset_of(region, held, strides) * index(element.bytes);
    }

    /// Copies `region` to `destination`, dense and row-major. @throws error, which names `what`, where `held` lacks it
    EINPARALLEL_INLINE void read(const box& region, void* destination, std::string_view what) const;

    /// The address of the elements of `region`, and their strides in `found`, as source::borrow() gives them. Null
    /// where the region is empty or not held, or where a stride is negative.
    EINPARALLEL_INLINE [[nodiscard]] const void* borrow(const box& region, std::vector<index>& found) const;

    /// The same elements as a box of a larger tensor, in which their first index is `lower`. Empty if `data` is null.
    EINPARALLEL_INLINE [[nodiscard]] strided_box at(index_span lower) const;
};

/// The layout of a block-cyclic matrix. The distribution of its local tensor is that of a tensor with four
/// dimensions: rows and columns are each cut in cycles (layout/cycles.hpp).
struct block_cycles {
    std::vector<index> extents;  ///< of the matrix
    std::vector<index> blocks;   ///< rows and columns of a block: what a process has of a cycle
    std::vector<index> cycles;   ///< rows and columns of a cycle
};

/// The elements that rank `rank` holds in the distribution `where`, dense and row-major in `memory`.
EINPARALLEL_INLINE strided_box dense_block(const distribution& where, int rank, element_type element,
                                           std::byte* memory = nullptr);

/// One rank's elements of a tensor.
struct local_tensor {
    std::shared_ptr<const void> keep;  ///< owns the elements; null where the application does
    strided_box elements;              ///< those that this rank holds; for a block-cyclic matrix, its local array
    std::shared_ptr<const distribution> where;
    std::weak_ptr<context_state> world;
    std::optional<block_cycles> cyclic{};             ///< set for a block-cyclic matrix only
    std::optional<std::weak_ptr<const void>> life{};  ///< expires with the application's array, where that is known

    [[nodiscard]] bool is_gone() const { return life.has_value() && life->expired(); }
};

/// Extents of the whole tensor. @pre `local` is not that of an empty handle
inline const std::vector<index>& bounds_of(const local_tensor& local) {
    return local.cyclic ? local.cyclic->extents : local.where->bounds();
}

inline const local_tensor& checked(const local_tensor& local) {
    expect(local.where != nullptr, "distributed: this handle holds nothing");
    return local;
}

/// This rank's elements in host memory that MPI can read: in place, or a dense copy. Elements are copied if they are on
/// a device (into pinned memory), if a stride is negative (Open MPI 4.1 sends wrong elements then, if they have one
/// byte), or if `is_shared`: their memory is written while it is read. Local.
/// @throws error where the elements are on a device and no run on this device has begun on the context, or the context
/// is gone; cuda_error
EINPARALLEL_INLINE local_tensor on_host(const local_tensor& local, bool is_shared = false);
/// Copies the elements of `copied`, which on_host(local) returned, back to `local`, if they are a copy.
EINPARALLEL_INLINE void write_back(const local_tensor& local, const local_tensor& copied);

/// Prints this rank's elements. Local.
EINPARALLEL_INLINE std::ostream& print_tensor(std::ostream& stream, const local_tensor& local);

/// An input with the elements of `given`. If `given.where` is set, they are distributed so. Else rank `root` has all of
/// them, or every rank, if there is no `root`. @pre `given` is not that of an empty handle
EINPARALLEL_INLINE std::shared_ptr<vertex> input_in_memory(const local_tensor& given,
                                                           std::optional<int> root = std::nullopt);

/// Elements that a run may write over: ep::bind(W, std::move(w)).
struct donation {
    std::shared_ptr<vertex> value{};  ///< an input with these elements; null when a run has written over them
    bool is_begun = false;            ///< a run with them has begun, so the handle no longer has them
};
/// The elements, while the handle has them. @throws error when a run with them has begun
EINPARALLEL_INLINE const local_tensor& not_given(const donation& elements);

/// Says why elements cannot be written to `target`; empty where they can.
EINPARALLEL_INLINE std::string check_target(const strided_box& target);

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// A value for a placeholder, or the memory for an output, with its type erased. ep::bind and ep::into return it, and a
/// run takes it.
struct binding {
    std::shared_ptr<vertex> placeholder;                 ///< the placeholder or the output
    std::shared_ptr<vertex> value;                       ///< for a placeholder: where its elements come from
    std::shared_ptr<const detail::local_tensor> into{};  ///< for an output: where its elements go; else null
    std::shared_ptr<detail::donation> gives{};           ///< for a value that the run may write over; else null
    std::string folder{};                                ///< for ep::scratch: where tensors may wait; else empty

    /// True for an output.
    [[nodiscard]] bool is_output() const { return into != nullptr; }
};

}  // namespace einparallel
