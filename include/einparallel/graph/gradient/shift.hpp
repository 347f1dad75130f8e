#pragma once
// Tensors that a loss does not change with: what is subtracted before an exponential and added behind the logarithm.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>

#include <memory>
#include <span>

namespace einparallel::EINPARALLEL_DETAIL {

/// Whether it follows from the operations alone that the last vertex is the same whatever is added to an element of
/// `of`, as in log Σ exp(x − m) + m. `order`: vertices that are made of others, operands first.
EINPARALLEL_INLINE bool cancels(const vertex& of, std::span<const std::shared_ptr<vertex>> order);

}  // namespace einparallel::EINPARALLEL_DETAIL
