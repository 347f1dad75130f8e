#pragma once
// Fills new memory by the threads that will use it: memory belongs to the part of the machine that touches it first.

#include <einparallel/notation/box.hpp>
#include <einparallel/notation/compiled.hpp>

#include <cstddef>

namespace einparallel::EINPARALLEL_DETAIL {

/// Fills `bytes` of new memory with copies of `from`, or with zeros where that is null.
EINPARALLEL_INLINE void touch_first(std::byte* memory, const std::byte* from, index bytes);

}  // namespace einparallel::EINPARALLEL_DETAIL
