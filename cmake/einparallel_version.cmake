# Sets einparallel_version to "major.minor.patch", as einparallel/notation/version.hpp says it. Also for scripts.

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../include/einparallel/notation/version.hpp" einparallel_version_lines
     REGEX "^#define EINPARALLEL_VERSION_(MAJOR|MINOR|PATCH) [0-9]+$"
)
string(REGEX MATCHALL "[0-9]+" einparallel_version "${einparallel_version_lines}")
list(JOIN einparallel_version "." einparallel_version)
