#pragma once
// Plans as keys of unordered containers.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/plan.hpp>

#include <cstddef>

/// Equal plans have equal hashes. Where tensors rest counts by the meshes of their vertices: distributions are equal
/// however they are described.
template <>
struct std::hash<einparallel::plan> {
    EINPARALLEL_INLINE std::size_t operator()(const einparallel::plan& hashed) const;
};
