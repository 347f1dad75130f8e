# cmake -DBUILD=<folder> -P take_built.cmake -- <compiler> <argument>...
# A compiler launcher: objects of the library that the build in that folder has are taken from there, for their flags
# are the same but for the optimisation; all others are compiled, one unit of the library among them.

cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/command_after_dashes.cmake")
command_after_dashes(compile)
list(FIND compile -o place)
math(EXPR place "${place} + 1")
list(GET compile ${place} object)
string(REGEX MATCH "CMakeFiles/einparallel_compiled_[a-z]+[.]dir/.*" built "${object}")
if(built AND EXISTS "${BUILD}/${built}" AND NOT built MATCHES "products_float")
    file(COPY_FILE "${BUILD}/${built}" "${object}")
    list(FIND compile -MF place)
    if(place GREATER -1)
        math(EXPR place "${place} + 1")
        list(GET compile ${place} dependencies)
        string(REPLACE " " "\\ " rule "${BUILD}/${built}")
        file(WRITE "${dependencies}" "${object}: ${rule}\n")
    endif()
else()
    execute_process(COMMAND ${compile} COMMAND_ERROR_IS_FATAL ANY)
endif()
