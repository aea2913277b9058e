# The test of floors finds what breaks a rule, and says where and why: includes put in on purpose, in a
# small tree of their own with the real table.
# cmake -D ROOT=<source tree> -D FOLDER=<work folder> -P floors_breached_test.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../scripts/floors.cmake)
read_floors(${ROOT}/ARCHITECTURE.md)

function(make_tree)
  file(REMOVE_RECURSE ${FOLDER})
  file(MAKE_DIRECTORY ${FOLDER}/kernels ${FOLDER}/tests)
  configure_file(${ROOT}/ARCHITECTURE.md ${FOLDER}/ARCHITECTURE.md COPYONLY)
  foreach(room IN LISTS rooms)
    if(NOT room STREQUAL "kernels")
      file(WRITE ${FOLDER}/sim/${room}/x.hpp "#pragma once\n#include <string>\n")
    endif()
  endforeach()
endfunction()

# expect(SAYS...): the test of floors fails and says each; without any, it passes.
function(expect)
  execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${FOLDER} -P ${ROOT}/tests/floors_test.cmake
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(ARGC GREATER 0 AND status EQUAL 0)
    message(SEND_ERROR "passed, though it should say: ${ARGV}")
  elseif(ARGC EQUAL 0 AND NOT status EQUAL 0)
    message(SEND_ERROR "failed:\n${output}")
  endif()
  foreach(says IN LISTS ARGV)
    string(FIND "${output}" "${says}" at)
    if(at EQUAL -1)
      message(SEND_ERROR "does not say '${says}':\n${output}")
    endif()
  endforeach()
endfunction()

# wrong(FILE INCLUDE SAYS...): in a tree that is right but for this include, in the file's third line.
function(wrong file include)
  make_tree()
  file(WRITE ${FOLDER}/${file} "// A comment.\n#include <vector>\n#include ${include}\n")
  expect(${ARGN})
endfunction()

make_tree()
expect()
wrong(sim/base/y.cpp [["sim/plan/x.hpp"]]
  "sim/base/y.cpp:3: includes sim/plan/x.hpp, upward: 'base' is on floor 1, 'plan' on floor 4")
wrong(kernels/y.cu [["sim/base/x.hpp"]]
  "kernels/y.cu:3: includes sim/base/x.hpp, upward: 'kernels' is on floor 0, 'base' on floor 1")
wrong(sim/sweep/y.hpp [["sim/breakeven/x.hpp"]]
  "sim/sweep/y.hpp:3: includes sim/breakeven/x.hpp, sideways: 'sweep' and 'breakeven' are both on floor 9")
# One of two rooms may include the other where its row says so; never the other way round.
wrong(sim/fit/y.cpp [["sim/compare/x.hpp"]])
wrong(sim/compare/y.cpp [["sim/fit/x.hpp"]]
  "sim/compare/y.cpp:3: includes sim/fit/x.hpp, sideways: 'compare' and 'fit' are both on floor 9")
wrong(sim/attic/y.cpp [["sim/base/x.hpp"]]
  "sim/attic: is no room of the table of floors in ARCHITECTURE.md")
wrong(sim/plan/y.cpp [["sim/attic/x.hpp"]]
  "sim/plan/y.cpp:3: includes sim/attic/x.hpp, and 'attic' is no room of the table of floors")
# A test is of the room that it tests.
wrong(tests/sim/network/y_test.cpp [["sim/network/x.hpp"]])
wrong(tests/sim/plan/y_test.cpp [["tests/sim/network/y.hpp"]])
wrong(tests/sim/network/y_test.cpp [["sim/plan/x.hpp"]]
  "tests/sim/network/y_test.cpp:3: includes sim/plan/x.hpp, upward: 'network' is on floor 3, 'plan' on floor 4")
wrong(tests/sim/network/y_test.cpp [["tests/sim/plan/toy.hpp"]]
  "tests/sim/network/y_test.cpp:3: includes tests/sim/plan/toy.hpp, upward: 'network' is on floor 3")
wrong(tests/sim/sweep/y.hpp [["tests/sim/breakeven/y.hpp"]]
  "tests/sim/sweep/y.hpp:3: includes tests/sim/breakeven/y.hpp, sideways: 'sweep' and 'breakeven'")
wrong(tests/kernels/y_test.cpp [["sim/base/x.hpp"]]
  "tests/kernels/y_test.cpp:3: includes sim/base/x.hpp, upward: 'kernels' is on floor 0, 'base' on floor 1")
wrong(tests/sim/attic/y_test.cpp [["sim/base/x.hpp"]]
  "tests/sim/attic: is no room of the table of floors in ARCHITECTURE.md")
wrong(sim/loose.cpp [["sim/base/x.hpp"]] "sim/loose.cpp: is no room")
wrong(sim/engine/y.cpp "<simgrid/s4u.hpp>"
  "sim/engine/y.cpp:3: includes simgrid/s4u.hpp; only sim/engine/simgrid/ may")
wrong(sim/engine/simgrid/y.cpp "<simgrid/s4u.hpp>")
wrong(tests/sim/engine/y_test.cpp "<xbt/log.h>"
  "tests/sim/engine/y_test.cpp:3: includes xbt/log.h; only sim/engine/simgrid/ may")
wrong(sim/base/y.cpp "<cuda_runtime.h>" "sim/base/y.cpp:3: includes cuda_runtime.h; only kernels/ may")
wrong(sim/cli/y.cpp "<cxxopts.hpp>" "sim/cli/y.cpp:3: includes cxxopts.hpp; only sim/options/ may")
# A table that nobody can read is no table without rules.
make_tree()
file(WRITE ${FOLDER}/ARCHITECTURE.md "# Architecture\n")
expect("no row like")
