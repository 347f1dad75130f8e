# What the library takes from the machine. Read by this project and by its installed package, in both of which the
# application decides: a target that it has already is taken, and what is looked for is found by CMake's own modules
# with their own rules. Nothing is set for them, and the cache gets no entry of ours but EINPARALLEL_*.
#
#   einparallel_find_hana()                      einparallel::hana    Boost's headers
#   einparallel_find_mpi()                       MPI::MPI_CXX         where there is an MPI for C++; says which
#   einparallel_local_targets(<looks> <part>...) einparallel::openmp  threads inside a contraction
#                                                einparallel::blas    a BLAS (LP64 or ILP64) for plain matrix products;
#                                                                     BLA_VENDOR, BLA_SIZEOF_INTEGER, BLA_STATIC choose

# einparallel_find_privately(<package> <argument>...): its imported targets stay, and no variable and no entry of the
# cache, which the application's own search for the package would meet. Which MPI it was is remembered under a name of
# our own, so that configuring again finds the same one.
function(einparallel_find_privately package)
    get_cmake_property(before CACHE_VARIABLES)
    if(package STREQUAL "MPI" AND EXISTS "${EINPARALLEL_MPI_CXX_COMPILER}" AND NOT DEFINED MPI_CXX_COMPILER)
        set(MPI_CXX_COMPILER "${EINPARALLEL_MPI_CXX_COMPILER}" CACHE FILEPATH "MPI's compiler wrapper")
    endif()
    find_package(${package} QUIET ${ARGN})
    set(found "${MPI_CXX_COMPILER}")
    get_cmake_property(after CACHE_VARIABLES)
    list(REMOVE_ITEM after ${before})
    foreach(variable IN LISTS after)
        unset(${variable} CACHE)
    endforeach()
    if(package STREQUAL "MPI")
        set(einparallel_mpi_compiler "${found}" PARENT_SCOPE)
        if(found)
            set(EINPARALLEL_MPI_CXX_COMPILER "${found}" CACHE INTERNAL "the MPI that was found")
        endif()
    endif()
endfunction()

# At the end of the project: its own search may have found another MPI than was there when the library looked.
function(einparallel_compare_mpi)
    if(MPI_CXX_COMPILER AND EINPARALLEL_MPI_CXX_COMPILER AND NOT MPI_CXX_COMPILER STREQUAL EINPARALLEL_MPI_CXX_COMPILER)
        message(
            WARNING
                "einparallel runs over ${EINPARALLEL_MPI_NAME}, ${EINPARALLEL_MPI_CXX_COMPILER}, and this project has found ${MPI_CXX_COMPILER} after it: choose MPI before einparallel is looked for."
        )
    endif()
endfunction()

# Boost's own package, where the application has it or says where it is; else the folder that has boost/hana.hpp.
macro(einparallel_find_hana)
    if(NOT TARGET einparallel::hana)
        if(NOT TARGET Boost::headers AND (Boost_DIR OR CMAKE_FIND_PACKAGE_PREFER_CONFIG))
            einparallel_find_privately(Boost CONFIG)
        endif()
        if(NOT TARGET Boost::headers)
            find_path(
                EINPARALLEL_HANA_INCLUDE_DIR boost/hana.hpp
                HINTS ${Boost_INCLUDE_DIR} ${Boost_ROOT} ${BOOST_ROOT} $ENV{Boost_ROOT} $ENV{BOOST_ROOT}
                PATH_SUFFIXES include
                DOC "Folder that has boost/hana.hpp"
            )
            mark_as_advanced(EINPARALLEL_HANA_INCLUDE_DIR)
            if(NOT EINPARALLEL_HANA_INCLUDE_DIR)
                einparallel_find_privately(Boost CONFIG)
            endif()
        endif()
        if(TARGET Boost::headers)
            add_library(einparallel::hana INTERFACE IMPORTED GLOBAL)
            target_link_libraries(einparallel::hana INTERFACE Boost::headers)
        elseif(EINPARALLEL_HANA_INCLUDE_DIR)
            add_library(einparallel::hana INTERFACE IMPORTED GLOBAL)
            target_include_directories(einparallel::hana INTERFACE "${EINPARALLEL_HANA_INCLUDE_DIR}")
        endif()
    endif()
endmacro()

