# SPDX-License-Identifier: MIT
# lib/backends/opencl on PoCL, and with other drivers and compilers.
if(NOT PENSTOCK_HAVE_OPENCL)
  return()
endif()
penstock_test(opencl_source opencl)
penstock_gpu_test(opencl_absent opencl absent "PENSTOCK_TEST_LACKING=$<TARGET_FILE:penstock_lacking>")
foreach(name IN ITEMS cache filter forms half in_place ldpc ofdm threads tuning viterbi)
  penstock_gpu_test(opencl_${name} opencl ${name})
endforeach()
penstock_gpu_test(opencl_ldpc_groups opencl ldpc "POCL_MAX_WORK_GROUP_SIZE=96") # several checks a work-item
foreach(name IN ITEMS buffer enqueue)
  penstock_run(opencl_${name} opencl ENVIRONMENT ${cache_opencl} COMMAND test_${name} opencl)
endforeach()
penstock_run(opencl_cpu_while_compiling opencl COMMAND test_cpu_while_compiling opencl)
penstock_program(cpu_while_compiling_ops)
penstock_run(opencl_cpu_while_compiling_ops opencl COMMAND test_cpu_while_compiling_ops opencl)
penstock_run(group_opencl_2 opencl ENVIRONMENT ${cache_opencl} "POCL_DEVICES=pthread pthread"
  COMMAND test_group opencl 2)
penstock_run(opencl_stream_times opencl ENVIRONMENT ${cache_opencl} COMMAND test_stream_times opencl)

# PoCL has two ways to run a work-group; a version that does not know one says so, as PoCL 6 of "repl". That one has a
# copy of the kernel for each work-item of the group, which the optimiser takes seconds for, or minutes: small groups,
# short lengths, no optimiser. opencl_stages_repl has the optimiser and the usual groups.
set(repl_fft "POCL_MAX_WORK_GROUP_SIZE=8" "POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable" "PENSTOCK_TEST_MOST=128")
foreach(name IN ITEMS fft stages)
  penstock_gpu_test(opencl_${name} opencl ${name} "POCL_WORK_GROUP_METHOD=loopvec")
  set_tests_properties(opencl_${name} PROPERTIES FAIL_REGULAR_EXPRESSION "Unknown work group")
  if(TARGET penstock_command)
    penstock_run(opencl_${name}_repl opencl ENVIRONMENT ${cache_opencl} ${repl_${name}}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/opencl/pocl_method.sh repl $<TARGET_FILE:penstock_command>
        $<TARGET_FILE:test_gpu_${name}> opencl)
    set_tests_properties(opencl_${name}_repl PROPERTIES FAIL_REGULAR_EXPRESSION "Unknown work group")
  endif()
endforeach()
if(PENSTOCK_SANITIZE) # drivers compile as long as ever, and are not what is looked at
  set_property(TEST opencl_fft APPEND PROPERTY ENVIRONMENT "PENSTOCK_TEST_SAMPLE=6")
endif()

# A driver for tests in front of the real one: what it does not override is found there.
find_library(PENSTOCK_OPENCL_LOADER NAMES OpenCL libOpenCL.so.1)
mark_as_advanced(PENSTOCK_OPENCL_LOADER)
if(NOT PENSTOCK_OPENCL_LOADER)
  return()
endif()
add_library(opencl_shim MODULE opencl/opencl_shim.c)
set_target_properties(opencl_shim PROPERTIES C_VISIBILITY_PRESET default)
target_link_libraries(opencl_shim PRIVATE penstock_compiler penstock_dep_OPENCL ${PENSTOCK_OPENCL_LOADER})
target_link_options(opencl_shim PRIVATE LINKER:--no-as-needed)
set(opencl_shim "PENSTOCK_OPENCL_LIBRARY=$<TARGET_FILE:opencl_shim>")
penstock_gpu_test(opencl_sweep opencl sweep ${opencl_shim})
penstock_gpu_test(opencl_sweep_fec opencl sweep_fec ${opencl_shim})

# Trials of it in another process.
foreach(name IN ITEMS trial_opencl trial_plans)
  penstock_program(${name})
  penstock_wrap(${name} clock_gettime poll)
  add_dependencies(test_${name} penstock-probe opencl_shim)
endforeach()
set(trial $<TARGET_FILE:opencl_shim> $<TARGET_FILE:penstock-probe>)
penstock_run(opencl_trial opencl ENVIRONMENT ${crashes} COMMAND test_trial_opencl ${trial})
penstock_run(opencl_trial_two opencl ENVIRONMENT ${crashes} COMMAND test_trial_opencl ${trial} two)
penstock_run(opencl_trial_plans opencl ENVIRONMENT ${crashes} COMMAND test_trial_plans ${trial})

# Other drivers and compilers, whose own faults a sanitizer would find.
if(TARGET penstock_command AND NOT PENSTOCK_SANITIZE)
  set(command $<TARGET_FILE:penstock_command> $<TARGET_FILE:opencl_shim>)
  set(drivers ${PROJECT_SOURCE_DIR}/build/drivers)
  penstock_run(opencl_oclgrind opencl
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/opencl/oclgrind.sh ${command} ${PROJECT_SOURCE_DIR}/kernels)
  foreach(driver IN ITEMS rusticl intel)
    penstock_run(opencl_${driver} opencl
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/opencl/driver.sh check ${driver} ${drivers} ${command})
  endforeach()
  penstock_run(opencl_farm opencl COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/opencl/farm.py ${command} ${drivers}/ocloc)
  set_tests_properties(opencl_farm PROPERTIES TIMEOUT 3600)
endif()
