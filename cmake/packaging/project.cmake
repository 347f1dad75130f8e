# Sets einparallel_project_<key> for each fact in project.json. Also for scripts.

file(READ "${CMAKE_CURRENT_LIST_DIR}/project.json" einparallel_project)
foreach(einparallel_key IN ITEMS name title summary homepage authors contact license)
    string(JSON einparallel_project_${einparallel_key} GET "${einparallel_project}" ${einparallel_key})
endforeach()
