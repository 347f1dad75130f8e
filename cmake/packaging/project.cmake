# Sets einparallel_project_<key> for each fact in project.json. Also for scripts.

file(READ "${CMAKE_CURRENT_LIST_DIR}/project.json" einparallel_project)
foreach(einparallel_key IN ITEMS name title summary homepage authors contact license)
    string(JSON einparallel_project_${einparallel_key} GET "${einparallel_project}" ${einparallel_key})
    if(einparallel_project_${einparallel_key} MATCHES "[\"\\]")
        message(FATAL_ERROR "project.json: ${einparallel_key} has a quotation mark or a backslash, which the recipes cannot hold.")
    endif()
endforeach()
