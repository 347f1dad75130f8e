# Sets NAME, TITLE, SUMMARY, HOMEPAGE, AUTHORS, CONTACT and LICENSE, as project.json says them. Also for scripts.

file(READ "${CMAKE_CURRENT_LIST_DIR}/project.json" einparallel_project)
foreach(einparallel_key IN ITEMS name title summary homepage authors contact license)
    string(TOUPPER ${einparallel_key} einparallel_variable)
    string(JSON ${einparallel_variable} GET "${einparallel_project}" ${einparallel_key})
endforeach()
