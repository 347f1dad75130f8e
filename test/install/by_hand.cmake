# Users without CMake, on an installed and moved package: pkg-config, the library compiled from two files of the user's,
# and what is said where parts do not belong together.

cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
install_and_move("${BUILD}")

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
list(APPEND flags -std=c++20 -O0)
foreach(folder IN LISTS INCLUDES)
    if(NOT folder STREQUAL "/usr/include")
        list(APPEND flags -isystem "${folder}")
    endif()
endforeach()
set(compile "${CXX}" ${flags})
# The wrapper's own compiler may be another one.
set(compile_mpi "${CMAKE_COMMAND}" -E env "MPICH_CXX=${CXX}" "OMPI_CXX=${CXX}" "${MPICXX}" ${flags})
set(at "${WORK}/objects")
file(MAKE_DIRECTORY "${at}")

# compiled(<object> <command>...): what the same command made of the same files stays.
execute_process(COMMAND "${CXX}" --version OUTPUT_VARIABLE state)
file(GLOB_RECURSE files "${moved}/include/*" "${PROJECT}/*.cpp")
foreach(file IN LISTS files)
    file(SHA256 "${file}" hash)
    string(APPEND state "${hash}")
endforeach()
function(compiled object)
    string(SHA256 wanted "${state} ${ARGN}")
    set(made "")
    if(EXISTS "${object}" AND EXISTS "${object}.state")
        file(READ "${object}.state" made)
    endif()
    if(NOT made STREQUAL wanted)
        file(REMOVE "${object}.state")
        step(${ARGN} -o "${object}")
        file(WRITE "${object}.state" "${wanted}")
    endif()
endfunction()

set(include "-I${moved}/include")
set(use ${include} -DEINPARALLEL_COMPILED=1)
set(use_mpi ${use} -DEINPARALLEL_HAS_MPI=1)
file(GLOB core "${moved}/lib*/libeinparallel_compiled_core.*" "${moved}/lib*/*/libeinparallel_compiled_core.*")
list(GET core 0 core)
get_filename_component(folder "${core}" DIRECTORY)
set(ENV{LD_LIBRARY_PATH} "${folder}:$ENV{LD_LIBRARY_PATH}")  # where this build is shared

find_program(PKG_CONFIG NAMES pkg-config pkgconf)
if(PKG_CONFIG)
    set(ENV{PKG_CONFIG_PATH} "${folder}/pkgconfig")
    function(package variable)
        execute_process(
            COMMAND "${PKG_CONFIG}" ${ARGN}
            OUTPUT_VARIABLE words OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY
        )
        separate_arguments(words UNIX_COMMAND "${words}")
        set(${variable} "${words}" PARENT_SCOPE)
    endfunction()
    package(use --cflags einparallel)
    package(libraries --libs einparallel)
    package(use_mpi --cflags einparallel-mpi)
    package(libraries_mpi --libs einparallel-mpi)
else()
    message("no pkg-config: einparallel.pc is not tried")
endif()

compiled("${at}/planner.o" ${compile} ${use} -c "${PROJECT}/planner.cpp")
compiled("${at}/ranks.o" ${compile_mpi} ${use_mpi} -c "${PROJECT}/ranks.cpp")
if(PKG_CONFIG)
    step(${compile} "${at}/planner.o" ${libraries} -o "${at}/planner")
    step("${at}/planner")
    without_mpi("${at}/planner")
    step(${compile_mpi} "${at}/ranks.o" ${libraries_mpi} -o "${at}/ranks")
    step(${launch} "${at}/ranks")
endif()

# The library as two files of the user's.
foreach(part IN ITEMS core mpi)
    file(WRITE "${at}/${part}.cpp" "#include <einparallel/source/${part}.hpp>\n")
endforeach()
compiled("${at}/core.o" ${compile} ${include} -c "${at}/core.cpp")
compiled("${at}/mpi.o" ${compile_mpi} ${include} -c "${at}/mpi.cpp")
step(${compile} "${at}/planner.o" "${at}/core.o" -o "${at}/planner_by_hand")
step("${at}/planner_by_hand")
step(${compile_mpi} "${at}/ranks.o" "${at}/mpi.o" "${at}/core.o" -o "${at}/ranks_by_hand")
step(${launch} "${at}/ranks_by_hand")

# No library.
set(abi "einparallel_compiled_${version}")
compiled("${at}/nothing.o" ${compile} ${use} -c "${PROJECT}/nothing.cpp")
refused("undefined[^\n]*${abi}[^_]" ${compile} "${at}/nothing.o" -o "${at}/refused")
# Another MPI's, or none.
refused("undefined[^\n]*${abi}_[a-z]*mpi" ${compile_mpi} "${at}/ranks.o" "${at}/core.o" -o "${at}/refused")
# Two libraries.
file(COPY_FILE "${at}/core.o" "${at}/core_again.o")
refused("multiple definition[^\n]*${abi}" ${compile} "${at}/planner.o" "${at}/core.o" "${at}/core_again.o" -o "${at}/refused")
# Another C++ library's, where it is libstdc++.
if(NOT FLAGS MATCHES "GLIBCXX|stdlib=")
    foreach(abi_and_flag IN ITEMS old_strings=-D_GLIBCXX_USE_CXX11_ABI=0 glibcxx_debug=-D_GLIBCXX_DEBUG)
        string(REGEX MATCH "^([^=]*)=(.*)$" parts "${abi_and_flag}")
        set(object "${at}/${CMAKE_MATCH_1}.o")
        set(sentence "undefined[^\n]*${abi}_${CMAKE_MATCH_1}")
        compiled("${object}" ${compile} ${use} "${CMAKE_MATCH_2}" -c "${PROJECT}/nothing.cpp")
        refused("${sentence}" ${compile} "${object}" "${at}/core.o" -o "${at}/refused")
    endforeach()
endif()
# Header-only and the library's definitions in one unit; the preprocessor says it.
foreach(part IN ITEMS core mpi)
    file(WRITE "${at}/late.cpp" "#include <einparallel.hpp>\n#include <einparallel/source/${part}.hpp>\n")
    refused(
        "#?error[^\n]*source/${part}.hpp: einparallel.hpp was included before it, header-only" ${compile_mpi} ${include} -E
        "${at}/late.cpp" -o "${at}/late.ii"
    )
endforeach()
