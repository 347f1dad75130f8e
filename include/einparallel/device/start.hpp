#pragma once
// How bodies are started: declared here, defined by who compiles the launches, for a GPU or for a test's processor.

#include <einparallel/device/body.hpp>
#include <einparallel/device/launch.hpp>

#include <cstddef>

namespace einparallel::detail {

/// Bytes of a body at most: a launch's parameters.
inline constexpr std::size_t most_parameter_bytes = 4096;

/// Runs a body for every thread of every block, after all that was given to the stream before.
template <class Body>
void start(launch::stream on, const Body& body, const launch_shape& shape);

}  // namespace einparallel::detail
