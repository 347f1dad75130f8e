#pragma once
// The paper's approximation for general DAGs, and what can be made of it by changing one vertex at a time.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/pairwise.hpp>

#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// One state per variable by the paper's linearisation: the longest path is solved exactly as if the rest of the graph
/// were free, then the longest path of what is left, and so on.
EINPARALLEL_INLINE std::vector<int> minimise_along_paths(const pairwise_model& model);

/// Changes one variable at a time to its best state given all others until nothing improves. The sum never grows.
EINPARALLEL_INLINE std::vector<int> improve_locally(const pairwise_model& model, std::vector<int> states);

}  // namespace einparallel::EINPARALLEL_DETAIL
