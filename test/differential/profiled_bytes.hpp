#pragma once
// Bytes handed to MPI for other ranks, as a profiler counts them.

#include <cstddef>

namespace differential {

/// False where the MPI library has no profiling layer to stand in.
[[nodiscard]] bool is_profiled();

/// Sum over all sends of this process so far.
[[nodiscard]] std::size_t profiled_bytes();

}  // namespace differential
