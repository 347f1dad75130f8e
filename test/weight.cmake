# cmake -DINCLUDE_DIR=<include> [-DENFORCE=ON] -P weight.cmake
# Prints files, code lines and non-blank characters of code per folder (see weight.awk). Fails, with ENFORCE, or else
# warns where a folder or a file holds more than the limits below.

cmake_minimum_required(VERSION 3.25)
set(files_limit 25)
set(lines_limit 3000)
set(length_limit 350)

find_program(awk awk)
if(NOT awk)
    message("No awk on this machine: nothing was counted.")
    return()
endif()
file(GLOB_RECURSE files "${INCLUDE_DIR}/einparallel/*.hpp" "${INCLUDE_DIR}/einparallel/*.ipp")
execute_process(
    COMMAND
        "${CMAKE_COMMAND}" -E env LC_ALL=C "${awk}" -v files_limit=${files_limit} -v lines_limit=${lines_limit} -v
        length_limit=${length_limit} -f "${CMAKE_CURRENT_LIST_DIR}/weight.awk" ${files}
    RESULT_VARIABLE status
    OUTPUT_VARIABLE written
)
message("Code under include/einparallel:\n${written}")
if(ENFORCE AND NOT status EQUAL 0)
    message(FATAL_ERROR "A folder or a file of ${INCLUDE_DIR} holds more than the limits.")
endif()
