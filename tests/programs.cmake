# The test programs, one for each room: tests_base, tests_plan, ... and tests_cli, which runs gradcast.

# add_test_program(NAME ROOM MAIN SOURCE...): MAIN has Catch's main. Slow cases, long ones, and those
# against SimGrid's own MPI, are tests of their own where the sources have any.
function(add_test_program name room main)
  in_batches(batches ${name} ${ARGN})
  add_executable(${name} ${main} ${batches})
  target_link_libraries(${name} PRIVATE catch)
  # Tests run once: lines to find a failure by are enough. Only those of the kernels compute for
  # longer than they compile.
  set(level -Og)
  set(header_of tests_base)
  if(room MATCHES "kernels|gpu")
    set(level -O1)
    set(header_of tests_kernels)
  endif()
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${level}> $<$<COMPILE_LANGUAGE:CXX>:-g1>)
  if(room IN_LIST SANITIZED_ROOMS)
    target_compile_options(${name} PRIVATE ${sanitizers})
  endif()
  # Much of what compiling tests takes is this one header. Each level needs its own.
  if(SANITIZED_ROOMS AND NOT room IN_LIST SANITIZED_ROOMS)
    # Their header was made for sanitizers.
  elseif(name STREQUAL header_of)
    target_precompile_headers(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:<catch2/catch.hpp$<ANGLE-R>>)
  else()
    target_precompile_headers(${name} REUSE_FROM ${header_of})
  endif()
  add_test(NAME ${name} COMMAND ${name} "~[slow]~[smpi]~[long]")
  set_tests_properties(${name} PROPERTIES LABELS ${room} ENVIRONMENT "${plain_environment}")
  foreach(tag slow smpi long)
    has_tag(tagged ${tag} ${ARGN})
    if(tagged)
      add_test(NAME ${name}_${tag} COMMAND ${name} "[${tag}]~[large]")
      set_tests_properties(${name}_${tag} PROPERTIES LABELS ${tag} ENVIRONMENT "${plain_environment}"
        SKIP_REGULAR_EXPRESSION "skipped: ")  # where there is no smpirun
    endif()
  endforeach()
endfunction()

# Sets `out` to YES where one of the sources has a case tagged [tag].
function(has_tag out tag)
  sources_that_mention(tagged "\\[${tag}\\]" ${ARGN})
  set(${out} NO PARENT_SCOPE)
  if(tagged)
    set(${out} YES PARENT_SCOPE)
  endif()
endfunction()

# Sets `out` to those sources that have a line which matches.
function(sources_that_mention out regex)
  set(chosen)
  foreach(source IN LISTS ARGN)
    if(EXISTS ${source})  # not so what is generated in the build
      file(STRINGS ${source} lines REGEX ${regex} LIMIT_COUNT 1)
      if(lines)
        list(APPEND chosen ${source})
      endif()
    endif()
  endforeach()
  set(${out} ${chosen} PARENT_SCOPE)
endfunction()

# These files say what Catch is to be before they include it.
set_source_files_properties(main.cpp main_gpu.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
add_library(test_main OBJECT main.cpp)
target_link_libraries(test_main PRIVATE catch)
# Sanitizers look for defects of ours; in Catch they make a minute of 20 s.
target_compile_options(test_main PRIVATE -Og -g1 -fno-sanitize=all)
set(test_main $<TARGET_OBJECTS:test_main>)

set(rapidcheck OFF)
if(RAPIDCHECK_INCLUDE AND RAPIDCHECK_LIB)
  set(rapidcheck ON)
else()
  message(STATUS "gradcast: no RapidCheck, so properties are not tested")
endif()

# A test program a room, from the ground floor up: the first makes the precompiled header.
foreach(room base kernels ${rooms})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/sim/${room})
  set(library sim_${room})
  if(room STREQUAL "kernels")
    set(folder ${CMAKE_CURRENT_SOURCE_DIR}/kernels)
    set(library kernels)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*_test.cpp)
  list(FILTER sources EXCLUDE REGEX "_(gpu|emulated)_test\\.cpp$")
  # The program's behaviour is tested once, in the default build. Another build needs those tests whose
  # answer depends on what was built.
  if(CLI_TESTS_OF_THE_BUILD AND room STREQUAL "cli")
    sources_that_mention(sources "built\\(\\)|gpu_devices\\(\\)" ${sources})
  endif()
  set(properties ${sources})
  list(FILTER properties INCLUDE REGEX "properties_test\\.cpp$")
  if(properties AND NOT rapidcheck)
    list(REMOVE_ITEM sources ${properties})
  endif()
  if(NOT sources OR TARGET tests_${room})
    continue()
  endif()
  add_test_program(tests_${room} ${room} ${test_main} ${sources})
  target_link_libraries(tests_${room} PRIVATE ${library})
  if(properties AND rapidcheck)
    target_include_directories(tests_${room} SYSTEM PRIVATE ${RAPIDCHECK_INCLUDE})
    target_link_libraries(tests_${room} PRIVATE ${RAPIDCHECK_LIB})
  endif()
endforeach()
# The C interface is tested where programs have it, in the library.
target_link_libraries(tests_kernels PRIVATE gradcast_compressors)
# Its 16-bit types and matrices are what ours are held against.
target_include_directories(tests_kernels SYSTEM PRIVATE ${EIGEN_INCLUDE})
add_dependencies(tests_cli gradcast)
set_tests_properties(tests_cli PROPERTIES COST 130)
if(TEST tests_cli_slow)
  set_tests_properties(tests_cli_slow PROPERTIES COST 70)
endif()
if(TEST tests_cli_long)
  set_tests_properties(tests_cli_long PROPERTIES COST 150)
endif()

file(GLOB emulated_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*_emulated_test.cpp)
if(TARGET emulator)
  add_test_program(tests_emulated kernels ${test_main} ${emulated_tests})
  target_link_libraries(tests_emulated PRIVATE emulator)
  set_tests_properties(tests_emulated_slow PROPERTIES LABELS long COST 150)
  # Broken kernels, which the tests on weak memory must notice.
  add_test(NAME mutations COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/kernels/mutations.py
    --tests $<TARGET_FILE:tests_emulated> --compiler ${CMAKE_CXX_COMPILER} "--flags=${CMAKE_CXX_FLAGS}"
    --work ${CMAKE_BINARY_DIR}/mutations --jobs ${half_of_cores} -- ${test_main} $<TARGET_OBJECTS:tests_emulated>
    $<TARGET_FILE:emulator> $<TARGET_FILE:kernels> ${BOOST_CONTEXT_LIB} COMMAND_EXPAND_LISTS)
  set_tests_properties(mutations PROPERTIES LABELS long COST 100
    PROCESSORS ${half_of_cores})
else()
  message(STATUS "gradcast: no Boost.Context, so kernels are not run on the CPU")
endif()

file(GLOB gpu_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*_gpu_test.cpp)
if(have_cuda)
  add_test_program(tests_gpu gpu main_gpu.cpp ${gpu_tests})
  target_link_libraries(tests_gpu PRIVATE kernels CUDA::cudart_static)
  set_tests_properties(tests_gpu PROPERTIES SKIP_RETURN_CODE 77)
endif()
