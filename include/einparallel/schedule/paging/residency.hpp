#pragma once
// Which tensors stay in memory between two uses, and which wait in storage: the order of the steps is known.

#include <einparallel/notation/compiled.hpp>

#include <cstddef>
#include <vector>

namespace einparallel::EINPARALLEL_DETAIL {

/// The time between two uses of a value, in which it may leave memory.
struct residency_gap {
    std::size_t first = 0;  ///< first step after the one use
    std::size_t last = 0;   ///< last step before the other use; at least `first`
    double bytes = 0;
    double reads = 0;       ///< cost of bringing it back
    double writes = 0;      ///< cost of storing it, if no earlier gap of the same value has been left
    std::size_t value = 0;  ///< number of the value
};

/// Steps with a limit of memory, and the gaps of their values in order of `first`.
struct residency_problem {
    double limit = 0;
    std::vector<double> taken{};  ///< bytes by step, without what only waits
    std::vector<residency_gap> gaps{};
};

/// Which gaps values pass in storage, and what that costs.
struct residency {
    std::vector<bool> leaves{};  ///< by gap
    double cost = 0;
    double excess = 0;  ///< bytes by which steps exceed the limit, summed over the steps
};

/// The cheapest residency found. Candidates are those of several rules, one of which is Belady's (what is used last
/// leaves first), each improved by taking back what need not leave. With few gaps in dispute all choices are compared,
/// where this is not `quick`.
EINPARALLEL_INLINE residency best_residency(const residency_problem& of, bool quick = false);

}  // namespace einparallel::EINPARALLEL_DETAIL
