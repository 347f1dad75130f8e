# What the rooms of the test tree call. Sources are relative to the caller's folder.
#
# Programs are built with -O0 in a release build, which takes the compiler less than half of the time; with OPTIMIZED,
# where their own loops take longer than that, with -O1. With UNITS <n> the sources are compiled n at a time: what each
# of them would compile anew, the planner above all, is compiled once for all of them (with -DEINPARALLEL_TEST_UNITS=OFF
# each by itself, which is sooner done where one test changes again and again).
#
#   einparallel_add_test(<name> SOURCES <file>... [LIBRARIES <target>...] [LABELS <label>...] [TIMEOUT <seconds>]
#                        [UNITS <n>] [OPTIMIZED])
#       a program on core alone, its main from support/main.cpp; one ctest entry <name>
#   einparallel_add_mpi_test(<name> RANKS <n>... SOURCES <file>... [LIBRARIES ...] [LABELS ...] [TIMEOUT ...] [UNITS <n>]
#                        [OPTIMIZED])
#       a program on einparallel::mpi, its main from support/mpi_main.cpp; entries <name>.np<n>, labels mpi and np<n>;
#       it is started as `<name> --ranks=<n>`, so that the main can refuse a world of another size
#   einparallel_add_smpi_test(<name> RANKS <n>... SOURCES <file>... [LIBRARIES ...] [LABELS ...] [TIMEOUT ...] [UNITS <n>]
#                        [PARTS <n>] [OPTIMIZED])
#       the same sources compiled for SimGrid's simulated MPI, where a rank is a thread of one process and none
#       busy-waits; entries <name>.smpi<n>, labels smpi and np<n>; nothing where SimGrid is not installed. With PARTS
#       each entry is several, <name>.smpi<n>.<part>, told EINPARALLEL_TEST_PART=<part>/<parts>: SimGrid searches a list
#       of all earlier messages for each one, so a process takes time with the square of what it sends
#   einparallel_add_compile_fail_test(<file> <number>...)
#       the file compiles as it is (its positive twins), and with MISTAKES=<number> each of the mistakes there gets the
#       sentence above it (expect_errors.cmake): one run of each compiler for all; entries <file>.twins.<compiler> and
#       <file>.mistakes<number>.<compiler>

find_package(doctest REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)

option(EINPARALLEL_TEST_UNITS "Compile tests of one program together" ON)
option(EINPARALLEL_TEST_LONG "Try all cases of the random suites, as check_long does; else a part of them" OFF)
set(einparallel_test_dir "${PROJECT_SOURCE_DIR}/test")

# The tests look at internals too, which a shared library hides.
set(einparallel_test_library einparallel_compiled_)
if(BUILD_SHARED_LIBS)
    set(einparallel_test_library einparallel_static_)
    einparallel_compile(einparallel_static_core TYPE STATIC UNITS ${einparallel_core_units} LINKS einparallel_core)
    if(EINPARALLEL_WITH_MPI)
        einparallel_compile(
            einparallel_static_mpi TYPE STATIC UNITS run LINKS einparallel_static_core einparallel_mpi
        )
    endif()
endif()

add_library(einparallel_test_base INTERFACE)
target_include_directories(einparallel_test_base INTERFACE "${einparallel_test_dir}")
target_link_libraries(einparallel_test_base INTERFACE einparallel_warnings doctest::doctest Eigen3::Eigen)
target_compile_definitions(
    einparallel_test_base INTERFACE EINPARALLEL_TEST_DIR="${einparallel_test_dir}"
                                    $<$<BOOL:${EINPARALLEL_TEST_LONG}>:EINPARALLEL_TEST_LONG=1>
)

add_library(einparallel_test_main OBJECT "${einparallel_test_dir}/support/main.cpp")
target_compile_features(einparallel_test_main PRIVATE cxx_std_20)
target_link_libraries(einparallel_test_main PRIVATE einparallel_test_base)

if(EINPARALLEL_WITH_MPI AND EXISTS "${einparallel_test_dir}/support/mpi_main.cpp")
    add_library(einparallel_test_mpi_main OBJECT "${einparallel_test_dir}/support/mpi_main.cpp")
    target_link_libraries(einparallel_test_mpi_main PRIVATE ${einparallel_test_library}mpi einparallel_test_base)
