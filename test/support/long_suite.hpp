#pragma once
// How many cases of a random suite are tried: all of them by `cmake --build build --target check_long`, a twentieth by
// test/run. Seeds are fixed, so the twentieth is always the same one.

#include <algorithm>

namespace einparallel::testing {

/// Of `all` cases, the first ones.
constexpr int tried_cases(int all) {
#if defined(EINPARALLEL_TEST_LONG)
    return all;
#else
    return std::max(1, all / 20);
#endif
}

}  // namespace einparallel::testing
