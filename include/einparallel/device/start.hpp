#pragma once
// How bodies are started: declared here, defined by who compiles the launches, for a GPU or for a test's processor.

#include <einparallel/device/body.hpp>
#include <einparallel/device/launch.hpp>

namespace einparallel::detail {

/// Runs a body for every thread of every block, after all that was given to the stream before.
template <class Body>
void start(launch::stream on, const Body& body, const launch_shape& shape);

}  // namespace einparallel::detail
