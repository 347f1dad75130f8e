# Options that say what they were set to, and choices that are checked against what is allowed.

# In another project's build only what was found is said.
function(einparallel_say line)
    if(PROJECT_IS_TOP_LEVEL)
        message(STATUS "${line}")
    endif()
endfunction()

function(einparallel_switch name default help)
    option(${name} "${help}" ${default})
    einparallel_say("${name}: ${${name}} (${help})")
endfunction()

function(einparallel_choice name default help)
    set(${name} "${default}" CACHE STRING "${help}")
    set_property(CACHE ${name} PROPERTY STRINGS ${ARGN})
    if(NOT "${${name}}" IN_LIST ARGN AND NOT ("${${name}}" STREQUAL "" AND "${default}" STREQUAL ""))
        string(REPLACE ";" ", " allowed "${ARGN}")
        message(FATAL_ERROR "${name} is '${${name}}', but must be one of: ${allowed}.")
    endif()
    einparallel_say("${name}: ${${name}} (${help})")
endfunction()
