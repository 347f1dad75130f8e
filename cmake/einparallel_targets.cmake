# The targets a user links: core (no MPI, no CUDA), mpi, einparallel = both where MPI is there, and cuda.
# Every header belongs to the target of its floor, and einparallel_headers_alone.cmake compiles each one alone with
# nothing more than that target offers: a lower floor that reaches up does not compile.

include("${CMAKE_CURRENT_LIST_DIR}/einparallel_dependencies.cmake")
einparallel_find_hana()
if(NOT TARGET einparallel::hana)
    message(FATAL_ERROR "Boost.Hana was not found: install Boost's headers, or set Boost_ROOT to the folder that has include/boost.")
endif()

get_target_property(einparallel_hana_folders einparallel::hana INTERFACE_INCLUDE_DIRECTORIES)
if(NOT einparallel_hana_folders)
    get_target_property(einparallel_hana_folders Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
endif()

set(einparallel_include_dir "${PROJECT_SOURCE_DIR}/include")
file(GLOB_RECURSE einparallel_all_headers CONFIGURE_DEPENDS "${einparallel_include_dir}/*.hpp")
set(einparallel_mpi_headers ${einparallel_all_headers})
list(FILTER einparallel_mpi_headers INCLUDE REGEX "/einparallel/(mpi|run|data|data/files)/[^/]+(/detail/[^/]+)?$")
set(einparallel_cuda_headers ${einparallel_all_headers})
list(FILTER einparallel_cuda_headers INCLUDE REGEX "/einparallel/(cuda|device)/[^/]+(/detail/[^/]+)?$")
set(einparallel_core_headers ${einparallel_all_headers})
list(REMOVE_ITEM einparallel_core_headers "" ${einparallel_mpi_headers} ${einparallel_cuda_headers})
# Definitions, and the units of the compiled library: no user includes them, and none of them stands alone.
file(GLOB_RECURSE einparallel_definitions CONFIGURE_DEPENDS "${einparallel_include_dir}/*.ipp")
file(GLOB einparallel_units CONFIGURE_DEPENDS "${einparallel_include_dir}/einparallel/source/*.hpp")
list(REMOVE_ITEM einparallel_core_headers "" ${einparallel_units})
# Installed with the commit written into it (einparallel_commit.cmake).
set(einparallel_version_header "${einparallel_include_dir}/einparallel/notation/version.hpp")

# einparallel_headers(<target> <exported name> <header>...): the INTERFACE target carries these headers.
function(einparallel_headers target export_name)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${export_name})
    target_sources(
        ${target} INTERFACE FILE_SET HEADERS BASE_DIRS "${einparallel_include_dir}" FILES ${ARGN}
    )
endfunction()

