# What ep::configuration() says of a library that CMake compiles: the commit and the options. They are looked at in every
# build, and where they are others the small unit that says them is compiled again.

string(TOUPPER "${CMAKE_BUILD_TYPE}" einparallel_build_type)
set(einparallel_linkage static)
if(BUILD_SHARED_LIBS)
    set(einparallel_linkage shared)
endif()
set(einparallel_options_text
    "CMake ${CMAKE_VERSION}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${einparallel_linkage}, ${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${einparallel_build_type}}"
)
string(REGEX REPLACE " +" " " einparallel_options_text "${einparallel_options_text}")
string(STRIP "${einparallel_options_text}" einparallel_options_text)
foreach(einparallel_option IN ITEMS MPI CUDA)
    if(EINPARALLEL_WITH_${einparallel_option})
        string(APPEND einparallel_options_text ", with ${einparallel_option}")
    else()
        string(APPEND einparallel_options_text ", without ${einparallel_option}")
    endif()
endforeach()

set(einparallel_commit_dir "${CMAKE_CURRENT_BINARY_DIR}/configuration")
set(einparallel_commit_command
    "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUT=${einparallel_commit_dir}"
    "-DOPTIONS=${einparallel_options_text}" -P "${CMAKE_CURRENT_LIST_DIR}/einparallel_commit.cmake"
)
execute_process(COMMAND ${einparallel_commit_command} COMMAND_ERROR_IS_FATAL ANY)
