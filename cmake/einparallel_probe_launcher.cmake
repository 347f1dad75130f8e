# Starts two ranks with the launcher that was found and asks each how large its world is. Runs once per build folder and
# pair of library and launcher, and only where this repository's own programs are built.

set(einparallel_probe_key "${MPIEXEC_EXECUTABLE} ${MPI_CXX_LIBRARIES}")
if(NOT EINPARALLEL_LAUNCHER_PROBED STREQUAL einparallel_probe_key)
    set(einparallel_probe_program "${CMAKE_CURRENT_BINARY_DIR}/launcher_probe")
    try_compile(
        einparallel_probe_compiled "${CMAKE_CURRENT_BINARY_DIR}/launcher_probe_build"
        "${CMAKE_CURRENT_LIST_DIR}/launcher_probe.cpp"
        LINK_LIBRARIES MPI::MPI_CXX
        OUTPUT_VARIABLE einparallel_probe_output
        COPY_FILE "${einparallel_probe_program}"
    )
    if(NOT einparallel_probe_compiled)
        message(FATAL_ERROR "A first MPI program does not compile with ${MPI_CXX_COMPILER}:\n${einparallel_probe_output}")
    endif()
    execute_process(
        COMMAND "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} 2 "${einparallel_probe_program}"
        OUTPUT_VARIABLE einparallel_probe_output
        ERROR_VARIABLE einparallel_probe_errors
        RESULT_VARIABLE einparallel_probe_result
        TIMEOUT 60
    )
    string(REGEX MATCHALL "\\[world of 2\\]" einparallel_probe_pairs "${einparallel_probe_output}")
    list(LENGTH einparallel_probe_pairs einparallel_probe_pairs)
    if(einparallel_probe_output MATCHES "\\[world of 1\\]")
        message(
            FATAL_ERROR
                "${MPIEXEC_EXECUTABLE} started two worlds of one rank instead of one world of two, because it is not the "
                "launcher of ${EINPARALLEL_MPI_NAME}: set MPIEXEC_EXECUTABLE to the one that is."
        )
    elseif(NOT einparallel_probe_pairs EQUAL 2)
        message(
            FATAL_ERROR "${MPIEXEC_EXECUTABLE} could not start two ranks (${einparallel_probe_result}).\n"
                        "${einparallel_probe_output}${einparallel_probe_errors}"
        )
    endif()
    set(EINPARALLEL_LAUNCHER_PROBED "${einparallel_probe_key}" CACHE INTERNAL "launcher that started two ranks")
endif()
message(STATUS "MPI launcher starts one world of two ranks")
