# Headers, targets and the package that find_package(einparallel CONFIG) reads. Nothing in it names a folder of this
# machine: MPI, Boost and CUDA are found again where the package is used.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(einparallel_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/einparallel")

set(einparallel_installed_targets einparallel_core einparallel_cuda einparallel_einparallel)
if(EINPARALLEL_WITH_MPI)
    list(APPEND einparallel_installed_targets einparallel_mpi)
else()
    # Headers are there all the same: a project may define EINPARALLEL_HAS_MPI=1 and link MPI by hand.
    foreach(einparallel_room IN ITEMS mpi run)
        install(
            DIRECTORY "${einparallel_include_dir}/einparallel/${einparallel_room}"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/einparallel"
            FILES_MATCHING
            PATTERN "*.hpp"
        )
    endforeach()
endif()
install(
    TARGETS ${einparallel_installed_targets}
    EXPORT einparallelTargets
    FILE_SET HEADERS
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
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
write_basic_package_version_file(
    "${CMAKE_CURRENT_BINARY_DIR}/einparallelConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion
    ARCH_INDEPENDENT
)
install(
    FILES "${CMAKE_CURRENT_BINARY_DIR}/einparallelConfig.cmake"
          "${CMAKE_CURRENT_BINARY_DIR}/einparallelConfigVersion.cmake"
          "${CMAKE_CURRENT_LIST_DIR}/einparallel_find_mpi.cmake"
          "${CMAKE_CURRENT_LIST_DIR}/einparallel_local.cmake"
    DESTINATION "${einparallel_package_dir}"
)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
