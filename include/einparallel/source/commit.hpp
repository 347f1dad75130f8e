#pragma once
// The commit and the options of the library. They are a separate unit, so that a commit recompiles nothing else.

#include <einparallel/source/interface.hpp>

#include <string>
#include <string_view>

namespace einparallel::EINPARALLEL_DETAIL {

EINPARALLEL_INLINE std::string_view commit() {
    constexpr std::string_view known = EINPARALLEL_COMMIT;
    return known.starts_with('$') || known.empty() ? "unknown" : known;
}

EINPARALLEL_INLINE std::string build_options() {
#if defined(EINPARALLEL_BUILD_OPTIONS)
    return EINPARALLEL_BUILD_OPTIONS;
#else
#if defined(EINPARALLEL_COMPILED) && EINPARALLEL_COMPILED
    std::string options = "compiled by hand, ";
#else
    std::string options;
#endif
#if defined(__OPTIMIZE__)
    options += "optimised";
#else
    options += "not optimised";
#endif
#if defined(__AVX512F__)
    options += ", for AVX-512";
#elif defined(__AVX2__)
    options += ", for AVX2";
#endif
    return options;
#endif
}

}  // namespace einparallel::EINPARALLEL_DETAIL
