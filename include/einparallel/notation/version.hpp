#pragma once
// The version of these headers, said once: CMake reads it from here, and symbols of a compiled library are named after
// it.

#include <string_view>

#define EINPARALLEL_VERSION_MAJOR 0
#define EINPARALLEL_VERSION_MINOR 3
#define EINPARALLEL_VERSION_PATCH 0

/// 10000 * major + 100 * minor + patch.
#define EINPARALLEL_VERSION \
    (10000 * EINPARALLEL_VERSION_MAJOR + 100 * EINPARALLEL_VERSION_MINOR + EINPARALLEL_VERSION_PATCH)

// prefix_major_minor_patch and a suffix: an identifier.
#define EINPARALLEL_DETAIL_VERSIONED(prefix, suffix)                                              \
    EINPARALLEL_DETAIL_JOIN_VERSION(prefix, EINPARALLEL_VERSION_MAJOR, EINPARALLEL_VERSION_MINOR, \
                                    EINPARALLEL_VERSION_PATCH, suffix)
#define EINPARALLEL_DETAIL_JOIN_VERSION(prefix, major, minor, patch, suffix) \
    EINPARALLEL_DETAIL_PASTE_VERSION(prefix, major, minor, patch, suffix)
#define EINPARALLEL_DETAIL_PASTE_VERSION(prefix, major, minor, patch, suffix) \
    prefix##_##major##_##minor##_##patch##suffix

/// The git commit of these headers. `git archive` and the installation write it here.
#if !defined(EINPARALLEL_COMMIT)
#define EINPARALLEL_COMMIT "$Format:%H$"
#endif

#define EINPARALLEL_DETAIL_VERSION_TEXT(major, minor, patch) EINPARALLEL_DETAIL_VERSION_LETTERS(major, minor, patch)
#define EINPARALLEL_DETAIL_VERSION_LETTERS(major, minor, patch) #major "." #minor "." #patch

namespace einparallel {

/// "major.minor.patch" of the headers that this unit was compiled with.
[[nodiscard]] constexpr std::string_view version() noexcept {
    return EINPARALLEL_DETAIL_VERSION_TEXT(EINPARALLEL_VERSION_MAJOR, EINPARALLEL_VERSION_MINOR,
                                           EINPARALLEL_VERSION_PATCH);
}

}  // namespace einparallel
