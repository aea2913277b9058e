# Tests that are scripts: where the machine lacks what one needs, it shows as skipped.

# Scripts in Python run with the first one that has what they import.
function(find_python_with module out)
  if(DEFINED ${out})
    return()
  endif()
  foreach(candidate "$ENV{GRADCAST_PYTHON}" python3 /usr/bin/python3)
    if(candidate)
      execute_process(COMMAND "${candidate}" -c "import ${module}" RESULT_VARIABLE missing
        OUTPUT_QUIET ERROR_QUIET)
      if(missing EQUAL 0)
        set(${out} "${candidate}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  set(${out} python3 PARENT_SCOPE)
endfunction()
find_python_with(torch PYTHON_WITH_TORCH)
find_python_with(jsonschema PYTHON_WITH_JSONSCHEMA)

foreach(test kernels/torch_baseline traces/record_trace traces/ddp_buckets)
  get_filename_component(name ${test} NAME)
  add_test(NAME ${name}
    COMMAND ${PYTHON_WITH_TORCH} ${CMAKE_CURRENT_SOURCE_DIR}/${test}_test.py)
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS "torch;slow"
    ENVIRONMENT "OMP_NUM_THREADS=1;GRADCAST_PROGRAM=$<TARGET_FILE:gradcast>")
endforeach()

