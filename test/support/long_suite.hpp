#pragma once
// How many cases of a random suite are tried: all of them by `cmake --build build --target check_long`, a twentieth by
// test/run. Seeds are fixed, so the twentieth is always the same one.

#include <algorithm>
#include <cstdlib>

namespace einparallel::testing {

/// Of `all` cases, the first ones.
inline int tried_cases(int all) {
    return std::getenv("EINPARALLEL_TEST_LONG") != nullptr ? all : std::max(1, all / 20);
}

}  // namespace einparallel::testing
