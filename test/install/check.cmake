# cmake -DBUILD=… -DWORK=… -DPROJECT=… -DSOURCE=… -DGENERATOR=… -DCXX=… -P check.cmake -- <launcher> <argument>...
# Installs this build, moves the installed folder elsewhere, and builds and runs the project of this folder on it. Then the
# same project once more, configured with the sources as its subdirectory.

cmake_minimum_required(VERSION 3.25)
set(launch "")
set(after FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(number RANGE ${last})
    if(after)
        list(APPEND launch "${CMAKE_ARGV${number}}")
    elseif("${CMAKE_ARGV${number}}" STREQUAL "--")
        set(after TRUE)
    endif()
endforeach()

function(step)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    message("${output}")
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " words)
        message(FATAL_ERROR "failed (${result}): ${words}")
    endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
step("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first place")
file(RENAME "${WORK}/first place" "${WORK}/second place")

# Nothing that was installed may name the folders of the sources or of the build.
file(GLOB_RECURSE installed "${WORK}/second place/lib*/*.cmake")
if(NOT installed)
    message(FATAL_ERROR "No package was installed.")
endif()
foreach(file IN LISTS installed)
    file(READ "${file}" text)
    foreach(folder IN ITEMS "${SOURCE}" "${BUILD}" "first place")
        string(FIND "${text}" "${folder}" position)
        if(NOT position EQUAL -1)
            message(FATAL_ERROR "${file} names ${folder}.")
        endif()
    endforeach()
endforeach()

set(common -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_BUILD_TYPE=Debug -S "${PROJECT}")
step("${CMAKE_COMMAND}" ${common} -B "${WORK}/installed" "-DCMAKE_PREFIX_PATH=${WORK}/second place")
step("${CMAKE_COMMAND}" --build "${WORK}/installed")
step(${launch} "${WORK}/installed/uses_einparallel")
step("${WORK}/installed/plans")

# As a subdirectory nothing of this repository's own is built or offered.
step("${CMAKE_COMMAND}" ${common} -B "${WORK}/subdirectory" "-DEINPARALLEL_SOURCE=${SOURCE}")
step("${CMAKE_COMMAND}" --build "${WORK}/subdirectory" --target plans)
step("${WORK}/subdirectory/plans")
