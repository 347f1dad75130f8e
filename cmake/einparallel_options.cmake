# Options that say what they were set to, and choices that are checked against what is allowed.

function(einparallel_switch name default help)
    option(${name} "${help}" ${default})
    message(STATUS "${name}: ${${name}} (${help})")
endfunction()

function(einparallel_choice name default help)
    set(${name} "${default}" CACHE STRING "${help}")
    set_property(CACHE ${name} PROPERTY STRINGS ${ARGN})
    if(NOT "${${name}}" IN_LIST ARGN AND NOT ("${${name}}" STREQUAL "" AND "${default}" STREQUAL ""))
        string(REPLACE ";" ", " allowed "${ARGN}")
        message(FATAL_ERROR "${name} is '${${name}}', but must be one of: ${allowed}.")
    endif()
    message(STATUS "${name}: ${${name}} (${help})")
endfunction()
