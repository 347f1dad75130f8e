#pragma once
// Plans for programs: JSON with a version.

#include <einparallel/notation/compiled.hpp>

namespace einparallel {

namespace EINPARALLEL_DETAIL {

/// Number of the form of the JSON text; it grows when a reader of an earlier form could misunderstand.
inline constexpr int json_version = 1;

}  // namespace EINPARALLEL_DETAIL

}  // namespace einparallel
