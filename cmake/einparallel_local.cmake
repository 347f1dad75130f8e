# What a program may link besides to make the local contraction faster:
#   einparallel::openmp  threads inside a contraction
#   einparallel::blas    a BLAS (LP64 or ILP64) for plain matrix products
# Read by this project and by its installed package; each target exists where what it needs was found. BLA_VENDOR,
# BLA_SIZEOF_INTEGER and BLA_STATIC of FindBLAS choose among several.

function(einparallel_local_target name package target)
    if(NOT TARGET einparallel::${name})
        find_package(${package} QUIET ${ARGN})
        if(TARGET ${target})
            add_library(einparallel::${name} INTERFACE IMPORTED GLOBAL)
            target_link_libraries(einparallel::${name} INTERFACE ${target})
        endif()
    endif()
endfunction()

function(einparallel_local_targets)
    if("openmp" IN_LIST ARGV)
        einparallel_local_target(openmp OpenMP OpenMP::OpenMP_CXX COMPONENTS CXX)
    endif()
    if("blas" IN_LIST ARGV)
        einparallel_local_target(blas BLAS BLAS::BLAS)
        if(TARGET einparallel::blas)
            # Units that are compiled with it refer to the library, so that the linker keeps it.
            target_compile_definitions(einparallel::blas INTERFACE EINPARALLEL_HAS_BLAS=1)
        endif()
    endif()
endfunction()
