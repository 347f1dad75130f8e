#pragma once
// The application's own distribution of a tensor: every rank says what it holds, all check the same list.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/layout/distribution.hpp>
#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/notation/element_type.hpp>
#include <einparallel/run/context.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// NumPy's short name of an element type: f8, c16, i4.
EINPARALLEL_INLINE std::string name_of_element(element_type element);

/// A box from its lower corner and its extents, as somebody asks for it: nothing is checked yet. Where the sum is
/// beyond an index, the side ends at the last one: outside of every tensor.
EINPARALLEL_INLINE box box_at(std::span<const extent> lower, std::span<const index> extents);

/// The pin of a tensor that is to lie in these blocks. @throws error where they are no grid
EINPARALLEL_INLINE std::vector<pinned_part> pin_of(const distribution& blocks);

/// What all ranks hold. Collective. @throws error, the same on every rank
EINPARALLEL_INLINE std::shared_ptr<const distribution> exchange_own_layout(context& world,
                                                                           const std::vector<index>& bounds,
                                                                           const box& mine, element_type element);

}  // namespace einparallel::EINPARALLEL_DETAIL
