# cmake -DROOT=<repository> -P tags.cmake
# .ctags.d names each macro that stands before a function or in the name of a namespace: a parser of tags that does not
# know one misses the function, or gives it another name.

cmake_minimum_required(VERSION 3.25)
file(STRINGS "${ROOT}/.ctags.d/einparallel.ctags" known REGEX "^-D ")
list(TRANSFORM known REPLACE "^-D ([A-Z_]+)=.*" "\\1")
file(GLOB_RECURSE headers "${ROOT}/include/*.hpp" "${ROOT}/include/*.ipp")
list(FILTER headers EXCLUDE REGEX "/source/")
set(unknown "")
foreach(header IN LISTS headers)
    file(STRINGS "${header}" lines REGEX "^ *((inline )?namespace [a-z:]*|[][a-z:<>, ]*)EINPARALLEL_[A-Z_]+[ :].*")
    foreach(line IN LISTS lines)
        string(REGEX MATCH "EINPARALLEL_[A-Z_]+" macro "${line}")
        if(NOT macro IN_LIST known AND NOT line MATCHES " for [(]")
            list(APPEND unknown "${macro} in ${header}")
        endif()
    endforeach()
endforeach()
if(unknown)
    list(REMOVE_DUPLICATES unknown)
    list(JOIN unknown "\n  " unknown)
    message(FATAL_ERROR ".ctags.d does not name\n  ${unknown}")
endif()
