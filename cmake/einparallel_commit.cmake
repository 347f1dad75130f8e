# cmake -DSOURCE=<top> -DOUT=<folder> -DOPTIONS=<text> -P einparallel_commit.cmake
# Writes OUT/einparallel_commit.h, which one small unit of the compiled library includes, and OUT/version.hpp, which is
# installed; both say the commit of the sources, and are written only where it changed. `git archive` has written it into
# the sources themselves. Sources without either, or within another repository, say "unknown".

set(commit "")
if(EXISTS "${SOURCE}/.git")
    find_program(GIT git)
    if(GIT)
        execute_process(
            COMMAND "${GIT}" -C "${SOURCE}" rev-parse HEAD
            OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
        )
        execute_process(
            COMMAND "${GIT}" -C "${SOURCE}" diff --quiet HEAD -- include
            RESULT_VARIABLE changed ERROR_QUIET
        )
        if(commit AND NOT changed EQUAL 0)
            string(APPEND commit " with changes")
        endif()
    endif()
endif()

file(READ "${SOURCE}/include/einparallel/notation/version.hpp" version)
set(line "")
if(commit)
    set(line "#define EINPARALLEL_COMMIT \"${commit}\"\n")
    string(REGEX REPLACE "#define EINPARALLEL_COMMIT \"[^\n]*\n" "${line}" version "${version}")
endif()
string(REPLACE "\\" "\\\\" options "${OPTIONS}")
string(REPLACE "\"" "\\\"" options "${options}")
string(APPEND line "#define EINPARALLEL_BUILD_OPTIONS \"${options}\"\n")
file(CONFIGURE OUTPUT "${OUT}/einparallel_commit.h" CONTENT "${line}" @ONLY)
file(CONFIGURE OUTPUT "${OUT}/version.hpp" CONTENT "${version}" @ONLY)
