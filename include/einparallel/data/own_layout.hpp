#pragma once
// The application's own distribution of a tensor: every rank says what it holds, all check the same list.

#include <einparallel/data/local_tensor.hpp>
#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/run/context.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The elements of a view, as a whole tensor.
template <class View>
strided_box elements_of(const View& seen) {
    using T = typename View::value_type;
    return {reinterpret_cast<std::byte*>(const_cast<T*>(seen.data())),
            whole_box({seen.extents().begin(), seen.extents().end()}),
            {seen.strides().begin(), seen.strides().end()},
            element_type_of<T>()};
}

/// The box with this lower corner and these extents, which are not checked. Where the sum exceeds the largest index,
/// the side ends at the largest index, which is outside of every tensor.
EINPARALLEL_INLINE box box_at(index_span lower, index_span extents);

/// The pin that places a tensor in these blocks. @throws error where the blocks form no grid
EINPARALLEL_INLINE std::vector<pinned_part> pin_of(const distribution& blocks);

/// The first element of `region`, in row-major order, that is in none of the boxes; nullopt where all are.
EINPARALLEL_INLINE std::optional<std::vector<index>> first_hole(const box& region, const std::vector<box>& boxes);

/// Makes this rank's local tensor, with the elements `mine` of a tensor with extents `bounds`. Collective: every rank
/// learns which box each rank has.
/// @throws error, the same on every rank
EINPARALLEL_INLINE local_tensor own_tensor(context& world, const std::vector<index>& bounds, const strided_box& mine);

}  // namespace einparallel::EINPARALLEL_DETAIL
