# MPI is the application's choice: the project in dependency/ is configured with each MPI of this machine first on the
# PATH, and has the cache, the compile commands and the programs that it has without the library.

cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
file(REMOVE_RECURSE "${WORK}/headers" "${WORK}/all")
step("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/headers" --component headers)

set(application "${CMAKE_CURRENT_LIST_DIR}/dependency")

# configured(<folder> <argument>...): what CMake printed is in `output`.
function(configured folder)
    file(REMOVE_RECURSE "${folder}")
    execute_process(
        COMMAND
            "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${application}" -B "${folder}" "-DCMAKE_CXX_COMPILER=${CXX}"
            "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ${ARGN}
        RESULT_VARIABLE result
        OUTPUT_VARIABLE output
        ERROR_VARIABLE output
    )
    if(NOT result EQUAL 0 OR output MATCHES "CMake [^\n]*Warning[^\n]* at ")
        message(FATAL_ERROR "${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# The entries of a cache, but for our own and those that any project or any FetchContent has.
function(cache variable folder)
    file(STRINGS "${folder}/CMakeCache.txt" entries REGEX "^[^#/][^:]*:[A-Z]+=")
    list(FILTER entries EXCLUDE REGEX "^(EINPARALLEL_|einparallel_DIR:|einparallel_(BINARY_DIR|SOURCE_DIR|IS_TOP_LEVEL|[a-z_]*LIB_DEPENDS):|FETCHCONTENT_)")
    list(FILTER entries EXCLUDE REGEX "^(WAY|FIRST|CMAKE_PREFIX_PATH|CMAKE_CACHEFILE_DIR|CMAKE_NUMBER_OF_MAKEFILES|application_BINARY_DIR):")
    string(REPLACE "${folder}" "" entries "${entries}")
    set(${variable} "${entries}" PARENT_SCOPE)
endfunction()

function(command_of variable folder unit)
    file(READ "${folder}/compile_commands.json" commands)
    string(JSON last LENGTH "${commands}")
    math(EXPR last "${last} - 1")
    foreach(place RANGE ${last})
        string(JSON file GET "${commands}" ${place} file)
        if(file MATCHES "/${unit}$")
            string(JSON command GET "${commands}" ${place} command)
            string(REPLACE "${folder}" "" command "${command}")
            set(${variable} "${command}" PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

set(path "$ENV{PATH}")
set(tried "")
set(places "${MPICXX}")
foreach(mpi IN ITEMS mpich openmpi)
    find_program(${mpi} NAMES mpicxx.${mpi})
    if(${mpi})
        list(APPEND places "${${mpi}}")
    endif()
endforeach()
foreach(wrapper IN LISTS places)
    # As a module has it: a folder of its own with mpicxx and mpiexec, first on the PATH.
    if(wrapper IN_LIST tried)
        continue()
    endif()
    list(APPEND tried "${wrapper}")
    list(LENGTH tried number)
    set(module "${WORK}/module${number}/bin")
    file(REMOVE_RECURSE "${module}")
    file(MAKE_DIRECTORY "${module}")
    get_filename_component(folder "${wrapper}" DIRECTORY)
    get_filename_component(name "${wrapper}" NAME)
    string(REGEX REPLACE "^mpi(cxx|CC|c\\+\\+|g\\+\\+)" "" suffix "${name}")
    foreach(program IN ITEMS mpicxx mpiexec)
        if(NOT EXISTS "${folder}/${program}${suffix}")
            message(FATAL_ERROR "${wrapper} has no ${program}${suffix} beside it.")
        endif()
        file(WRITE "${module}/${program}" "#!/bin/sh\nexec '${folder}/${program}${suffix}' \"$@\"\n")
        file(CHMOD "${module}/${program}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    endforeach()
    set(ENV{PATH} "${module}:${path}")
    set(expected "-DEXPECTED_MPI=${module}/mpicxx" "-DEINPARALLEL_SOURCE=${SOURCE}")

    foreach(first IN ITEMS mpi library)
        configured("${WORK}/plain" -DWAY=none -DFIRST=${first} ${expected})
        cache(plain_${first} "${WORK}/plain")
    endforeach()
    command_of(plain_command "${WORK}/plain" bystander.cpp)
    foreach(way IN ITEMS package subdirectory content)
        foreach(first IN ITEMS mpi library)
            set(at "${WORK}/${way}")
            configured("${at}" -DWAY=${way} -DFIRST=${first} "-DCMAKE_PREFIX_PATH=${WORK}/headers" ${expected})
            set(where "${way}, ${first} first, ${wrapper}")
            if(NOT output MATCHES "einparallel: runs over ([^\n]*), ${module}/mpicxx")
                message(FATAL_ERROR "${where}: the MPI is not said.\n${output}")
            endif()
            message("${where}: ${CMAKE_MATCH_1}")
            cache(our_cache "${at}")
            set(more ${our_cache})
            list(REMOVE_ITEM more ${plain_${first}})
            set(less ${plain_${first}})
            list(REMOVE_ITEM less ${our_cache})
            if(more OR less)
                message(FATAL_ERROR "${where}: the cache has besides: ${more}\nand lacks: ${less}")
            endif()
            command_of(our_command "${at}" bystander.cpp)
            if(NOT our_command STREQUAL plain_command)
                message(FATAL_ERROR "${where}: ${our_command}\nis not ${plain_command}")
            endif()
        endforeach()
        # No test, example or library of ours belongs to all.
        step("${CMAKE_COMMAND}" --build "${at}")
        file(GLOB_RECURSE built "${at}/*.a" "${at}/*.so" "${at}/einparallel/*.o" "${at}/_deps/*.o")
        if(built OR EXISTS "${at}/CTestTestfile.cmake")
            message(FATAL_ERROR "${where}: was built besides: ${built}")
        endif()
    endforeach()
endforeach()

# Cross compiling: the first configuration succeeds, for nothing is run.
set(ENV{PATH} "${path}")
configured(
    "${WORK}/cross" -DWAY=package "-DCMAKE_PREFIX_PATH=${WORK}/headers" "-DEINPARALLEL_SOURCE=${SOURCE}"
    -DCMAKE_SYSTEM_NAME=${CMAKE_HOST_SYSTEM_NAME} -DCMAKE_SYSTEM_PROCESSOR=${CMAKE_HOST_SYSTEM_PROCESSOR}
    "-DMPI_CXX_COMPILER=${MPICXX}" "-DEXPECTED_MPI=${MPICXX}"
)

# Libraries that were compiled with another MPI, and headers without libraries: what is offered, and what is said.
function(offers prefix components sentence)
    file(MAKE_DIRECTORY "${WORK}/offers")
    file(
        WRITE "${WORK}/offers/CMakeLists.txt"
        "cmake_minimum_required(VERSION 3.25)\nproject(offers LANGUAGES CXX)\n"
        "find_package(einparallel CONFIG REQUIRED ${components})\n"
        "foreach(target IN ITEMS core mpi einparallel compiled_core compiled_mpi compiled cuda)\n"
        "    if(TARGET einparallel::\${target})\n        message(STATUS \"offered \${target}\")\n    endif()\nendforeach()\n"
    )
    execute_process(
        COMMAND
            "${CMAKE_COMMAND}" --fresh -G "${GENERATOR}" -S "${WORK}/offers" -B "${WORK}/offers/build"
            "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_PREFIX_PATH=${prefix}"
            "-DMPI_CXX_COMPILER=${MPICXX}"
        OUTPUT_VARIABLE output
        ERROR_VARIABLE output
    )
    string(REGEX MATCHALL "offered [a-z_]+" offered "${output}")
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    string(REPLACE "offered " "" offered "${offered}")
    string(FIND "${output}" "${sentence}" place)
    if(place EQUAL -1)
        message(FATAL_ERROR "${prefix} did not say '${sentence}': ${output}")
    endif()
    message("'${components}': ${offered}: ${sentence}")
    set(offered "${offered}" PARENT_SCOPE)
endfunction()

offers("${WORK}/headers" "" "einparallel: runs over")
set(header_only "${offered}")
if(NOT header_only MATCHES "core;mpi;einparallel")
    message(FATAL_ERROR "Headers alone offer ${header_only}.")
endif()
offers("${WORK}/headers" "COMPONENTS compiled"
       "einparallel's component compiled is not offered: it was installed without its libraries."
)
offers("${WORK}/headers" "COMPONENTS gpu"
       "einparallel has no component 'gpu': those that can be asked for are mpi, compiled, cuda, openmp and blas."
)
step("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/all")
file(GLOB_RECURSE config "${WORK}/all/*/einparallelConfig.cmake")
file(READ "${config}" text)
if(text MATCHES "installed_mpi_standard \"[0-9]" AND EXISTS "${config}/../einparallelCompiledMpiTargets.cmake")
    offers("${WORK}/all" "COMPONENTS mpi compiled" "einparallel: runs over")
    string(REGEX REPLACE "(installed_mpi_name) \"[^\"]*\"" "\\1 \"Another MPI 7.8 (MPI 4.0)\"" text "${text}")
    string(REGEX REPLACE "(installed_mpi_family) \"[^\"]*\"" "\\1 \"another\"" text "${text}")
    file(WRITE "${config}" "${text}")
    offers("${WORK}/all" ""
           "einparallel::compiled_mpi and einparallel::compiled are not offered, only the header-only targets run over MPI, because its libraries were compiled with Another MPI 7.8 (MPI 4.0), and this project's MPI is"
    )
    if(NOT offered MATCHES "core;mpi;einparallel;compiled_core" OR offered MATCHES "compiled_mpi|compiled;|compiled$")
        message(FATAL_ERROR "Beside another MPI these are offered: ${offered}.")
    endif()
    offers("${WORK}/all" "COMPONENTS compiled"
           "einparallel's component compiled is not offered: its libraries were compiled with Another MPI 7.8 (MPI 4.0), and this project's MPI is"
    )
endif()
