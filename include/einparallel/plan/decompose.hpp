#pragma once
// EinDecomp: from the outputs of a graph to the cheapest plan for running it on a number of ranks.

#include <einparallel/graph/vertex.hpp>
#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/options.hpp>
#include <einparallel/plan/plan.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace einparallel {

/// The plan for computing `outputs` on options.processes ranks (with powers_of_two: on the next power of two). Needs no
/// MPI; the same call gives the same plan on every rank. @throws error: options that make no sense, a graph whose
/// recording failed, wishes that cannot be obeyed, a memory limit that no plan found keeps to
EINPARALLEL_INLINE plan decompose_vertices(const options& asked, const std::vector<std::shared_ptr<vertex>>& outputs);

inline namespace EINPARALLEL_WAY {

/// The plan for computing these tensors: `ep::decompose({.processes = 64}, Z, W)`.
template <class First, std::size_t FirstRank, class... More>
plan decompose(const options& asked, const tensor<First, FirstRank>& output, const More&... more) {
    return decompose_vertices(asked, {output.node(), more.node()...});
}

}  // namespace EINPARALLEL_WAY

}  // namespace einparallel
