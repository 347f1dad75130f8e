#pragma once
// The memory that a program takes besides its tensors.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

/// Bytes that a program needs besides those that its plan states, and the vertex that needs most.
struct memory_need {
    std::size_t workspace = 0;  ///< the largest workspace of a contraction
    std::size_t out = 0;        ///< on the host, for messages that leave a device
    std::size_t in = 0;         ///< on the host, for messages that arrive at a device
    std::size_t results = 0;    ///< of all results
    std::size_t waiting = 0;    ///< of all tensors that are evicted
    std::string vertex{};       ///< name of the vertex whose step holds most bytes at once
    std::size_t of_vertex = 0;  ///< bytes that this step holds
};

/// Bytes of pinned memory through which elements pass on their way between a device and files.
inline constexpr std::size_t bytes_to_files = std::size_t{4} << 20;

}  // namespace einparallel::EINPARALLEL_DETAIL
