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

/// The elements that a view sees, as a whole tensor.
template <class View>
strided_box elements_of(const View& seen) {
    using T = typename View::value_type;
    return {reinterpret_cast<std::byte*>(const_cast<T*>(seen.data())),
            whole_box({seen.extents().begin(), seen.extents().end()}),
            {seen.strides().begin(), seen.strides().end()},
            element_type_of<T>()};
}

/// A box from its lower corner and its extents, as somebody asks for it: nothing is checked yet. Where the sum is
/// beyond an index, the side ends at the last one: outside of every tensor.
EINPARALLEL_INLINE box box_at(index_span lower, index_span extents);

/// The pin of a tensor that is to lie in these blocks. @throws error where they are no grid
EINPARALLEL_INLINE std::vector<pinned_part> pin_of(const distribution& blocks);

/// The first element of a region, row-major, that none of the boxes has; nothing where there is none.
EINPARALLEL_INLINE std::optional<std::vector<index>> first_hole(const box& region, const std::vector<box>& boxes);

/// The local tensor of this rank, which has these elements of a tensor with these extents. Collective: all learn what
/// each has.
/// @throws error, the same on every rank
EINPARALLEL_INLINE local_tensor own_tensor(context& world, const std::vector<index>& bounds, const strided_box& mine);

}  // namespace einparallel::EINPARALLEL_DETAIL
