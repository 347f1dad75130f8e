#pragma once
// How many cases of a random suite are tried: all of them by `cmake --build build --target check_long`, a twentieth by
// test/run. Seeds are fixed, so the twentieth is always the same one.

#include <algorithm>
#include <cstddef>

namespace einparallel::testing {

/// Of `all` cases, the first ones.
constexpr int tried_cases(int all) {
#if defined(EINPARALLEL_TEST_LONG)
    return all;
#else
    return std::max(1, all / 20);
#endif
}

/// The effort of a search whose plan may be any: a sixteenth of the usual one. Each rank makes the plan, and simulated
/// ranks do so one after the other.
inline constexpr std::size_t short_search = 500'000;

}  // namespace einparallel::testing
