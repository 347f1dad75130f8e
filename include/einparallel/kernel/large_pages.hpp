#pragma once
// Large pages for large memory: walks across its rows then need few entries of the processor's table of pages.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>

#if defined(__linux__)
#include <sys/mman.h>

#include <cstdint>
#endif

namespace einparallel::EINPARALLEL_DETAIL {

/// Asks the system for large pages where memory of `bytes` is new, not touched yet and large enough to gain by them
/// (from 4 MiB on, as NumPy does). A wish: where it is not granted, nothing is different.
EINPARALLEL_INLINE void wish_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes);

}  // namespace einparallel::EINPARALLEL_DETAIL