add_library(einparallel_core INTERFACE)
add_library(einparallel::core ALIAS einparallel_core)
set(einparallel_listed_headers ${einparallel_core_headers})
list(REMOVE_ITEM einparallel_listed_headers "${einparallel_version_header}")
einparallel_headers(einparallel_core core ${einparallel_listed_headers})
target_sources(
    einparallel_core INTERFACE FILE_SET definitions TYPE HEADERS BASE_DIRS "${einparallel_include_dir}"
                               FILES ${einparallel_definitions} ${einparallel_units}
)
target_compile_features(einparallel_core INTERFACE cxx_std_20)
# CMake 3.25 does not know that nvcc 12 and later have C++20, and passes on neither this nor CMAKE_CUDA_STANDARD.
target_compile_options(einparallel_core INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--expt-relaxed-constexpr>")
target_link_libraries(einparallel_core INTERFACE einparallel::hana)

add_library(einparallel_einparallel INTERFACE)
add_library(einparallel::einparallel ALIAS einparallel_einparallel)
set_target_properties(einparallel_einparallel PROPERTIES EXPORT_NAME einparallel)
target_link_libraries(einparallel_einparallel INTERFACE einparallel_core)
# A header-only unit instantiates the planner: with its default g++ collects garbage from 260 MB on, and then whenever
# that has doubled what lives. So it collects less often while there is little, and peaks a fifth lower where there is
# much (bench/compile_time.py).
target_compile_options(
    einparallel_einparallel
    INTERFACE
        "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=400000;--param=ggc-min-expand=40>"
)

set(EINPARALLEL_WITH_MPI FALSE)
if(NOT EINPARALLEL_MPI STREQUAL "OFF")
    if(EINPARALLEL_TESTS OR EINPARALLEL_EXAMPLES OR EINPARALLEL_BENCH)
        find_package(MPI QUIET COMPONENTS CXX)  # and its launcher
    endif()
    einparallel_find_mpi()
    # Where none is found here it is only installed, for applications that have one.
    add_library(einparallel_mpi INTERFACE)
    einparallel_headers(einparallel_mpi mpi ${einparallel_mpi_headers})
    target_link_libraries(einparallel_mpi INTERFACE einparallel_core MPI::MPI_CXX)
    # The C++ bindings that MPI dropped in 2012 are still in some mpi.h; they cost compile time and clash with names.
    target_compile_definitions(
        einparallel_mpi INTERFACE EINPARALLEL_HAS_MPI=1 OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1
    )
    if(TARGET MPI::MPI_CXX)
        set(EINPARALLEL_WITH_MPI TRUE)
        add_library(einparallel::mpi ALIAS einparallel_mpi)
        # An installed package has its own account of this line.
        target_link_libraries(einparallel_einparallel INTERFACE $<BUILD_INTERFACE:einparallel_mpi>)
        message(STATUS "einparallel: runs over ${EINPARALLEL_MPI_NAME}, ${einparallel_mpi_compiler}")
    elseif(EINPARALLEL_MPI STREQUAL "ON")
        message(FATAL_ERROR "EINPARALLEL_MPI is ON, but no MPI for C++ was found.")
    else()
        message(STATUS "einparallel: no MPI was found, einparallel::mpi is not offered")
    endif()
endif()

set(EINPARALLEL_WITH_CUDA FALSE)
if(NOT EINPARALLEL_CUDA STREQUAL "OFF")
    find_package(CUDAToolkit QUIET)
    if(CUDAToolkit_FOUND AND TARGET CUDA::cublas)
        set(EINPARALLEL_WITH_CUDA TRUE)
        message(STATUS "CUDA toolkit: ${CUDAToolkit_VERSION}")
    elseif(EINPARALLEL_CUDA STREQUAL "ON")
        message(FATAL_ERROR "EINPARALLEL_CUDA is ON, but no CUDA toolkit with cuBLAS was found.")
    else()
        message(STATUS "CUDA toolkit: none found, einparallel::cuda does not run on devices")
    endif()
endif()
# einparallel::cuda is declared in every build, so that a project may link it; without CUDA it is core under another
# name. No other target links it: a program without devices pays nothing for them.
add_library(einparallel_cuda_headers INTERFACE)
add_library(einparallel::cuda_headers ALIAS einparallel_cuda_headers)
einparallel_headers(einparallel_cuda_headers cuda_headers ${einparallel_cuda_headers})
target_link_libraries(einparallel_cuda_headers INTERFACE einparallel_core)
if(EINPARALLEL_WITH_CUDA)
    target_link_libraries(einparallel_cuda_headers INTERFACE CUDA::cudart CUDA::cublas)
    target_compile_definitions(einparallel_cuda_headers INTERFACE EINPARALLEL_HAS_CUDA=1)
endif()
add_library(einparallel_cuda INTERFACE)
add_library(einparallel::cuda ALIAS einparallel_cuda)
set_target_properties(einparallel_cuda PROPERTIES EXPORT_NAME cuda)
target_link_libraries(einparallel_cuda INTERFACE einparallel_cuda_headers)

# Nothing links these two but who asks for them. In another project's build AUTO takes what that project has found.
foreach(einparallel_part IN ITEMS openmp blas)
    string(TOUPPER ${einparallel_part} einparallel_option)
    set(einparallel_wish "${EINPARALLEL_${einparallel_option}}")
    if(NOT einparallel_wish STREQUAL "OFF")
        if(einparallel_wish STREQUAL "ON" OR PROJECT_IS_TOP_LEVEL)
            einparallel_local_targets(TRUE ${einparallel_part})
        else()
            einparallel_local_targets(FALSE ${einparallel_part})
        endif()
        if(NOT TARGET einparallel::${einparallel_part})
            if(einparallel_wish STREQUAL "ON")
                message(FATAL_ERROR "EINPARALLEL_${einparallel_option} is ON, but none was found.")
            elseif(PROJECT_IS_TOP_LEVEL)
                message(STATUS "einparallel::${einparallel_part} is not offered: none was found")
            endif()
        endif()
    endif()
endforeach()
