#pragma once
// The backward pass: it records the gradients of a loss as vertices, from the loss back to the tensors.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>

#include <memory>
#include <span>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// Records ∂loss/∂tensor for each tensor in `of`, with the extents and element type of that tensor; for complex ones
/// ∂loss/∂Re + i ∂loss/∂Im. Vertices that depend on none of these tensors are skipped. Where `loss` has no derivative,
/// or does not depend on one of them, all vertices returned have failed, and the next decompose throws.
/// @pre loss has no dimensions, and is real
EINPARALLEL_INLINE std::vector<std::shared_ptr<vertex>> gradients_of(const std::shared_ptr<vertex>& loss,
                                                                     std::span<const std::shared_ptr<vertex>> of);

}  // namespace einparallel::EINPARALLEL_DETAIL
