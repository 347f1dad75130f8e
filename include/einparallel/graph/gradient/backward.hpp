#pragma once
// The backward pass: vertices for what a loss changes by where tensors do, from the loss to them.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>

#include <memory>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// For each of the tensors, that of ∂loss/∂tensor, with its extents and elements; of complex ones ∂loss/∂Re + i
/// ∂loss/∂Im. Vertices that do not depend on any of them are not gone through. One that fails where `loss` has no
/// derivative or does not depend on it, which the next decompose throws.
/// @pre loss has no dimensions, and is real
EINPARALLEL_INLINE std::vector<std::shared_ptr<vertex>> gradients_of(const std::shared_ptr<vertex>& loss,
                                                                     std::span<const std::shared_ptr<vertex>> of);

}  // namespace einparallel::EINPARALLEL_DETAIL
