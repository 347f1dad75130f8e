# Finds MPI for this project and for those that use its package. Where several MPIs live side by side, mpicxx and mpiexec
# belong to whichever was installed last, and a program started by the launcher of another MPI runs as n worlds of size
# one. So MPICH is asked for by name, with the launcher that stands beside its compiler, unless the user has chosen
# (MPI_CXX_COMPILER, MPI_HOME, MPIEXEC_EXECUTABLE), the compiler itself is a wrapper, or MPI was found before.
#
# Sets what FindMPI sets, and einparallel_mpi_version.

if(NOT TARGET MPI::MPI_CXX)
    get_filename_component(einparallel_compiler_name "${CMAKE_CXX_COMPILER}" NAME)
    if(NOT MPI_CXX_COMPILER
       AND NOT MPI_HOME
       AND NOT DEFINED ENV{MPI_HOME}
       AND NOT MPIEXEC_EXECUTABLE
       AND NOT einparallel_compiler_name MATCHES "^(mpi|CC$)"
    )
        find_program(
            EINPARALLEL_MPICH_CXX
            NAMES mpicxx.mpich mpicxx-mpich-mp mpicxx-mpich
            DOC "Compiler wrapper of MPICH"
        )
        if(NOT EINPARALLEL_MPICH_CXX)
            find_program(
                EINPARALLEL_MPICH_CXX
                NAMES mpicxx
                PATHS /usr/lib64/mpich/bin /usr/lib/mpich/bin /usr/lib64/mpi/gcc/mpich/bin /opt/mpich/bin
                NO_DEFAULT_PATH
            )
        endif()
        mark_as_advanced(EINPARALLEL_MPICH_CXX)
        if(EINPARALLEL_MPICH_CXX)
            set(MPI_CXX_COMPILER "${EINPARALLEL_MPICH_CXX}" CACHE FILEPATH "MPI's C++ compiler wrapper")
        endif()
    endif()

    # mpicxx.mpich goes with mpiexec.mpich, /opt/x/bin/mpicxx with /opt/x/bin/mpiexec.
    if(MPI_CXX_COMPILER AND NOT MPIEXEC_EXECUTABLE)
        get_filename_component(einparallel_mpi_bin "${MPI_CXX_COMPILER}" DIRECTORY)
        get_filename_component(einparallel_mpi_name "${MPI_CXX_COMPILER}" NAME)
        if(einparallel_mpi_name MATCHES "^mpi(cxx|c\\+\\+|CC|ic?pc|icpx|g\\+\\+)(.*)$")
            set(einparallel_mpi_suffix "${CMAKE_MATCH_2}")
            foreach(einparallel_launcher IN ITEMS mpiexec mpirun)
                if(NOT MPIEXEC_EXECUTABLE
                   AND EXISTS "${einparallel_mpi_bin}/${einparallel_launcher}${einparallel_mpi_suffix}"
                )
                    set(MPIEXEC_EXECUTABLE
                        "${einparallel_mpi_bin}/${einparallel_launcher}${einparallel_mpi_suffix}"
                        CACHE FILEPATH "MPI's launcher"
                    )
                endif()
            endforeach()
        endif()
    endif()

    set(MPI_DETERMINE_LIBRARY_VERSION TRUE)
    find_package(MPI QUIET COMPONENTS CXX)
endif()

# The first line of what MPI_Get_library_version says, its runs of blanks made one.
set(einparallel_mpi_version "MPI ${MPI_CXX_VERSION}")
if(MPI_CXX_LIBRARY_VERSION_STRING)
    string(REGEX REPLACE "\n.*" "" einparallel_mpi_version "${MPI_CXX_LIBRARY_VERSION_STRING}")
    string(REGEX REPLACE "[ \t]+" " " einparallel_mpi_version "${einparallel_mpi_version}")
endif()
