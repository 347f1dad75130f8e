# cmake -DOUTPUT=<file> -P kept_output.cmake -- <program> <argument>...
# Runs an example and keeps what it prints: the pages show it.

cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../cmake/command_after_dashes.cmake")
command_after_dashes(run)
execute_process(
    COMMAND ${run}
    OUTPUT_VARIABLE printed ECHO_OUTPUT_VARIABLE COMMAND_ERROR_IS_FATAL ANY
)
file(WRITE "${OUTPUT}" "${printed}")
