# cmake -DCLANG_TIDY=<program> -DMPI_INCLUDES=<flags> -P tidy.cmake
# Each header is read by itself, as a user's compiler would.

cmake_minimum_required(VERSION 3.25)
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(GLOB_RECURSE headers "${root}/include/*.hpp")
set(untidy "")
foreach(header IN LISTS headers)
    execute_process(
        COMMAND "${CLANG_TIDY}" --quiet "${header}" -- -x c++ -std=c++20 "-I${root}/include" ${MPI_INCLUDES}
        OUTPUT_VARIABLE findings
        ERROR_QUIET
    )
    # clang-tidy 14 also complains, without a place, of names that it gave to concepts itself.
    if(findings MATCHES "/include/einparallel[^\n]*: (warning|error):")
        message("${findings}")
        list(APPEND untidy "${header}")
    endif()
endforeach()
if(untidy)
    list(LENGTH untidy count)
    message(FATAL_ERROR "${count} headers are untidy.")
endif()
