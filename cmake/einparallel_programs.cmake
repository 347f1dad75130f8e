# What the programs of this repository (tests, examples, benchmarks) are built with; none of it reaches a user's targets.

set(CMAKE_CXX_EXTENSIONS OFF)

add_library(einparallel_warnings INTERFACE)
target_compile_options(
    einparallel_warnings
    INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>"
              $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${EINPARALLEL_WERROR}>>:-Werror>
)
# g++ 12 sees an overlap in `"text" + std::string` where there is none (GCC bug 105651, gone with g++ 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(einparallel_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# g++ collects garbage for a tenth of its time, to be content with less memory; a unit then takes up to 1.35 GB.
set(einparallel_compiler_memory "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(einparallel_compiler_memory --param=ggc-min-heapsize=1000000)
    target_compile_options(einparallel_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${einparallel_compiler_memory}>)
endif()
if(NOT EINPARALLEL_SANITIZERS STREQUAL "")
    set(einparallel_sanitizer_flags -fsanitize=${EINPARALLEL_SANITIZERS} -fno-sanitize-recover=all
                                    -fno-omit-frame-pointer
    )
    target_compile_options(einparallel_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${einparallel_sanitizer_flags}>")
    target_link_options(einparallel_warnings INTERFACE ${einparallel_sanitizer_flags})
endif()

foreach(einparallel_library IN ITEMS einparallel_compiled_core einparallel_compiled_mpi einparallel_compiled_cuda)
    if(TARGET ${einparallel_library})
        target_compile_options(
            ${einparallel_library} PRIVATE $<TARGET_PROPERTY:einparallel_warnings,INTERFACE_COMPILE_OPTIONS>
        )
        # The library is to build under others' -Wall -Werror.
        target_compile_options(${einparallel_library} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wrestrict>)
        target_link_options(
            ${einparallel_library} PRIVATE $<TARGET_PROPERTY:einparallel_warnings,INTERFACE_LINK_OPTIONS>
        )
    endif()
endforeach()

if(EINPARALLEL_WITH_MPI)
    include("${CMAKE_CURRENT_LIST_DIR}/einparallel_probe_launcher.cmake")
endif()

# einparallel_launch(<variable> <ranks>): the words that start a program on so many ranks.
# Open MPI counts cores and refuses more ranks than that; MPICH starts them.
function(einparallel_launch variable ranks)
    set(words "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} ${ranks})
    if(EINPARALLEL_MPI_FAMILY STREQUAL "openmpi")
        list(APPEND words --oversubscribe)
    endif()
    set(${variable} ${words} PARENT_SCOPE)
endfunction()

if(EINPARALLEL_COMPILED)
    add_executable(einparallel_configuration "${CMAKE_CURRENT_LIST_DIR}/configuration.cpp")
    target_link_libraries(einparallel_configuration PRIVATE einparallel::compiled einparallel_warnings)
    add_test(NAME configuration COMMAND einparallel_configuration)
    string(REPLACE "." "\\." einparallel_version_expression "${PROJECT_VERSION}")
    set_tests_properties(
        configuration PROPERTIES PASS_REGULAR_EXPRESSION
                                 "einparallel ${einparallel_version_expression}, commit ([0-9a-f]+|unknown).*local work: "
    )
endif()