endif()

# SimGrid's compiler wrapper builds a library that smpirun loads once for each rank. The same is done here with the
# project's own compiler, so that flags, dependencies and parallel builds are CMake's.
find_program(EINPARALLEL_SMPIRUN smpirun DOC "SimGrid's launcher of simulated MPI programs")
find_path(EINPARALLEL_SMPI_INCLUDE smpi/smpi_helpers.h DOC "Folder of SimGrid's headers")
find_library(EINPARALLEL_SIMGRID_LIBRARY simgrid DOC "SimGrid's library")
set(EINPARALLEL_WITH_SMPI FALSE)
if(EINPARALLEL_SMPIRUN
   AND EINPARALLEL_SMPI_INCLUDE
   AND EINPARALLEL_SIMGRID_LIBRARY
   AND EINPARALLEL_SANITIZERS STREQUAL ""
)
    set(EINPARALLEL_WITH_SMPI TRUE)
    set(einparallel_smpi_dir "${CMAKE_CURRENT_BINARY_DIR}/smpi")
    file(
        CONFIGURE OUTPUT "${einparallel_smpi_dir}/platform.xml"
        CONTENT
            [[<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="host" suffix="" radical="0-63" speed="1Gf" bw="1GBps" lat="5us"/>
</platform>
]]
    )
    set(einparallel_hosts "")
    foreach(einparallel_host RANGE 63)
        string(APPEND einparallel_hosts "host${einparallel_host}\n")
    endforeach()
    file(WRITE "${einparallel_smpi_dir}/hosts" "${einparallel_hosts}")

    add_library(einparallel_smpi INTERFACE)
    target_include_directories(
        einparallel_smpi BEFORE INTERFACE "${EINPARALLEL_SMPI_INCLUDE}/smpi" "${EINPARALLEL_SMPI_INCLUDE}"
    )
    target_compile_definitions(einparallel_smpi INTERFACE EINPARALLEL_HAS_MPI=1)
    target_compile_options(einparallel_smpi INTERFACE -include smpi/smpi_helpers.h)
    # Its calls of its own functions are its own, too: a library is what each rank has of its own.
    target_link_options(einparallel_smpi INTERFACE -Wl,-z,defs -Wl,-Bsymbolic)
    target_link_libraries(einparallel_smpi INTERFACE "${EINPARALLEL_SIMGRID_LIBRARY}" m)
    # smpirun loads a copy of a program for each rank, of a shared library it would load one for all: static.
    einparallel_compile(
        einparallel_compiled_smpi TYPE STATIC UNITS run LINKS einparallel_smpi ${einparallel_test_library}core
    )
    target_link_libraries(einparallel_compiled_smpi PRIVATE einparallel_warnings)
    # Its clock is SimGrid's.
    target_compile_options(einparallel_compiled_smpi PRIVATE $<$<CONFIG:Release>:-O1>)

    add_library(einparallel_test_smpi_main OBJECT "${einparallel_test_dir}/support/mpi_main.cpp")
    set_target_properties(einparallel_test_smpi_main PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(einparallel_test_smpi_main PRIVATE einparallel_compiled_smpi einparallel_test_base)
endif()
message(STATUS "SimGrid's simulated MPI: ${EINPARALLEL_WITH_SMPI}")

function(einparallel_test_properties test ranks)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT" "LABELS")
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    if(EINPARALLEL_TEST_LONG OR NOT EINPARALLEL_SANITIZERS STREQUAL "")
        math(EXPR arg_TIMEOUT "15 * ${arg_TIMEOUT}")
    endif()
    set_tests_properties(
        ${test} PROPERTIES PROCESSORS ${ranks} TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}"
                           WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    )
endfunction()

