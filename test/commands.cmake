# What examples/run says where it cannot begin: one sentence, and nothing is installed, configured or built.
# cmake -DSOURCE=<project> -DBASH=<shell> -P commands.cmake

cmake_minimum_required(VERSION 3.25)

set(examples "There is no example '[^']*'. there are: attention ccsd ")
set(number "The number of ranks is '[^']*', and must be a whole number from 1 to 1024[.]")
set(cases
    "|nosuch|${examples}"
    "|../examples/mp2 2|${examples}"
    "CDPATH=.:/tmp|nosuch|${examples}"
    "|mp2 0|${number}"
    "|mp2 -1|${number}"
    "|mp2 two|${number}"
    "|mp2 100000|${number}"
    "|mp2 99999999999999999999|${number}"
    "CXX=nosuch -m64|mp2 2|CXX is 'nosuch -m64', and there is no 'nosuch' on this machine[.]"
    "CXX=/bin/false|mp2 2|The compiler '/bin/false' does not even preprocess an empty file"
    "MPI_HOME=/nowhere|mp2 2|MPI_HOME is '/nowhere', and there is no such folder[.]"
)
foreach(case IN LISTS cases)
    string(REGEX MATCH "^([^|]*)[|]([^|]*)[|](.*)$" parts "${case}")
    set(setting "${CMAKE_MATCH_1}")
    set(sentence "${CMAKE_MATCH_3}")
    separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_2}")
    execute_process(
        COMMAND "${CMAKE_COMMAND}" -E env ${setting} "${BASH}" examples/run ${arguments}
        WORKING_DIRECTORY "${SOURCE}" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output
    )
    string(REGEX MATCHALL "\n" lines "${output}")
    list(LENGTH lines count)
    if(result EQUAL 0 OR NOT count EQUAL 1 OR NOT output MATCHES "^${sentence}")
        message(SEND_ERROR "'${setting}' examples/run ${arguments}: not '${sentence}', but (${result})\n${output}")
    endif()
endforeach()
list(LENGTH cases count)
message("${count} commands that cannot begin say so.")
