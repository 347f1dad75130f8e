# The project of this folder with the sources as its subdirectory and the library shared; then on that library installed
# and moved.

cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

set(build "${WORK}/subdirectory")
set(take_built "${CMAKE_CURRENT_LIST_DIR}/take_built.cmake")
set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "${CMAKE_COMMAND};-DBUILD=${BUILD};-P;${take_built};--")
step(
    "${CMAKE_COMMAND}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${FLAGS}" -S "${PROJECT}" -B
    "${build}" "-DEINPARALLEL_SOURCE=${SOURCE}" -DBUILD_SHARED_LIBS=ON -DEINPARALLEL_INSTALL=ON
    -DCMAKE_BUILD_TYPE=None # unoptimised: what counts here is what links
)
unset(ENV{CMAKE_CXX_COMPILER_LAUNCHER})
# As a subdirectory nothing of this repository's own is built or offered.
step("${CMAKE_COMMAND}" --build "${build}" --target plans_compiled uses_compiled)
step("${build}/plans_compiled")
without_mpi("${build}/plans_compiled")
step(${launch} "${build}/uses_compiled")

# Exported is what units refer to, not what the library does inside.
set(way "einparallel::detail::compiled_${version}")
set(libraries "${build}/einparallel/libeinparallel_compiled_")
if(EXISTS "${libraries}core.so")
    symbols(
        "${libraries}core.so" "-D;--defined-only" HAS einparallel_compiled_${version} einparallel::decompose_vertices
        "einparallel::plan::bytes_sent" "${way}::run_rows" "${way}::contract_product<double>" LACKS
        "T ${way}::blocked_gemm::" "T ${way}::model_builder::" "W ${way}::model_builder::"
    )
    symbols("${libraries}core.so" "-D;--undefined-only" LACKS " MPI_")
    symbols(
        "${libraries}mpi.so" "-D;--defined-only" HAS "T ${way}::context_state::context_state" LACKS
        "T ${way}::prepared_plan::" "W ${way}::prepared_plan::"
    )
endif()

# What the library for devices takes of these two is exported, too.
file(GLOB cuda_object "${BUILD}/CMakeFiles/einparallel_compiled_cuda.dir/*/cuda.cpp.o")
if(cuda_object AND EXISTS "${libraries}core.so" AND NM)
    set(exported "")
    foreach(part IN ITEMS core mpi)
        execute_process(
            COMMAND "${NM}" -D --defined-only "${libraries}${part}.so"
            OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY
        )
        string(REGEX MATCHALL "[^ \n]+\n" names "${names}")
        list(APPEND exported ${names})
    endforeach()
    execute_process(COMMAND "${NM}" -u "${cuda_object}" OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[^ \n]*einparallel[^ \n]*\n" names "${names}")
    list(FILTER names EXCLUDE REGEX "6detail6launch")  # device.cu's, of the same library
    list(REMOVE_ITEM names ${exported})
    if(names)
        message(FATAL_ERROR "${libraries}*.so do not export what einparallel_compiled_cuda needs: ${names}")
    endif()
endif()

install_and_move("${build}")
step("${CMAKE_COMMAND}" ${common} -B "${WORK}/installed" "${on_moved}")
step("${CMAKE_COMMAND}" --build "${WORK}/installed" --target plans_compiled)
step("${WORK}/installed/plans_compiled")
