#pragma once
// The exact minimum of a pairwise model, by eliminating one variable after the other.

#include <einparallel/notation/compiled.hpp>
#include <einparallel/plan/pairwise.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// How large tables may grow before exact elimination gives up.
struct elimination_limits {
    std::size_t cells = std::size_t{1} << 22;   ///< entries of one table
    std::size_t visits = std::size_t{1} << 33;  ///< table look-ups in all: seconds
};

/// The states with the smallest sum, exactly; nothing where that takes tables past the limits. Dominated states are
/// left out only where the tables are too large with them: looking for them takes longer than to eliminate most models,
/// and layers that are alike lose different states.
EINPARALLEL_INLINE std::optional<std::vector<int>> minimise_exactly(const pairwise_model& model,
                                                                    elimination_limits limits = {});

}  // namespace einparallel::EINPARALLEL_DETAIL
