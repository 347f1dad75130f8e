#pragma once
// Brings elements of a distributed tensor to the ranks that ask for them: all to one, all to all, or a box to each.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/notation/function_ref.hpp>
#include <einparallel/run/context.hpp>

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

struct dealt_matrix;  // layout/dealt.hpp

/// Elements of a box in memory, wherever they lie.
struct strided_box {
    std::byte* data = nullptr;  ///< the element at the lower corner of `held`
    box held;
    std::vector<index> strides;  ///< in elements
    std::size_t element_bytes = 1;
    bool is_on_device = false;  ///< in memory of a device, which the host does not look into

    /// The first element of a part. @pre contains(held, region)
    EINPARALLEL_INLINE [[nodiscard]] std::byte* first(const box& region) const;

    /// Copies a part, dense and row-major. @throws error, which begins with `what`, where it is not held here
    EINPARALLEL_INLINE void read(const box& region, void* destination, std::string_view what) const;

    /// The elements of a part where they lie, as source::borrow(); null where they are not here, or lie backwards.
    EINPARALLEL_INLINE [[nodiscard]] const void* borrow(const box& region, std::vector<index>& found) const;

    /// True where some elements may lie in [begin, end).
    EINPARALLEL_INLINE [[nodiscard]] bool lies_in(const void* begin, const void* end) const;
};

/// One rank's part of a tensor, with its type erased.
struct distributed_part {
    std::shared_ptr<const void> keep;  ///< owns the elements; null where the application does
    strided_box elements;              ///< those that this rank holds; of a block-cyclic matrix one behind the other
    std::shared_ptr<const distribution> where;
    std::weak_ptr<context_state> world;
    std::shared_ptr<const dealt_matrix> dealt{};      ///< of a block-cyclic matrix, in place of `where`
    std::optional<std::weak_ptr<const void>> life{};  ///< expires with the application's array, where that is known

    [[nodiscard]] bool is_gone() const { return life.has_value() && life->expired(); }
};

/// The whole tensor's extents. @pre the part is no handle on nothing
EINPARALLEL_INLINE std::vector<index> bounds_of(const distributed_part& part);

EINPARALLEL_INLINE const distributed_part& checked(const distributed_part& part);

/// The same elements where the host reads them: in place, or a dense copy, pinned, of those on a device. Local.
/// @throws error where no run on their device has begun on the context, or it is gone; cuda_error
EINPARALLEL_INLINE distributed_part on_host(const distributed_part& part);
/// Copies what on_host(part) returned, changed or not, to where the elements are on the device.
EINPARALLEL_INLINE void write_back(const distributed_part& part, const distributed_part& copied);
EINPARALLEL_INLINE [[noreturn]] void refuse_view();

/// This rank's elements as text. Local.
EINPARALLEL_INLINE std::ostream& print_part(std::ostream& stream, const distributed_part& part, element_type element);

/// Collects the tensor on `root`, in a dense array that allocate() makes there. Collective.
EINPARALLEL_INLINE void gather_part(const distributed_part& part, int root, function_ref<std::byte*()> allocate);

/// Collects the tensor on every rank, in dense arrays that allocate() makes. Collective.
EINPARALLEL_INLINE void allgather_part(const distributed_part& part, function_ref<std::byte*()> allocate);

/// What is wrong with memory to write to; empty where nothing is.
EINPARALLEL_INLINE std::string check_target(const strided_box& target);

/// Brings the box `mine` of a tensor to where place() says, which also allocates (distributed::fetch_into). Every rank
/// knows its own box only. `mistake`: what this rank has found wrong already; empty where nothing is. Where the target
/// meets the memory of the tensor itself (ghost cells around its own block), what others want of it is copied first.
/// Collective. Returns the bytes that this rank sent. @throws error, the same on every rank
EINPARALLEL_INLINE std::size_t fetch_part(const distributed_part& part, const box& mine, const std::string& mistake,
                                          function_ref<strided_box()> place);

/// The same for the boxes of another distributed tensor, which all ranks know, into its memory.
EINPARALLEL_INLINE std::size_t fetch_like(const distributed_part& part, const distributed_part& there);

}  // namespace einparallel::EINPARALLEL_DETAIL

namespace einparallel {

/// A value for a placeholder, or the memory for an output, types erased: what ep::bind and ep::into return and a run
/// takes.
struct binding {
    std::shared_ptr<vertex> placeholder;                     ///< what is bound
    std::shared_ptr<vertex> value;                           ///< where its elements come from
    std::shared_ptr<const detail::distributed_part> into{};  ///< of an output: where they go
    element_type element{};                                  ///< of that memory

    /// True for an output.
    [[nodiscard]] bool is_output() const { return into != nullptr; }
};

}  // namespace einparallel
