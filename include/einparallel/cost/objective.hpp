#pragma once
// What a plan's cost may be.

#include <cstdint>

namespace einparallel {

/// What the planner minimises: seconds by the time model, the paper's upper bound in numbers moved, or the bytes that
/// this library's executor really sends.
enum class objective : std::uint8_t { time, paper, bytes };

}  // namespace einparallel
