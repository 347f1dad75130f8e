# What the scripts of this folder share. Each is called so:
# cmake -DBUILD=… -DWORK=… -DPROJECT=… -DSOURCE=… -DGENERATOR=… -DCXX=… -DFLAGS=… -DVERSION=… -DNM=… -DMPICXX=…
#       -DINCLUDES=… -P <script> -- <launcher> <argument>...

set(ENV{LC_ALL} C)  # compilers and linkers are quoted
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/command_after_dashes.cmake")
command_after_dashes(launch)

string(REPLACE "." "_" version "${VERSION}")
find_program(LDD ldd)

# step(<command>...) is expected to succeed.
function(step)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    message("${output}")
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " words)
        message(FATAL_ERROR "failed (${result}): ${words}")
    endif()
endfunction()

# refused("<regular expression>" <command>...): fails, and says so in these words.
function(refused sentence)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    list(JOIN ARGN " " words)
    if(result EQUAL 0)
        message(FATAL_ERROR "was not refused: ${words}")
    elseif(NOT output MATCHES "${sentence}")
        message(FATAL_ERROR "was refused, but not with '${sentence}': ${words}\n${output}")
    endif()
    message("refused as it should be: ${CMAKE_MATCH_0}")
endfunction()

# symbols(<file> <options of nm> [HAS <text>...] [LACKS <text>...])
function(symbols file options)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "HAS;LACKS")
    if(NOT NM)
        message("no nm: symbols of ${file} are not looked at")
        return()
    endif()
    execute_process(
        COMMAND "${NM}" -C ${options} "${file}"
        OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY
    )
    foreach(text IN LISTS arg_HAS)
        string(FIND "${names}" "${text}" position)
        if(position EQUAL -1)
            message(FATAL_ERROR "nm ${options}: ${file} lacks ${text}")
        endif()
    endforeach()
    foreach(text IN LISTS arg_LACKS)
        string(FIND "${names}" "${text}" position)
        if(NOT position EQUAL -1)
            string(SUBSTRING "${names}" ${position} 200 found)
            message(FATAL_ERROR "nm ${options}: ${file} has ${found}")
        endif()
    endforeach()
endfunction()

# A program that plans links no MPI.
function(without_mpi program)
    if(NOT LDD)
        message("no ldd: what ${program} links is not looked at")
        return()
    endif()
    execute_process(COMMAND "${LDD}" "${program}" OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
    if(libraries MATCHES "lib[a-z]*mpi[^\n]*")
        message(FATAL_ERROR "${program} links ${CMAKE_MATCH_0}")
    endif()
endfunction()

# Installs a build and moves the installed folder elsewhere: it must not know where it was.
macro(install_and_move build)
    step("${CMAKE_COMMAND}" --install "${build}" --prefix "${WORK}/first place")
    file(RENAME "${WORK}/first place" "${WORK}/second place")
    set(moved "${WORK}/second place")
    set(common -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${FLAGS}" -S "${PROJECT}")
    set(on_moved "-DCMAKE_PREFIX_PATH=${moved}")

    file(GLOB_RECURSE installed "${moved}/lib*/*.cmake" "${moved}/lib*/*.pc")
    if(NOT installed)
        message(FATAL_ERROR "No package was installed.")
    endif()
    foreach(file IN LISTS installed)
        file(READ "${file}" text)
        foreach(folder IN ITEMS "${SOURCE}" "${BUILD}" "first place")
            string(FIND "${text}" "${folder}" position)
            if(NOT position EQUAL -1)
                message(FATAL_ERROR "${file} names ${folder}.")
            endif()
        endforeach()
    endforeach()
endmacro()

# What was built on an earlier installation stays: where nothing changed, nothing is built again.
file(REMOVE_RECURSE "${WORK}/first place" "${WORK}/second place")