# Compressors in PyTorch's DistributedDataParallel, on processes of their own. Python cannot load a library that
# sanitizers watch.
if(NOT SANITIZED_ROOMS AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  foreach(name torch_hook torch_device torch_refusals)
    add_test(NAME ${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/with_torch.sh
      ${CMAKE_CURRENT_SOURCE_DIR}/python/${name}_test.py)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS "torch;slow" FIXTURES_REQUIRED proving
      ENVIRONMENT "OMP_NUM_THREADS=1;GRADCAST_PROGRAM=$<TARGET_FILE:gradcast>;\
GRADCAST_LIBRARY_DIR=$<TARGET_FILE_DIR:gradcast_compressors>")
  endforeach()
  add_test(NAME torch_hook_long COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/with_torch.sh
    ${CMAKE_CURRENT_SOURCE_DIR}/python/torch_hook_test.py --long)
  get_property(hook_environment TEST torch_hook PROPERTY ENVIRONMENT)
  set_tests_properties(torch_hook_long PROPERTIES SKIP_RETURN_CODE 77 LABELS "torch;long" FIXTURES_REQUIRED proving
    ENVIRONMENT "${hook_environment}" COST 130 PROCESSORS 2)
  set_tests_properties(torch_hook PROPERTIES COST 45 PROCESSORS 2)
endif()

# Another machine's build, and what depends on it.
add_test(NAME second_build COMMAND ${CMAKE_SOURCE_DIR}/scripts/second-build ${half_of_cores})
set_tests_properties(second_build PROPERTIES LABELS long COST 300 PROCESSORS ${half_of_cores})
add_test(NAME wheel COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/python/wheel_test.py)
set_tests_properties(wheel PROPERTIES LABELS long COST 200 RUN_SERIAL ON)

# The library as it is installed, and a project of two files that finds it.
add_test(NAME library_installed
  COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/library_installed_test.py ${CMAKE_BINARY_DIR})
set_tests_properties(library_installed PROPERTIES LABELS "library;slow" COST 20)

# The Python package, on the library of this build. A few random questions are quick, 200 are not.
set(python_package "PYTHONPATH=${CMAKE_SOURCE_DIR}/python;GRADCAST_LIBRARY_DIR=${CMAKE_BINARY_DIR}")
set(asks_in_python ${CMAKE_CURRENT_SOURCE_DIR}/python/forecast_test.py $<TARGET_FILE:gradcast>)
add_test(NAME python_forecast COMMAND python3 ${asks_in_python})
add_test(NAME python_forecast_all COMMAND python3 ${asks_in_python} --all)
set_tests_properties(python_forecast PROPERTIES LABELS library ENVIRONMENT "${python_package}")
set_tests_properties(python_forecast_all PROPERTIES LABELS "library;slow" COST 20 ENVIRONMENT "${python_package}")
foreach(test torch_inputs probe notebook dask)
  add_test(NAME python_${test} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/with_torch.sh
    ${CMAKE_CURRENT_SOURCE_DIR}/python/${test}_test.py)
  set_tests_properties(python_${test} PROPERTIES SKIP_RETURN_CODE 77 LABELS "torch;slow"
    FIXTURES_REQUIRED proving ENVIRONMENT "OMP_NUM_THREADS=1;${python_package}")
endforeach()

# Accidents, a few of many (scripts/soak).
add_test(NAME soak_kills COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/soak/soak.py kills 25)
set_tests_properties(soak_kills PROPERTIES LABELS slow WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
  ENVIRONMENT GRADCAST_PROGRAM=$<TARGET_FILE:gradcast>)

# nvcc's machine code of the kernels: registers, spills, wide loads. It needs no GPU, and compiles only what changed.
add_test(NAME compiled_kernels COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/kernels/compiled_kernels_test.py
  --jobs ${half_of_cores} --folder ${CMAKE_BINARY_DIR}/compiled_kernels)
set_tests_properties(compiled_kernels PROPERTIES SKIP_RETURN_CODE 77 LABELS long COST 150
  PROCESSORS ${half_of_cores})

# The work of a machine with a GPU (scripts/measure-gpu), with stand-ins for all that it has.
add_test(NAME measure_gpu COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/scripts/measure_gpu_test.py)
set_tests_properties(measure_gpu PROPERTIES LABELS "scripts;slow" COST 40)

# The proving ground's hosts (scripts/prove), where this machine lets one make some; 20 kills are slow.
set(proving ${CMAKE_CURRENT_SOURCE_DIR}/scripts/proving_test.py)
add_test(NAME proving COMMAND python3 ${proving})
add_test(NAME proving_kills COMMAND python3 ${proving} 20 Leftovers)
set_tests_properties(proving PROPERTIES LABELS scripts)
set_tests_properties(proving_kills PROPERTIES LABELS "scripts;slow")
# Two short trainings by PyTorch that the commit's hash draws, at most 15 % from their forecasts. They need the
# machine for themselves; where that or PyTorch is not to be had, they are skipped.
# The list installs PyTorch, while other tests run.
add_test(NAME proving_set_ups COMMAND ${CMAKE_SOURCE_DIR}/scripts/prove --list)
add_test(NAME proving_quick COMMAND ${CMAKE_SOURCE_DIR}/scripts/prove --quick)
set_tests_properties(proving_set_ups PROPERTIES LABELS "scripts;slow" SKIP_RETURN_CODE 77 COST 200
  FIXTURES_SETUP proving)
set_tests_properties(proving_quick PROPERTIES LABELS "scripts;slow" SKIP_RETURN_CODE 77 TIMEOUT 600 RUN_SERIAL ON
  FIXTURES_REQUIRED proving)

# A job array on a real Slurm, of four emulated nodes.
add_test(NAME slurm
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/slurm/slurm_test.sh $<TARGET_FILE:gradcast>)
set_tests_properties(slurm PROPERTIES SKIP_RETURN_CODE 77 LABELS "slurm;slow" COST 45)

# The commands of the documents, and the outputs that are shown below them.
set(docs ${CMAKE_CURRENT_SOURCE_DIR}/scripts/docs_test.py)
add_test(NAME docs COMMAND python3 ${docs})
add_test(NAME docs_slow COMMAND python3 ${docs} --slow)
set_tests_properties(docs docs_slow PROPERTIES
  ENVIRONMENT "GRADCAST_PROGRAM=$<TARGET_FILE:gradcast>;${plain_environment}")
set_tests_properties(docs PROPERTIES LABELS cli COST 20)
set_tests_properties(docs_slow PROPERTIES LABELS "cli;slow" COST 50)

# Trainings that no fit has seen: their errors are those of docs/accuracy.md.
add_test(NAME unseen COMMAND python3 ${CMAKE_SOURCE_DIR}/scripts/unseen --check $<TARGET_FILE:gradcast>)
set_tests_properties(unseen PROPERTIES LABELS cli)

# Documents against schemas, an installed tree, a package.
set(cli ${CMAKE_CURRENT_SOURCE_DIR}/sim/cli)
add_test(NAME schemas COMMAND ${PYTHON_WITH_JSONSCHEMA} ${cli}/schemas_test.py)
# Verdict, number, table and sentence agree: in a few scenarios, and in every command of the documents.
add_test(NAME verdicts COMMAND python3 ${cli}/verdicts_test.py)
add_test(NAME verdicts_of_documents COMMAND python3 ${cli}/verdicts_test.py --documents)
set_tests_properties(verdicts PROPERTIES LABELS cli
  ENVIRONMENT "GRADCAST_PROGRAM=$<TARGET_FILE:gradcast>;${plain_environment}")
set_tests_properties(verdicts_of_documents PROPERTIES LABELS "cli;slow" COST 60
  ENVIRONMENT "GRADCAST_PROGRAM=$<TARGET_FILE:gradcast>;${plain_environment}")
add_test(NAME completion COMMAND ${cli}/completion_test.sh)
add_test(NAME man_pages COMMAND ${cli}/man_pages_test.sh)
add_test(NAME install
  COMMAND ${cli}/install_test.sh ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
add_test(NAME package COMMAND ${cli}/package_test.sh ${CMAKE_CPACK_COMMAND} ${CMAKE_BINARY_DIR})
set_tests_properties(schemas completion man_pages install package PROPERTIES SKIP_RETURN_CODE 77
  ENVIRONMENT "GRADCAST_PROGRAM=$<TARGET_FILE:gradcast>;\
GRADCAST_SCHEMAS=${CMAKE_SOURCE_DIR}/sim/cli/schemas;${plain_environment}")
set_tests_properties(schemas PROPERTIES LABELS schema)
set_tests_properties(install package PROPERTIES LABELS install)

# A training on data that a package has.
add_test(NAME fashion_mnist COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/sim/lab/fashion_mnist_test.py)
set_tests_properties(fashion_mnist PROPERTIES SKIP_RETURN_CODE 77 LABELS "lab;slow"
  ENVIRONMENT "GRADCAST_PROGRAM=$<TARGET_FILE:gradcast>;${plain_environment}")

# Reports in a browser; needs Node and Chromium.
add_test(NAME report_browser COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/browser/report_browser_test.sh
  $<TARGET_FILE:gradcast> ${CMAKE_BINARY_DIR}/web ${CMAKE_BINARY_DIR}/browser)
set_tests_properties(report_browser PROPERTIES SKIP_RETURN_CODE 77 LABELS "browser;slow" COST 90
  ENVIRONMENT "${plain_environment}")

add_test(NAME selftest COMMAND gradcast selftest)