# What the library calls of std:: is in unoptimised units too, and a linker keeps the first of equals: that must be the
# optimised library's, which therefore comes first, as a whole.
include(CheckLinkerFlag)
check_linker_flag(CXX "LINKER:--whole-archive,--no-whole-archive" EINPARALLEL_LINKER_TAKES_WHOLE_ARCHIVES)
function(einparallel_compilation target optimized units)
    if(optimized)
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    else()
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
        if(EINPARALLEL_LINKER_TAKES_WHOLE_ARCHIVES)
            target_link_options(
                ${target} PRIVATE
                "LINKER:--whole-archive,$<TARGET_FILE:${einparallel_test_library}core>,--no-whole-archive"
            )
        endif()
    endif()
    if(units AND EINPARALLEL_TEST_UNITS)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${units})
    endif()
endfunction()

# Ranks that wait sleep, so that a program needs half as many cores as it has ranks, and other tests run beside it. (A
# sanitizer's library must be the first, so not there.)
if(EINPARALLEL_WITH_MPI AND EINPARALLEL_SANITIZERS STREQUAL "")
    add_library(einparallel_sleeping_waits MODULE "${einparallel_test_dir}/support/sleeping_waits.cpp")
    target_link_libraries(einparallel_sleeping_waits PRIVATE MPI::MPI_CXX einparallel_warnings ${CMAKE_DL_LIBS})
endif()
function(einparallel_share_cores test ranks)
    if(ranks GREATER 1 AND TARGET einparallel_sleeping_waits)
        math(EXPR cores "${ranks} / 2")
        set_tests_properties(
            ${test} PROPERTIES PROCESSORS ${cores} ENVIRONMENT_MODIFICATION
                               "LD_PRELOAD=path_list_append:$<TARGET_FILE:einparallel_sleeping_waits>"
        )
    endif()
endfunction()

