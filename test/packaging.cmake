# cmake -DSOURCE=<repository> -DOUT=<folder> -P packaging.cmake
# The rendered files are current, and the recipes can be rendered (into OUT); no other file of the repository (bench/results apart) has an address of the project
# other than those of cmake/packaging/project.json, or says a version of the project.

cmake_minimum_required(VERSION 3.25)
get_filename_component(SOURCE "${SOURCE}" ABSOLUTE)
execute_process(
    COMMAND "${CMAKE_COMMAND}" -DCHECK=ON -P "${SOURCE}/cmake/packaging/render.cmake" COMMAND_ERROR_IS_FATAL ANY
)
execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${OUT}" -P "${SOURCE}/cmake/packaging/render.cmake"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY
)
include("${SOURCE}/cmake/packaging/project.cmake")
include("${SOURCE}/cmake/einparallel_version.cmake")

find_program(GIT git)
if(NOT GIT OR NOT EXISTS "${SOURCE}/.git")
    message("This is no clone, or there is no git: no file was searched.")
    return()
endif()

# matches(<variable> <expression> <pathspec>...): "file:line:match" for each match in the tracked files.
function(matches variable expression)
    execute_process(
        COMMAND "${GIT}" -C "${SOURCE}" grep -nIoE "${expression}" -- . ":!bench/results" ${ARGN}
        RESULT_VARIABLE result OUTPUT_VARIABLE found ERROR_VARIABLE complaint
    )
    if(result GREATER 1)
        message(FATAL_ERROR "git grep failed: ${complaint}")
    endif()
    string(REGEX REPLACE "[][;]" "_" found "${found}")
    string(REGEX REPLACE "\n$" "" found "${found}")
    string(REPLACE "\n" ";" found "${found}")
    set(${variable} "${found}" PARENT_SCOPE)
endfunction()

set(mistakes "")
set(word "[A-Za-z0-9_-]+")
set(mail "[A-Za-z0-9._%+-]+@[A-Za-z]${word}([.]${word})*[.][A-Za-z]+")
set(rest "[A-Za-z0-9_./?#=&%+~-]*")
matches(found "${mail}|(https?://)?([A-Za-z0-9.-]+[.])?example[.]org${rest}|(https?://)?github[.]com[/:]${word}/einparallel${rest}")
foreach(match IN LISTS found)
    string(REGEX REPLACE "^[^:]*:[0-9]+:" "" address "${match}")
    string(REGEX REPLACE "[.]$" "" address "${address}")
    string(FIND "${address}/" "${einparallel_project_homepage}/" place)
    if(NOT address STREQUAL einparallel_project_contact AND NOT place EQUAL 0)
        string(APPEND mistakes "  ${match}: an address that project.json does not have\n")
    endif()
endforeach()

# The changelog, which render.cmake compares; the install tests, which fail with another number; rendered files.
set(apart ":!CHANGELOG.md" ":!test/install")
file(GLOB templates RELATIVE "${SOURCE}/cmake/packaging/top" "${SOURCE}/cmake/packaging/top/*.in")
foreach(template IN LISTS templates)
    string(REGEX REPLACE "[.]in$" "" file "${template}")
    list(APPEND apart ":!${file}")
endforeach()
string(REPLACE "." "[._]" version "${einparallel_version}")
matches(
    found
    "einparallel(_[a-z]+)*[ _/-]v?[0-9]+[._][0-9]+|([Vv]ersion|VERSION)[^0-9]*${version}([^0-9]|$)|EINPARALLEL_VERSION *[=<]=? *[0-9]+"
    ${apart}
)
foreach(match IN LISTS found)
    string(APPEND mistakes "  ${match}: a version said by hand\n")
endforeach()

if(mistakes)
    message(FATAL_ERROR "What cmake/packaging knows is said elsewhere:\n${mistakes}")
endif()
message("The project is named in one place.")
