# Test files of a room are compiled together. Such files have helpers of the same names, so a batch
# puts each file in a namespace of its own:
#
#     #include <vector>                  what the files include comes first, outside of namespaces:
#     #include "sim/plan/plan.hpp"       each header is included once, so nothing is left to include within
#     namespace file_1 {
#     #include "tests/sim/plan/plan_test.cpp"
#     }
#
# A namespace gradcast that a file opens is file_1::gradcast; a using-directive shows it the real one.

# in_batches(OUT NAME SOURCE...): sets OUT to what to compile in place of the test files SOURCE...:
# batches of at most 24 files, or the files themselves in a build without unity.
function(in_batches out name)
  set(${out} ${ARGN} PARENT_SCOPE)
  if(NOT batches_of_tests)
    return()
  endif()
  list(LENGTH ARGN files)
  math(EXPR batches "(${files} + 23) / 24")
  set(made)
  foreach(number RANGE 1 ${batches})
    math(EXPR first "${files} * (${number} - 1) / ${batches}")
    math(EXPR count "${files} * ${number} / ${batches} - ${first}")
    list(SUBLIST ARGN ${first} ${count} sources)
    batch_of(batch ${sources})
    set(path ${CMAKE_CURRENT_BINARY_DIR}/batches/${name}_${number}.cpp)
    file(GENERATE OUTPUT ${path} CONTENT "${batch}")  # leaves the file alone where nothing changed
    list(APPEND made ${path})
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(${out} ${made} PARENT_SCOPE)
endfunction()

# Sets OUT to the text of one batch.
function(batch_of out)
  set(includes "")
  set(bodies "")
  set(number 0)
  foreach(source IN LISTS ARGN)
    math(EXPR number "${number} + 1")
    file(STRINGS ${source} lines REGEX "^#include [<\"]")
    list(APPEND includes ${lines})
    string(APPEND bodies "namespace file_${number} {\n")
    file(STRINGS ${source} opened REGEX "^namespace gradcast[a-z_:]* {")
    list(REMOVE_DUPLICATES opened)
    foreach(line IN LISTS opened)
      string(REGEX MATCHALL "[a-z_]+" parts "${line}")
      list(REMOVE_AT parts 0)  # "namespace"
      set(path "")
      foreach(part IN LISTS parts)
        string(APPEND path "${part}")
        string(APPEND bodies "namespace ${path} { using namespace ::${path}; }\n")
        string(APPEND path "::")
      endforeach()
    endforeach()
    string(APPEND bodies "#include \"${source}\"\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "\n" includes)
  set(${out} "${includes}\n${bodies}" PARENT_SCOPE)
endfunction()