function(einparallel_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED" "TIMEOUT;UNITS" "SOURCES;LIBRARIES;LABELS")
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(
        ${name} PRIVATE ${einparallel_test_library}core einparallel_test_base einparallel_test_main ${arg_LIBRARIES}
    )
    einparallel_compilation(${name} "${arg_OPTIMIZED}" "${arg_UNITS}")
    # No try in each assertion, which the compiler takes a tenth of its time for: what is thrown there ends the test case,
    # as a failure. (Ranks must go on then, so not in their tests.)
    target_compile_definitions(${name} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
    add_test(NAME ${name} COMMAND ${name})
    einparallel_test_properties(${name} 1 TIMEOUT ${arg_TIMEOUT} LABELS core ${arg_LABELS})
endfunction()

function(einparallel_add_mpi_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED" "TIMEOUT;UNITS" "RANKS;SOURCES;LIBRARIES;LABELS")
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    if(NOT EINPARALLEL_WITH_MPI)
        return()
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(
        ${name} PRIVATE ${einparallel_test_library}mpi einparallel_test_base einparallel_test_mpi_main ${arg_LIBRARIES}
    )
    einparallel_compilation(${name} "${arg_OPTIMIZED}" "${arg_UNITS}")
    foreach(ranks IN LISTS arg_RANKS)
        einparallel_launch(launch ${ranks})
        add_test(NAME ${name}.np${ranks} COMMAND ${launch} $<TARGET_FILE:${name}> --ranks=${ranks})
        einparallel_test_properties(
            ${name}.np${ranks} ${ranks} TIMEOUT ${arg_TIMEOUT} LABELS mpi np${ranks} ${arg_LABELS}
        )
        einparallel_share_cores(${name}.np${ranks} ${ranks})
    endforeach()
endfunction()

function(einparallel_add_smpi_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED" "TIMEOUT;UNITS;PARTS" "RANKS;SOURCES;LIBRARIES;LABELS")
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    if(NOT EINPARALLEL_WITH_SMPI)
        return()
    endif()
    add_library(${name}_smpi MODULE ${arg_SOURCES})
    target_link_libraries(
        ${name}_smpi PRIVATE einparallel_compiled_smpi einparallel_test_base einparallel_test_smpi_main ${arg_LIBRARIES}
    )
    einparallel_compilation(${name}_smpi "${arg_OPTIMIZED}" "${arg_UNITS}")
    set_target_properties(${name}_smpi PROPERTIES PREFIX "" SUFFIX "")
    foreach(ranks IN LISTS arg_RANKS)
        set(entries ${name}.smpi${ranks})
        if(arg_PARTS)
            set(entries "")
            foreach(part RANGE 1 ${arg_PARTS})
                list(APPEND entries ${name}.smpi${ranks}.${part})
            endforeach()
        endif()
        foreach(entry IN LISTS entries)
            string(REGEX REPLACE "^.*\\." "" part "${entry}")
            add_test(
                NAME ${entry}
                COMMAND
                    "${EINPARALLEL_SMPIRUN}" -np ${ranks} -platform "${einparallel_smpi_dir}/platform.xml" -hostfile
                    "${einparallel_smpi_dir}/hosts" --cfg=smpi/simulate-computation:no --log=root.thresh:warning
                    $<TARGET_FILE:${name}_smpi> --ranks=${ranks}
            )
            einparallel_test_properties(${entry} 1 TIMEOUT ${arg_TIMEOUT} LABELS smpi np${ranks} ${arg_LABELS})
            if(arg_PARTS)
                set_tests_properties(${entry} PROPERTIES ENVIRONMENT EINPARALLEL_TEST_PART=${part}/${arg_PARTS})
            endif()
        endforeach()
    endforeach()
endfunction()

# Compilers whose messages are checked: this build's own, clang 14 or the default clang, and nvcc.
set(einparallel_message_compilers "cxx" CACHE INTERNAL "")
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    find_program(EINPARALLEL_CLANG NAMES clang++-14 clang++ DOC "A second compiler, for the tests of error messages")
    if(EINPARALLEL_CLANG)
        list(APPEND einparallel_message_compilers "clang")
    endif()
endif()
find_program(EINPARALLEL_NVCC NAMES nvcc PATHS /usr/local/cuda/bin DOC "nvcc, for the tests of error messages")
if(EINPARALLEL_NVCC)
    list(APPEND einparallel_message_compilers "nvcc")
endif()
message(STATUS "Compilers whose messages are tested: ${einparallel_message_compilers}")

function(einparallel_compile_command variable compiler)
    set(includes "-I${PROJECT_SOURCE_DIR}/include")
    foreach(folder IN LISTS einparallel_hana_folders MPI_CXX_INCLUDE_DIRS)
        if(NOT folder STREQUAL "/usr/include")
            list(APPEND includes "-isystem" "${folder}")
        endif()
    endforeach()
    if(compiler STREQUAL "nvcc")
        set(command "${EINPARALLEL_NVCC}" -std=c++20 --expt-relaxed-constexpr -x cu -c -o /dev/null -Xcompiler -fsyntax-only)
    elseif(compiler STREQUAL "clang")
        set(command "${EINPARALLEL_CLANG}" -std=c++20 -fsyntax-only)
    else()
        set(command "${CMAKE_CXX_COMPILER}" -std=c++20 -fsyntax-only)
    endif()
    if(compiler STREQUAL "clang" OR (compiler STREQUAL "cxx" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
        list(APPEND command -ferror-limit=0)
    endif()
    set(${variable} ${command} ${includes} PARENT_SCOPE)
endfunction()

function(einparallel_add_compile_fail_test file)
    get_filename_component(source "${file}" ABSOLUTE)
    get_filename_component(stem "${file}" NAME_WE)
    foreach(compiler IN LISTS einparallel_message_compilers)
        einparallel_compile_command(command ${compiler})
        set(most 40)
        if(compiler STREQUAL "cxx" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT stem STREQUAL "partitions")
            set(most 8)  # in partitions.cpp each of ours is followed by one of the compiler's own
        endif()
        add_test(NAME ${stem}.twins.${compiler} COMMAND ${command} "${source}")
        set(entries ${stem}.twins.${compiler})
        foreach(number IN LISTS ARGN)
            set(entry ${stem}.mistakes${number}.${compiler})
            add_test(
                NAME ${entry}
                COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${source}" -DMISTAKES=${number} -DMOST=${most} -P
                        "${PROJECT_SOURCE_DIR}/cmake/expect_errors.cmake" -- ${command} -DMISTAKES=${number} "${source}"
            )
            list(APPEND entries ${entry})
        endforeach()
        set_tests_properties(${entries} PROPERTIES TIMEOUT 300 LABELS "compile")
    endforeach()
endfunction()
