# Headers, targets and the package that find_package(einparallel CONFIG) reads. Nothing in it names a folder of this
# machine: MPI, Boost and CUDA are found again where the package is used.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(einparallel_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/einparallel")

set(einparallel_installed_targets einparallel_core einparallel_cuda einparallel_cuda_headers einparallel_einparallel)
if(EINPARALLEL_WITH_MPI)
    list(APPEND einparallel_installed_targets einparallel_mpi)
else()
    # Headers are there all the same: a project may define EINPARALLEL_HAS_MPI=1 and link MPI by hand.
    foreach(einparallel_room IN ITEMS mpi run data)
        install(
            DIRECTORY "${einparallel_include_dir}/einparallel/${einparallel_room}"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/einparallel"
            FILES_MATCHING
            PATTERN "*.?pp"
        )
    endforeach()
endif()
install(
    TARGETS ${einparallel_installed_targets} ${einparallel_compiled_targets}
    EXPORT einparallelTargets
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILE_SET definitions DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
)
install(
    EXPORT einparallelTargets
    NAMESPACE einparallel::
    DESTINATION "${einparallel_package_dir}"
)
configure_package_config_file(
    "${CMAKE_CURRENT_LIST_DIR}/einparallelConfig.cmake.in" "${CMAKE_CURRENT_BINARY_DIR}/einparallelConfig.cmake"
    INSTALL_DESTINATION "${einparallel_package_dir}"
    NO_SET_AND_CHECK_MACRO
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
          "${CMAKE_CURRENT_LIST_DIR}/einparallel_find_mpi.cmake"
          "${CMAKE_CURRENT_LIST_DIR}/einparallel_local.cmake"
    DESTINATION "${einparallel_package_dir}"
)
# For builds without CMake: `pkg-config --cflags --libs einparallel`, and einparallel-mpi with an MPI compiler wrapper.
if(EINPARALLEL_COMPILED)
    set(einparallel_pc_parts core)
    # lib/pkgconfig, or lib/<architecture>/pkgconfig
    file(RELATIVE_PATH einparallel_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" einparallel_pc_prefix "${einparallel_pc_prefix}")
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
        install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${einparallel_pc_name}.pc"
                DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        )
    endforeach()
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
