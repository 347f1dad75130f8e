#pragma once
// Starts bodies. The function is declared here; the unit that compiles the launches defines it, for a GPU or, in a
// test, for the processor.

#include <einparallel/device/body.hpp>
#include <einparallel/device/launch.hpp>

#include <cstddef>

namespace einparallel::detail {

/// Largest number of bytes of a body, which is passed as the parameters of a launch.
inline constexpr std::size_t most_parameter_bytes = 4096;

/// Runs a body for every thread of every block, after all earlier work of the stream.
template <class Body>
void start(launch::stream on, const Body& body, const launch_shape& shape);

}  // namespace einparallel::detail
