# cmake -DEXPECT=<regular expression> [-DONLY=ON] -P expect_error.cmake -- <compiler> <argument>...
# Passes where the compiler refuses, its first error is our sentence (with ONLY its only one), and what it says can still be read. WILL_FAIL would
# let a misspelt name pass.

cmake_policy(SET CMP0007 NEW)  # empty lines are lines

set(command "")
set(after FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(number RANGE ${last})
    if(after)
        list(APPEND command "${CMAKE_ARGV${number}}")
    elseif("${CMAKE_ARGV${number}}" STREQUAL "--")
        set(after TRUE)
    endif()
endforeach()

set(ENV{LC_ALL} C)
execute_process(
    COMMAND ${command}
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output
)
if(result EQUAL 0)
    message(FATAL_ERROR "It compiled.")
endif()
# Semicolons and brackets would change what a list of lines is.
string(REGEX REPLACE "[][;]" "_" lines "${output}")
string(REPLACE "\n" ";" lines "${lines}")
list(LENGTH lines length)
if(length GREATER 400)
    message(FATAL_ERROR "The compiler wrote ${length} lines.")
endif()
list(FILTER lines INCLUDE REGEX "error:|error #|fatal error")
list(LENGTH lines count)
if(count EQUAL 0)
    message(FATAL_ERROR "No error line in:\n${output}")
endif()
list(GET lines 0 first)
if(NOT first MATCHES "${EXPECT}")
    message(FATAL_ERROR "The first of ${count} errors is not our sentence '${EXPECT}'. The compiler said:\n${output}")
endif()
if(ONLY AND count GREATER 1)
    message(FATAL_ERROR "There are ${count} errors:\n${output}")
endif()
message("${count} error(s) in ${length} lines, the first: ${first}")
