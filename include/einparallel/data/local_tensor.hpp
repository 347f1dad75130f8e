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

/// Elements of a box in memory, wherever they lie.
struct strided_box {
    std::byte* data = nullptr;  ///< the element at the lower corner of `held`
    box held;
    std::vector<index> strides;  ///< in elements
    element_type element;
    bool is_on_device = false;  ///< in memory of a device, which the host does not look into

    [[nodiscard]] std::size_t bytes() const { return std::size_t(held.size()) * element.bytes; }

    /// The first element of a region. @pre contains(held, region)
    EINPARALLEL_INLINE [[nodiscard]] std::byte* first(const box& region) const {
        return data + offset_of(region, held, strides) * index(element.bytes);
    }

    /// Copies a region, dense and row-major. @throws error, which begins with `what`, where it is not held here
    EINPARALLEL_INLINE void read(const box& region, void* destination, std::string_view what) const;

    /// The elements of a region where they lie, as source::borrow(); null where they are not here, or lie backwards.
    EINPARALLEL_INLINE [[nodiscard]] const void* borrow(const box& region, std::vector<index>& found) const;

    /// The same elements as those of the box at `lower` of a tensor; nothing at a null pointer.
    EINPARALLEL_INLINE [[nodiscard]] strided_box at(index_span lower) const;
};

/// How a block-cyclic matrix lies. The distribution of its local tensor is one of the tensor with rows and columns cut
/// in cycles (layout/cycles.hpp).
struct block_cycles {
    std::vector<index> extents;  ///< of the matrix
    std::vector<index> blocks;   ///< rows and columns of a cycle that a process has
    std::vector<index> cycles;   ///< rows and columns of a cycle
};

/// The elements of a distribution that a rank holds, dense in `memory`.
EINPARALLEL_INLINE strided_box dense_block(const distribution& where, int rank, element_type element,
                                           std::byte* memory = nullptr);

/// One rank's elements of a tensor.
struct local_tensor {
    std::shared_ptr<const void> keep;  ///< owns the elements; null where the application does
    strided_box elements;              ///< those that this rank holds; of a block-cyclic matrix one behind the other
    std::shared_ptr<const distribution> where;
    std::weak_ptr<context_state> world;
    std::optional<block_cycles> cyclic{};             ///< of a block-cyclic matrix
    std::optional<std::weak_ptr<const void>> life{};  ///< expires with the application's array, where that is known

    [[nodiscard]] bool is_gone() const { return life.has_value() && life->expired(); }
};

/// The whole tensor's extents. @pre it is not an empty handle
inline const std::vector<index>& bounds_of(const local_tensor& local) {
    return local.cyclic ? local.cyclic->extents : local.where->bounds();
}

inline const local_tensor& checked(const local_tensor& local) {
    expect(local.where != nullptr, "distributed: this handle holds nothing");
    return local;
}

/// The same elements where MPI reads them: in place, or a dense copy of those on a device (pinned), with a negative
/// stride (Open MPI 4.1 gets those wrong for elements of a byte), or in memory that is written meanwhile. Local.
/// @throws error where no run on their device has begun on the context, or it is gone; cuda_error
EINPARALLEL_INLINE local_tensor on_host(const local_tensor& local, bool is_shared = false);
/// Copies what on_host(local) returned, changed or not, to where the elements are.
EINPARALLEL_INLINE void write_back(const local_tensor& local, const local_tensor& copied);

/// This rank's elements as text. Local.
EINPARALLEL_INLINE std::ostream& print_tensor(std::ostream& stream, const local_tensor& local);

/// An input with the elements of a local tensor: of rank `root` where it is given, spread where the tensor says so,
/// else of all ranks. @pre it is not an empty handle
EINPARALLEL_INLINE std::shared_ptr<vertex> input_in_memory(const local_tensor& given,
                                                           std::optional<int> root = std::nullopt);

/// Elements that a run may write over: ep::bind(W, std::move(w)).
struct donation {
    std::shared_ptr<vertex> value{};  ///< an input with these elements; none where a result lies there
    bool is_begun = false;            ///< a run has begun with them: the handle has them no longer
};
/// The elements, as long as they are the handle's. @throws error
EINPARALLEL_INLINE const local_tensor& not_given(const donation& elements);

/// What is wrong with memory to write to; empty where nothing is.
EINPARALLEL_INLINE std::string check_target(const strided_box& target);

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// A value for a placeholder, or the memory for an output, types erased: what ep::bind and ep::into return and a run
/// takes.
struct binding {
    std::shared_ptr<vertex> placeholder;                 ///< what is bound
    std::shared_ptr<vertex> value;                       ///< where its elements come from
    std::shared_ptr<const detail::local_tensor> into{};  ///< of an output: where they go
    std::shared_ptr<detail::donation> gives{};           ///< of a value that a run may write over

    /// True for an output.
    [[nodiscard]] bool is_output() const { return into != nullptr; }
};

}  // namespace einparallel
