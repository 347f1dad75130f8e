# The compiled library: the same names as the headers', defined once.
#   einparallel::compiled_core   everything but runs; links no MPI
#   einparallel::compiled_mpi    runs over MPI
#   einparallel::compiled        all of that
#   einparallel::compiled_cuda   runs on CUDA devices; what einparallel::cuda links
# Static, or shared with BUILD_SHARED_LIBS. In another project's build only what is linked is built.

# einparallel_compile(<target> UNITS <unit>... LINKS <target>... [TYPE STATIC|SHARED]): a library of the units
# einparallel/source/<unit>.hpp.
function(einparallel_compile target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TYPE" "UNITS;LINKS")
    set(sources "")
    foreach(unit IN LISTS arg_UNITS)
        set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}/${unit}.cpp")
        file(CONFIGURE OUTPUT "${source}" CONTENT "#include <einparallel/source/${unit}.hpp>\n" @ONLY)
        list(APPEND sources "${source}")
    endforeach()
    add_library(${target} ${arg_TYPE} ${sources})
    target_link_libraries(${target} PUBLIC ${arg_LINKS})
    target_compile_definitions(${target} PUBLIC EINPARALLEL_COMPILED=1)
    set_target_properties(
        ${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
                             INSTALL_RPATH "$ORIGIN;${CMAKE_INSTALL_RPATH}" VERSION "${PROJECT_VERSION}"
                             SOVERSION "${PROJECT_VERSION}" # as its symbols, of exactly one version
    )
    # The library's calls of its own functions are its own, so that they can be inlined; and what a shared library lacks
    # is an error where it is linked.
    include(CheckCXXCompilerFlag)
    include(CheckLinkerFlag)
    check_cxx_compiler_flag(-fno-semantic-interposition EINPARALLEL_COMPILER_BINDS)
    check_linker_flag(CXX "LINKER:-Bsymbolic,-z,defs" EINPARALLEL_LINKER_BINDS)
    if(EINPARALLEL_COMPILER_BINDS)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
    endif()
    get_target_property(type ${target} TYPE)
    if(EINPARALLEL_LINKER_BINDS AND type STREQUAL "SHARED_LIBRARY" AND EINPARALLEL_SANITIZERS STREQUAL "")
        target_link_options(${target} PRIVATE "LINKER:-Bsymbolic,-z,defs")
    endif()
    # A build without a type would leave the kernels unoptimised.
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
        target_compile_options(${target} PRIVATE -O2)
    endif()
    if(NOT PROJECT_IS_TOP_LEVEL AND NOT EINPARALLEL_INSTALL)
        set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
endfunction()

set(einparallel_core_units
    commit
    kernel
    plan
    products_float
    products_double
    products_complex
    products_integers
)

einparallel_compile(einparallel_compiled_core UNITS ${einparallel_core_units} LINKS einparallel_core)
add_custom_target(
    einparallel_commit
    COMMAND ${einparallel_commit_command}
    BYPRODUCTS "${einparallel_commit_dir}/einparallel_commit.h"
    COMMENT "" VERBATIM
)
add_dependencies(einparallel_compiled_core einparallel_commit)
file(
    CONFIGURE
    OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/einparallel_compiled_core/commit.cpp"
    CONTENT "#include \"${einparallel_commit_dir}/einparallel_commit.h\"\n#include <einparallel/source/commit.hpp>\n"
    @ONLY
)
add_library(einparallel::compiled_core ALIAS einparallel_compiled_core)
set_target_properties(einparallel_compiled_core PROPERTIES EXPORT_NAME compiled_core)

add_library(einparallel_compiled INTERFACE)
add_library(einparallel::compiled ALIAS einparallel_compiled)
set_target_properties(einparallel_compiled PROPERTIES EXPORT_NAME compiled)
target_link_libraries(einparallel_compiled INTERFACE einparallel_compiled_core)
set(einparallel_compiled_targets einparallel_compiled_core einparallel_compiled)

if(EINPARALLEL_WITH_MPI)
    einparallel_compile(einparallel_compiled_mpi UNITS run LINKS einparallel_compiled_core einparallel_mpi)
    add_library(einparallel::compiled_mpi ALIAS einparallel_compiled_mpi)
    set_target_properties(einparallel_compiled_mpi PROPERTIES EXPORT_NAME compiled_mpi)
    target_link_libraries(einparallel_compiled INTERFACE einparallel_compiled_mpi)
    list(APPEND einparallel_compiled_targets einparallel_compiled_mpi)
endif()

# The kernels are compiled by nvcc, once, for the GPUs of CMAKE_CUDA_ARCHITECTURES: code for sm_90, and what later ones
# are served from.
if(EINPARALLEL_WITH_MPI
   AND EINPARALLEL_WITH_CUDA
   AND EXISTS "${einparallel_include_dir}/einparallel/source/device.hpp"
)
    if(NOT CMAKE_CUDA_HOST_COMPILER)
        set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
    endif()
    if(NOT CMAKE_CUDA_COMPILER AND CUDAToolkit_NVCC_EXECUTABLE)
        set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}")
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        if(NOT CMAKE_CUDA_ARCHITECTURES)
            set(CMAKE_CUDA_ARCHITECTURES 90)
        endif()
        enable_language(CUDA)
        einparallel_compile(einparallel_compiled_cuda UNITS cuda LINKS einparallel_compiled_mpi einparallel_cuda_headers)
        set(einparallel_kernels "${CMAKE_CURRENT_BINARY_DIR}/einparallel_compiled_cuda/device.cu")
        file(CONFIGURE OUTPUT "${einparallel_kernels}" CONTENT "#include <einparallel/source/device.hpp>\n" @ONLY)
        target_sources(einparallel_compiled_cuda PRIVATE "${einparallel_kernels}")
        set_target_properties(
            einparallel_compiled_cuda PROPERTIES EXPORT_NAME compiled_cuda CUDA_VISIBILITY_PRESET hidden
        )
        add_library(einparallel::compiled_cuda ALIAS einparallel_compiled_cuda)
        target_link_libraries(einparallel_cuda INTERFACE einparallel_compiled_cuda)
        list(APPEND einparallel_compiled_targets einparallel_compiled_cuda)
        message(STATUS "einparallel::cuda: kernels by ${CMAKE_CUDA_COMPILER} for ${CMAKE_CUDA_ARCHITECTURES}")
    else()
        message(STATUS "einparallel::cuda is not built: no nvcc was found that works with ${CMAKE_CXX_COMPILER}")
    endif()
endif()
