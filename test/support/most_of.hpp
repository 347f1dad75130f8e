#pragma once
// The memory that a plan needs.

#include <einparallel/plan/plan.hpp>

#include <algorithm>
#include <cstddef>

namespace einparallel::testing {

/// The bytes of the rank that holds most.
inline std::size_t most_of(const plan& of) {
    std::size_t most = 0;
    for (int rank = 0; rank < of.processes(); ++rank) {
        most = std::max(most, of.peak_bytes(rank));
    }
    return most;
}

}  // namespace einparallel::testing
