# Every header compiles alone, with nothing more than the target of its floor offers.
#
# A unit includes several headers where each includes the one before it: what such a header then finds when it is read is
# what it includes itself, as if it were alone, and what they share is read once. So the units are chains of headers.
# (Which header includes which is looked up when CMake runs: a header that has lost an include since then is caught by
# the next bare build.)
#
# Definitions, which editors open by themselves, are compiled once more in the order opposite to that of the units of the
# compiled library: one that relies on another before it does not compile.

# einparallel_included(<header> <result>): the library's headers that a header includes, all of them, but for those that
# it includes under a condition.
function(einparallel_included header result)
    get_property(known GLOBAL PROPERTY einparallel_included_${header} SET)
    if(NOT known)
        set(included "")
        file(STRINGS "${einparallel_include_dir}/${header}" lines REGEX "^#(if|include <einparallel/.*[.]hpp>)")
        foreach(line IN LISTS lines)
            if(line MATCHES "^#if")
                break()
            endif()
            string(REGEX REPLACE ".*<(.*)>.*" "\\1" other "${line}")
            einparallel_included("${other}" others)
            list(APPEND included "${other}" ${others})
        endforeach()
        list(REMOVE_DUPLICATES included)
        set_property(GLOBAL PROPERTY einparallel_included_${header} "${included}")
    endif()
    get_property(included GLOBAL PROPERTY einparallel_included_${header})
    set(${result} "${included}" PARENT_SCOPE)
endfunction()

# einparallel_chains(<target> <rooms> <header>...): units of these headers, and one of the definitions in these rooms,
# compiled with what the target offers.
function(einparallel_chains target rooms)
    set(sorted "")
    foreach(header IN LISTS ARGN)
        file(RELATIVE_PATH header "${einparallel_include_dir}" "${header}")
        einparallel_included("${header}" included)
        list(LENGTH included count)
        math(EXPR count "10000 - ${count}")  # those that include most first
        list(APPEND sorted "${count} ${header}")
    endforeach()
    list(SORT sorted)
    list(TRANSFORM sorted REPLACE "^[0-9]+ " "")

    set(tops "")
    foreach(header IN LISTS sorted)
        set(found "")
        foreach(top IN LISTS tops)
            einparallel_included("${last_${top}}" included)
            if(header IN_LIST included)
                set(found "${top}")
                break()
            endif()
        endforeach()
        if(found STREQUAL "")
            set(found "${header}")
            list(APPEND tops "${header}")
        endif()
        set(last_${found} "${header}")
        string(PREPEND chain_${found} "#include <${header}>\n")
    endforeach()

    set(definitions ${einparallel_definitions})
    list(FILTER definitions INCLUDE REGEX "/einparallel/(${rooms})/")
    list(FILTER definitions EXCLUDE REGEX "/device/start[.]ipp$")  # for nvcc alone
    list(SORT definitions ORDER DESCENDING)
    list(TRANSFORM definitions REPLACE "(.+)" "#include \"\\1\"\n")
    # (Before cost/numbering.hpp, whose `ranked` is the name of a function here.)
    list(PREPEND definitions "#include <einparallel/notation/row_functions.hpp>\n")
    list(JOIN definitions "" chain_definitions)

    set(sources "")
    foreach(top IN ITEMS definitions LISTS tops)
        set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}_headers/${top}.cpp")
        file(CONFIGURE OUTPUT "${source}" CONTENT "${chain_${top}}" @ONLY)
        list(APPEND sources "${source}")
    endforeach()
    set_source_files_properties(
        "${CMAKE_CURRENT_BINARY_DIR}/${target}_headers/definitions.cpp" PROPERTIES COMPILE_OPTIONS -O0
    )
    add_library(${target}_headers_alone OBJECT EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(${target}_headers_alone PRIVATE ${target})
    add_dependencies(einparallel_headers_alone ${target}_headers_alone)
endfunction()

add_custom_target(einparallel_headers_alone)
einparallel_chains(
    einparallel_core "array|cost|graph|io|kernel|layout|notation|order|plan|schedule|search" ${einparallel_core_headers}
)
if(EINPARALLEL_WITH_MPI)
    einparallel_chains(einparallel_mpi "mpi|run|data" ${einparallel_mpi_headers})
endif()
if(EINPARALLEL_WITH_CUDA)
    einparallel_chains(einparallel_cuda_headers "cuda|device" ${einparallel_cuda_headers})
endif()
