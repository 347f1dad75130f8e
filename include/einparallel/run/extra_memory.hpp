#pragma once
// The memory that a program takes beside its tensors.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <string>

namespace einparallel::EINPARALLEL_DETAIL {

/// Bytes that a program needs beside what its plan says, and where it needs most.
struct memory_need {
    std::size_t workspace = 0;
    std::size_t out = 0;        ///< on the host: messages on their way out
    std::size_t in = 0;         ///< …, and in
    std::size_t results = 0;    ///< of all results
    std::string vertex{};       ///< in a step of which most bytes are held at once
    std::size_t of_vertex = 0;  ///< those
};

}  // namespace einparallel::EINPARALLEL_DETAIL
