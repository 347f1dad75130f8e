# The pages: README.md and examples/pages/*.md.

set(einparallel_page_sources "${PROJECT_SOURCE_DIR}/README.md")
file(GLOB einparallel_page_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/pages/*.md")
list(APPEND einparallel_page_sources ${einparallel_page_files})

# einparallel_page_code(<file>): writes all C++ of the pages into one file, page by page in the order of the text: blocks
# fenced as cpp, and what stands between them in comments `<!-- cpp … -->`, which readers do not see. Not what is quoted
# from an example (test/quotes.cmake). A compiler's messages name the page's lines.
function(einparallel_page_code file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${einparallel_page_sources})
    set(code "")
    foreach(page IN LISTS einparallel_page_sources)
        file(READ "${page}" rest)
        set(line 1)
        while(TRUE)
            string(FIND "${rest}" "\n```cpp\n" visible)
            string(FIND "${rest}" "\n<!-- cpp\n" hidden)
            if(visible EQUAL -1 AND hidden EQUAL -1)
                break()
            elseif(hidden EQUAL -1 OR (visible GREATER -1 AND visible LESS hidden))
                math(EXPR begin "${visible} + 8")
                set(fence "\n```")
            else()
                math(EXPR begin "${hidden} + 10")
                set(fence "\n-->")
            endif()
            string(SUBSTRING "${rest}" 0 ${begin} before)
            string(SUBSTRING "${rest}" ${begin} -1 rest)
            string(FIND "${rest}" "${fence}" end)
            string(SUBSTRING "${rest}" 0 ${end} block)
            string(SUBSTRING "${rest}" ${end} -1 rest)
            string(REGEX MATCHALL "\n" newlines "${before}")
            list(LENGTH newlines count)
            math(EXPR line "${line} + ${count}")
            if(NOT before MATCHES "\n<!-- from [^\n]*-->\n```cpp\n$")
                string(APPEND code "#line ${line} \"${page}\"\n${block}\n")
            endif()
            string(REGEX MATCHALL "\n" newlines "${block}")
            list(LENGTH newlines count)
            math(EXPR line "${line} + ${count}")
        endwhile()
    endforeach()
    file(GENERATE OUTPUT "${file}" CONTENT "${code}")
endfunction()

# Where the examples' tests leave what they print.
set(einparallel_pages_dir "${PROJECT_BINARY_DIR}/pages")
file(MAKE_DIRECTORY "${einparallel_pages_dir}/output")

# einparallel_shown_ranks(<example> <variable>): the number of ranks of the run that the pages show; 0: one process
# without MPI.
set(einparallel_examples_of_one_process dry_run first_einsum first_plan)
function(einparallel_shown_ranks example variable)
    set(ranks 4)
    if(example IN_LIST einparallel_examples_of_one_process)
        set(ranks 0)
    elseif(example MATCHES "^(ccsd|character_model|classifier|first_application)$")
        set(ranks 2)  # the first three have many runs, which wait for shared cores
    endif()
    set(${variable} ${ranks} PARENT_SCOPE)
endfunction()

# The target pages: the reference of the headers that the umbrella shows, and the pages.
find_program(EINPARALLEL_DOXYGEN doxygen DOC "Builds the pages")
if(NOT EINPARALLEL_DOXYGEN OR NOT EINPARALLEL_EXAMPLES OR NOT EINPARALLEL_WITH_MPI)
    message(STATUS "No target pages, and no test of it: it needs Doxygen, the examples and MPI")
    return()
endif()
# What a warning is differs from release to release: it is an error, and the target a test, with Debian 12's.
execute_process(COMMAND "${EINPARALLEL_DOXYGEN}" --version OUTPUT_VARIABLE doxygen_version)
set(einparallel_doxygen_warnings NO)
if(doxygen_version MATCHES "^1\\.9\\.4")
    set(einparallel_doxygen_warnings FAIL_ON_WARNINGS)
endif()

# Besides what the umbrella names: types that its functions take and give.
# The pages stand in the order of the README: it lists all of them.
file(READ "${PROJECT_SOURCE_DIR}/README.md" einparallel_readme)
string(REGEX MATCHALL "\\(examples/pages/[a-z_]+\\.md\\)" einparallel_page_order "${einparallel_readme}")
list(TRANSFORM einparallel_page_order REPLACE "\\((.*)\\)" "${PROJECT_SOURCE_DIR}/\\1")
set(einparallel_doxygen_inputs "${PROJECT_SOURCE_DIR}/README.md" ${einparallel_page_order})
list(REMOVE_DUPLICATES einparallel_doxygen_inputs)
set(einparallel_unlisted_pages ${einparallel_page_files})
list(REMOVE_ITEM einparallel_unlisted_pages ${einparallel_doxygen_inputs})
if(einparallel_unlisted_pages)
    message(FATAL_ERROR "README.md lists no page ${einparallel_unlisted_pages}")
endif()
file(STRINGS "${PROJECT_SOURCE_DIR}/include/einparallel.hpp" umbrella REGEX "^#include <einparallel/[^s]")
list(TRANSFORM umbrella REPLACE "#include <(.*)>" "\\1")
foreach(
    header IN
    LISTS umbrella
    ITEMS einparallel.hpp
          einparallel/graph/vertex.hpp
          einparallel/layout/distribution.hpp
          einparallel/layout/mesh.hpp
          einparallel/layout/placement.hpp
          einparallel/mpi/communicator.hpp
          einparallel/mpi/error.hpp
          einparallel/notation/box.hpp
          einparallel/notation/element_type.hpp
          einparallel/data/local_tensor.hpp
          einparallel/run/trace.hpp
)
    list(APPEND einparallel_doxygen_inputs "${PROJECT_SOURCE_DIR}/include/${header}")
endforeach()
list(TRANSFORM einparallel_doxygen_inputs APPEND "\"")
list(TRANSFORM einparallel_doxygen_inputs PREPEND "\"")
list(JOIN einparallel_doxygen_inputs " " einparallel_doxygen_inputs)
configure_file("${CMAKE_CURRENT_LIST_DIR}/Doxyfile.in" "${einparallel_pages_dir}/Doxyfile" @ONLY)

add_custom_target(
    pages
    COMMAND "${EINPARALLEL_DOXYGEN}" "${einparallel_pages_dir}/Doxyfile"
    COMMAND "${CMAKE_COMMAND}" -E echo "The pages begin with ${einparallel_pages_dir}/html/index.html"
    VERBATIM
)
if(einparallel_doxygen_warnings)
    add_test(NAME pages COMMAND "${EINPARALLEL_DOXYGEN}" "${einparallel_pages_dir}/Doxyfile")
    set_tests_properties(pages PROPERTIES TIMEOUT 300 LABELS "examples")
endif()
