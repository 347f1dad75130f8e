# cmake -DCLANG_TIDY=<program> -DMPI_INCLUDES=<flags> -P tidy.cmake
# Each header is read by itself, as a user's compiler would.

cmake_minimum_required(VERSION 3.25)
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(GLOB_RECURSE headers "${root}/include/*.hpp")
set(untidy "")
foreach(header IN LISTS headers)
    execute_process(
        COMMAND "${CLANG_TIDY}" --quiet "${header}" -- -x c++ -std=c++20 "-I${root}/include" ${MPI_INCLUDES}
        RESULT_VARIABLE result
        OUTPUT_VARIABLE findings
        ERROR_QUIET
    )
    string(STRIP "${findings}" findings)
    if(findings OR NOT result EQUAL 0)
        message("${findings}")
        list(APPEND untidy "${header}")
    endif()
endforeach()
if(untidy)
    list(LENGTH untidy count)
    message(FATAL_ERROR "${count} headers are untidy.")
endif()
