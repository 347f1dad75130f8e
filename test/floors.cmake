# cmake -DINCLUDE_DIR=<include> -P floors.cmake
# Rooms stand on floors; a header includes its own room and rooms on lower floors, never upwards and never sideways.
# A definition (.ipp) includes definitions of its own room only: each is compiled in one unit of the compiled library.
# The units themselves (source/) are no room.
# notation is the ground, for its errors, boxes and element types are everybody's words.
# Only mpi and run see <mpi.h>, and only cuda, device and run see CUDA.

cmake_minimum_required(VERSION 3.25)
get_filename_component(INCLUDE_DIR "${INCLUDE_DIR}" ABSOLUTE)

set(floor_notation 0)
set(floor_mpi 1)
set(floor_cuda 1)
set(floor_kernel 1)
set(floor_io 1)
set(floor_layout 2)
set(floor_device 2)
set(floor_graph 3)
set(floor_schedule 4)
set(floor_plan 5)
set(floor_run 6)
set(may_see_mpi mpi run)
set(may_see_cuda cuda device run)

set(violations "")
set(checked 0)
file(GLOB_RECURSE headers RELATIVE "${INCLUDE_DIR}/einparallel" "${INCLUDE_DIR}/einparallel/*.hpp"
     "${INCLUDE_DIR}/einparallel/*.ipp"
)
list(FILTER headers EXCLUDE REGEX "^source/")
foreach(header IN LISTS headers)
    string(REGEX REPLACE "/.*" "" room "${header}")
    if(NOT DEFINED floor_${room})
        string(APPEND violations "  ${header}: the room '${room}' stands on no floor\n")
        continue()
    endif()
    file(STRINGS "${INCLUDE_DIR}/einparallel/${header}" includes REGEX "^[ \t]*#[ \t]*include")
    foreach(line IN LISTS includes)
        math(EXPR checked "${checked} + 1")
        if(line MATCHES "<einparallel/([a-z_]+)/")
            set(other "${CMAKE_MATCH_1}")
            if(NOT other STREQUAL room
               AND (NOT DEFINED floor_${other} OR NOT floor_${other} LESS floor_${room})
            )
                string(APPEND violations "  ${header}: ${line}: '${other}' is not below '${room}'\n")
            endif()
            if(line MATCHES "\\.ipp>" AND (NOT other STREQUAL room OR header MATCHES "\\.hpp$"))
                string(APPEND violations "  ${header}: ${line}: a definition of another unit\n")
            endif()
        elseif(line MATCHES "<einparallel\\.hpp>")
            string(APPEND violations "  ${header}: ${line}: the umbrella is for users\n")
        elseif(line MATCHES "\"")
            string(APPEND violations "  ${header}: ${line}: written with <>, from the include folder\n")
        elseif(line MATCHES "<mpi[^>]*\\.h>" AND NOT room IN_LIST may_see_mpi)
            string(APPEND violations "  ${header}: ${line}: only ${may_see_mpi} see MPI\n")
        elseif(line MATCHES "<(cuda|cublas|cutensor|nccl)[^>]*>" AND NOT room IN_LIST may_see_cuda)
            string(APPEND violations "  ${header}: ${line}: only ${may_see_cuda} see CUDA\n")
        endif()
    endforeach()
endforeach()

if(checked EQUAL 0)
    message(FATAL_ERROR "No include was found under ${INCLUDE_DIR}.")
endif()
if(violations)
    message(FATAL_ERROR "Includes that leave their floor:\n${violations}")
endif()
message("${checked} includes keep to their floors.")
