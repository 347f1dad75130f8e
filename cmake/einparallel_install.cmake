# Headers, targets and the package that find_package(einparallel CONFIG) reads. Nothing in it names a folder of this
# machine: MPI, Boost and CUDA are found again where the package is used. Components: headers (all of the header-only
# library; `cmake --install <folder> --component headers` needs no build) and libraries.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(einparallel_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/einparallel")
# Relative to the prefix, wherever it is: CMake 3.25 puts the prefix before an absolute folder of headers.
set(einparallel_include_destination "${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${einparallel_include_destination}")
    file(RELATIVE_PATH einparallel_include_destination "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# Components of an application that installs the library with itself are told apart from its own.
set(einparallel_component "")
if(NOT PROJECT_IS_TOP_LEVEL)
    set(einparallel_component "einparallel_")
endif()

# einparallel_export(<name> <component> <target>...): the package reads einparallel<name>Targets.cmake where the
# application has what these targets need. Each set has a file of its own, because another MPI than the one that a
# library was compiled with leaves out that library alone, and headers may be installed without libraries.
function(einparallel_export name component)
    install(
        TARGETS ${ARGN}
        EXPORT einparallel${name}Targets
        FILE_SET HEADERS DESTINATION "${einparallel_include_destination}" COMPONENT ${einparallel_component}headers
        FILE_SET definitions DESTINATION "${einparallel_include_destination}" COMPONENT ${einparallel_component}headers
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${einparallel_component}libraries
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${einparallel_component}libraries
    )
    install(
        EXPORT einparallel${name}Targets
        NAMESPACE einparallel::
        DESTINATION "${einparallel_package_dir}"
        COMPONENT ${einparallel_component}${component}
    )
endfunction()

install(
    FILES "${einparallel_commit_dir}/version.hpp"
    DESTINATION "${einparallel_include_destination}/einparallel/notation"
    COMPONENT ${einparallel_component}headers
)
einparallel_export("" headers einparallel_core einparallel_einparallel)
einparallel_export(DeviceHeaders headers einparallel_cuda_headers)
if(TARGET einparallel_mpi)
    einparallel_export(Mpi headers einparallel_mpi)
else()
    # Headers are there all the same: a project may define EINPARALLEL_HAS_MPI=1 and link MPI by hand.
    foreach(einparallel_room IN ITEMS mpi run data)
        install(
            DIRECTORY "${einparallel_include_dir}/einparallel/${einparallel_room}"
            DESTINATION "${einparallel_include_destination}/einparallel"
            COMPONENT ${einparallel_component}headers
            FILES_MATCHING
            PATTERN "*.?pp"
        )
    endforeach()
endif()
if(TARGET einparallel_compiled_mpi)
    einparallel_export(Compiled libraries einparallel_compiled_core)
    einparallel_export(CompiledMpi libraries einparallel_compiled_mpi einparallel_compiled)
elseif(TARGET einparallel_compiled_core)
    einparallel_export(Compiled libraries einparallel_compiled_core einparallel_compiled)
endif()
if(TARGET einparallel_compiled_cuda)
    einparallel_export(Cuda libraries einparallel_compiled_cuda einparallel_cuda)
else()
    einparallel_export(Cuda headers einparallel_cuda)
endif()

set(einparallel_installed_mpi "${EINPARALLEL_MPI}")
if(EINPARALLEL_WITH_MPI)
    set(einparallel_installed_mpi ON)
endif()
configure_file(
    "${CMAKE_CURRENT_LIST_DIR}/einparallelConfig.cmake.in" "${CMAKE_CURRENT_BINARY_DIR}/einparallelConfig.cmake" @ONLY
)
# The headers alone suit every machine.
set(einparallel_arch_independent "")
if(NOT EINPARALLEL_COMPILED)
    set(einparallel_arch_independent ARCH_INDEPENDENT)
endif()
write_basic_package_version_file(
    "${CMAKE_CURRENT_BINARY_DIR}/einparallelConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion
    ${einparallel_arch_independent}
)
install(
    FILES "${CMAKE_CURRENT_BINARY_DIR}/einparallelConfig.cmake"
          "${CMAKE_CURRENT_BINARY_DIR}/einparallelConfigVersion.cmake"
          "${CMAKE_CURRENT_LIST_DIR}/einparallel_dependencies.cmake"
    DESTINATION "${einparallel_package_dir}"
    COMPONENT ${einparallel_component}headers
)
# For builds without CMake: `pkg-config --cflags --libs einparallel`, and einparallel-mpi with an MPI compiler wrapper.
if(EINPARALLEL_COMPILED)
    set(einparallel_pc_parts core)
    # lib/pkgconfig, or lib/<architecture>/pkgconfig: the prefix is where the file is. Folders that were chosen by their
    # full names stay what they are, and then the prefix is no longer any.
    if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
        set(einparallel_pc_prefix "${CMAKE_INSTALL_PREFIX}")
    else()
        file(RELATIVE_PATH einparallel_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
        string(REGEX REPLACE "/$" "" einparallel_pc_prefix "\${pcfiledir}/${einparallel_pc_prefix}")
    endif()
    foreach(einparallel_pc_folder IN ITEMS LIBDIR INCLUDEDIR)
        set(einparallel_pc_${einparallel_pc_folder} "${CMAKE_INSTALL_${einparallel_pc_folder}}")
        if(NOT IS_ABSOLUTE "${einparallel_pc_${einparallel_pc_folder}}")
            string(PREPEND einparallel_pc_${einparallel_pc_folder} "\${prefix}/")
        endif()
    endforeach()
    if(EINPARALLEL_WITH_MPI)
        list(APPEND einparallel_pc_parts mpi)
    endif()
    foreach(einparallel_pc_part IN LISTS einparallel_pc_parts)
        if(einparallel_pc_part STREQUAL "core")
            set(einparallel_pc_name einparallel)
            set(einparallel_pc_requires "")
            set(einparallel_pc_cflags "-I\${includedir} -DEINPARALLEL_COMPILED=1")
        else()
            set(einparallel_pc_name einparallel-mpi)
            set(einparallel_pc_requires "Requires: einparallel = ${PROJECT_VERSION}")
            set(einparallel_pc_cflags "-DEINPARALLEL_HAS_MPI=1 -DOMPI_SKIP_MPICXX=1 -DMPICH_SKIP_MPICXX=1")
        endif()
        configure_file(
            "${CMAKE_CURRENT_LIST_DIR}/einparallel.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/${einparallel_pc_name}.pc" @ONLY
        )
        install(
            FILES "${CMAKE_CURRENT_BINARY_DIR}/${einparallel_pc_name}.pc"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
            COMPONENT ${einparallel_component}libraries
        )
    endforeach()
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/einparallel" COMPONENT ${einparallel_component}headers)
# A project that builds and runs a program on what was installed.
install(
    DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/packaging/tests/"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/einparallel/tests"
    COMPONENT ${einparallel_component}tests
)
