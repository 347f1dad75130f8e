#pragma once
// The commit of the library: a unit of its own, so that a commit recompiles nothing else.

#include <einparallel/source/interface.hpp>

#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string_view commit() {
    constexpr std::string_view known = EINPARALLEL_COMMIT;
    return known.starts_with('$') || known.empty() ? "unknown" : known;
}

}  // namespace einparallel::EINPARALLEL_DETAIL
