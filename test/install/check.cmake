# Installs this build, moves the installed folder elsewhere, and builds and runs the project of this folder on it:
# header-only, on the compiled library, and with both in one program.

cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
install_and_move("${BUILD}")

# Without optimisation, which would take the compiler twice as long.
step("${CMAKE_COMMAND}" ${common} -B "${WORK}/installed" "${on_moved}")
step("${CMAKE_COMMAND}" --build "${WORK}/installed")
step(${launch} "${WORK}/installed/uses_einparallel")
step("${WORK}/installed/plans")
without_mpi("${WORK}/installed/plans")

if(EXISTS "${WORK}/installed/compiled_solver.txt")
    step(${launch} "${WORK}/installed/uses_compiled")
    step("${WORK}/installed/plans_compiled")
    without_mpi("${WORK}/installed/plans_compiled")

    # No copy of the library's internals comes from the unit that uses the compiled one, and no unit of it calls the
    # other's, whose -march differs.
    set(internals run_rows run_walk blocked_gemm:: contract_product< model_builder::)
    set(of_library ${internals})
    list(TRANSFORM of_library PREPEND "detail::compiled_${version}::")
    file(READ "${WORK}/installed/compiled_solver.txt" object)
    symbols("${object}" --defined-only LACKS ${of_library} detail::header_only::)
    symbols("${object}" --undefined-only HAS detail::compiled_${version}:: LACKS detail::header_only::)
    file(READ "${WORK}/installed/header_only_solver.txt" object)
    symbols("${object}" --defined-only HAS detail::header_only:: LACKS detail::compiled_${version}::)
    symbols("${object}" --undefined-only LACKS detail::compiled_${version}:: einparallel_compiled_)
    # Each has its own kernels; where this build is shared, the compiled ones are in the library.
    set(both detail::header_only::blocked_gemm)
    file(GLOB_RECURSE archives "${moved}/lib*/libeinparallel_compiled_core.a")
    if(archives)
        list(APPEND both detail::compiled_${version}::blocked_gemm)
    endif()
    foreach(first IN ITEMS header_only compiled)
        set(program "${WORK}/installed/${first}_first")
        step(${launch} "${program}")
        symbols("${program}" --defined-only HAS ${both})
    endforeach()
endif()
