# compressors.def, collectives.def and commands.def list all compressors, collectives and commands.
# The build reads them too, so that one line adds an entry.

# Sets `out` to the files of the entries that `def` lists: `folder`/<name>.cpp, seen from here, and
# <name>.cu where there is one and CUDA.
function(sources_from_def out def folder)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${def})
  file(STRINGS ${def} lines REGEX "^[A-Z]+\\(")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[A-Z]+\\(([a-z0-9_]+).*" "\\1" name "${line}")
    list(APPEND files ${folder}/${name}.cpp)
    if(have_cuda AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${name}.cu)
      list(APPEND files ${folder}/${name}.cu)
    endif()
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()
