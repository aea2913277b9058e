# Reads the table of floors in ARCHITECTURE.md. The build links by it (sim/CMakeLists.txt), and the
# test of floors reads every #include by it (tests/floors_test.cmake).

# Sets in the caller: `rooms`, from the ground up; and of each room floor_<room>, its number, and
# beside_<room>, the rooms of its own floor that it may include.
macro(read_floors architecture)
  set(rooms "")
  if(NOT CMAKE_SCRIPT_MODE_FILE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${architecture})
  endif()
  file(STRINGS ${architecture} floor_rows REGEX "^\\| *[0-9]+ *\\| *`[a-z]+`")
  foreach(row IN LISTS floor_rows)
    string(REGEX MATCH "^\\| *([0-9]+) *\\| *`([a-z]+)` *\\|([^|]*)\\|" matched "${row}")
    set(room ${CMAKE_MATCH_2})
    list(APPEND rooms ${room})
    set(floor_${room} ${CMAKE_MATCH_1})
    string(REGEX MATCHALL "[a-z]+" beside_${room} "${CMAKE_MATCH_3}")
  endforeach()
  if(rooms STREQUAL "")
    message(FATAL_ERROR "${architecture}: no row like '| 1 | `base` | | ... |', so there are no floors")
  endif()
endmacro()

# Whether code of `room` may include `included`: a room of a lower floor, itself, or one
# that its row names.
# Sets `out` to YES or NO in the caller. Reads what read_floors has set.
function(may_include room included out)
  set(${out} NO PARENT_SCOPE)
  if(room STREQUAL included OR floor_${included} LESS floor_${room} OR included IN_LIST beside_${room})
    set(${out} YES PARENT_SCOPE)
  endif()
endfunction()
