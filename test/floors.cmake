# cmake -DINCLUDE_DIR=<include> -P floors.cmake
# Rooms stand on floors; a header includes its own room and rooms on lower floors, never upwards and never sideways.
# A definition (.ipp) includes definitions of its own room only: each is compiled in one unit of the compiled library;
# run and data are one unit.
# The units themselves (source/) are no room.
# notation is the ground, for its errors, boxes and element types are everybody's words.
# Only mpi, run and data see <mpi.h>, and only cuda and device see CUDA.

cmake_minimum_required(VERSION 3.25)
get_filename_component(INCLUDE_DIR "${INCLUDE_DIR}" ABSOLUTE)

# The map: each room on its floor.
set(floor_notation 0)  # labels, subscripts, expressions; the values that they end in: einsum_form, op_program
set(floor_mpi 1)       # communicators, datatypes, transfers: RAII, nothing more
set(floor_cuda 1)      # streams, memory, cuBLAS: RAII, nothing more
set(floor_kernel 1)    # products, joins, rows and copies on strided blocks; simd/: bodies for each instruction set
set(floor_order 1)     # contraction orders of networks of tensors
set(floor_io 2)        # .npy files: header, and any box of the elements
set(floor_array 2)     # arrays, views, statements that run at once, other libraries' tensors
set(floor_layout 2)    # mesh and placement, and the distribution that follows: which rank holds which boxes
set(floor_device 2)    # contractions, copies and op programs on device memory; the memory space of a device
set(floor_graph 3)     # the EinGraph: vertices, tensors, inputs
set(floor_schedule 4)  # each algorithm once, over a sink that records a rank's program or counts
set(floor_cost 5)      # the paper's units, traffic and seconds of a task, traffic between two distributions
set(floor_search 6)    # states of vertices, the factor graph over them, its solver, the memory limit
set(floor_plan 7)      # plans as users hold them: printed, explained, made by hand
set(floor_run 8)       # a plan carried out: context, agreement, prepared programs, transport, trace
set(floor_data 9)      # inputs, results, distributed tensors, the application's layouts, files by all ranks
set(unit_data run)
set(may_see_mpi mpi run data)
set(may_see_cuda cuda device)

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
    set(unit ${room} ${unit_${room}})
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
            if(line MATCHES "\\.ipp>" AND (NOT other IN_LIST unit OR header MATCHES "\\.hpp$"))
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