# einparallel_find_mpi(): MPI::MPI_CXX, that of the application where it has found one. EINPARALLEL_MPI_NAME is its name
# and version, EINPARALLEL_MPI_FAMILY what it shares its binary interface with (mpich, openmpi, smpi or mpi: the suffix of
# the compiled library's symbol), EINPARALLEL_MPI_STANDARD the version of the standard. The compiler reads them from
# mpi.h, so that nothing has to run.
macro(einparallel_find_mpi)
    if(NOT TARGET MPI::MPI_CXX)
        einparallel_find_privately(MPI COMPONENTS CXX)
        cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL einparallel_compare_mpi)
    else()
        set(einparallel_mpi_compiler "${MPI_CXX_COMPILER}")
    endif()
    if(TARGET MPI::MPI_CXX)
        einparallel_name_mpi()
    endif()
endmacro()

function(einparallel_name_mpi)
    set(key "${CMAKE_CXX_COMPILER}")
    foreach(property IN ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS LINK_LIBRARIES)
        get_target_property(value MPI::MPI_CXX INTERFACE_${property})
        string(APPEND key " ${value}")
    endforeach()
    if(NOT EINPARALLEL_MPI_NAMED STREQUAL key)
        set(folder "${CMAKE_CURRENT_BINARY_DIR}/einparallel_mpi")
        file(WRITE "${folder}/name.cpp" [[
#include <mpi.h>
#define TEXT(x) LETTERS(x)
#define LETTERS(x) #x
#if defined(SMPI_H)
#define FAMILY "smpi"
#define NAME "SMPI"
#elif defined(OPEN_MPI)
#define FAMILY "openmpi"
#define NAME "Open MPI " TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) "." TEXT(OMPI_RELEASE_VERSION)
#elif defined(I_MPI_VERSION)
#define FAMILY "mpich"
#define NAME "Intel MPI " I_MPI_VERSION
#elif defined(MVAPICH2_VERSION)
#define FAMILY "mpich"
#define NAME "MVAPICH2 " MVAPICH2_VERSION
#elif defined(CRAY_MPICH_VERSION)
#define FAMILY "mpich"
#define NAME "Cray MPICH " TEXT(CRAY_MPICH_VERSION)
#elif defined(MPICH_VERSION)
#define FAMILY "mpich"
#define NAME "MPICH " MPICH_VERSION
#else
#define FAMILY "mpi"
#define NAME "an MPI"
#endif
#pragma message("{" FAMILY "|" NAME "|" TEXT(MPI_VERSION) "." TEXT(MPI_SUBVERSION) "}")
]])
        set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
        try_compile(
            EINPARALLEL_MPI_COMPILES "${folder}/build" "${folder}/name.cpp"
            LINK_LIBRARIES MPI::MPI_CXX
            OUTPUT_VARIABLE output
        )
        unset(EINPARALLEL_MPI_COMPILES CACHE)
        set(family mpi)
        set(name "MPI")
        set(standard "${MPI_CXX_VERSION}")
        # The message itself, not the line of the source that some compilers print beside it.
        if(output MATCHES "{(smpi|openmpi|mpich|mpi)\\|([^|\"}]*)\\|([0-9]+\\.[0-9]+)}")
            set(family "${CMAKE_MATCH_1}")
            set(name "${CMAKE_MATCH_2}")
            set(standard "${CMAKE_MATCH_3}")
        endif()
        set(EINPARALLEL_MPI_FAMILY "${family}" CACHE INTERNAL "whose binary interface the MPI has")
        set(EINPARALLEL_MPI_NAME "${name} (MPI ${standard})" CACHE INTERNAL "the MPI that was found")
        set(EINPARALLEL_MPI_STANDARD "${standard}" CACHE INTERNAL "version of the MPI standard")
        set(EINPARALLEL_MPI_NAMED "${key}" CACHE INTERNAL "what the MPI was named from")
    endif()
endfunction()

function(einparallel_local_target name package target looks)
    if(NOT TARGET einparallel::${name})
        if(NOT TARGET ${target} AND looks)
            find_package(${package} QUIET ${ARGN})
        endif()
        if(TARGET ${target})
            add_library(einparallel::${name} INTERFACE IMPORTED GLOBAL)
            target_link_libraries(einparallel::${name} INTERFACE ${target})
        endif()
    endif()
endfunction()

# einparallel_local_targets(<looks> <part>...): where <looks> is false, only what the application has found is taken.
function(einparallel_local_targets looks)
    if("openmp" IN_LIST ARGN)
        einparallel_local_target(openmp OpenMP OpenMP::OpenMP_CXX ${looks} COMPONENTS CXX)
    endif()
    if("blas" IN_LIST ARGN)
        einparallel_local_target(blas BLAS BLAS::BLAS ${looks})
        if(TARGET einparallel::blas)
            # Units that are compiled with it refer to the library, so that the linker keeps it.
            target_compile_definitions(einparallel::blas INTERFACE EINPARALLEL_HAS_BLAS=1)
        endif()
    endif()
endfunction()
