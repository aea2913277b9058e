# Writes the commit of SOURCE as a C++ string into FILE, but only when it changed: run at every build.
# cmake -D SOURCE=... -D FILE=... -P scripts/build_commit.cmake
set(commit "")
find_program(GIT git)
if(GIT)
  # The commit of this checkout, not of another one that contains it.
  execute_process(COMMAND ${GIT} rev-parse --show-prefix HEAD WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE answer RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed AND answer MATCHES "^\n([0-9a-f]+)\n$")
    string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
    execute_process(COMMAND ${GIT} status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
      OUTPUT_VARIABLE changes ERROR_QUIET)
    if(NOT changes STREQUAL "")
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "\"${commit}\"\n")  # does not touch a file that says this already
