# SPDX-License-Identifier: MIT
# lib/core: the planner, streams, memory and threads.
foreach(name IN ITEMS bench cache_bound check check_scales choose context copy devices dft enqueue_failures event_timing
    host_memory meter overlap plan pool probe processors problem_bytes problem_key side_by_side standby stream_enqueue sweep_device
    sweep_memory sweep_plans sweep_streams turns wisdom)
  penstock_test(${name} core)
endforeach()
penstock_wrap(choose clock_gettime)
penstock_wrap(probe clock_gettime)
penstock_wrap(standby clock_gettime)
penstock_wrap(side_by_side pthread_create)
add_dependencies(test_probe penstock-probe)
add_library(penstock_helper_places MODULE ${PROJECT_SOURCE_DIR}/lib/probe/helper.c) # as if installed in lib/machine
target_compile_definitions(penstock_helper_places
  PRIVATE "PENSTOCK_LIBEXEC_BESIDE=\"../../libexec/penstock\"" "PENSTOCK_LIBEXEC_DIR=\"/none\"")
target_link_libraries(penstock_helper_places PRIVATE penstock_internal)
set_target_properties(penstock_helper_places PROPERTIES C_VISIBILITY_PRESET default)
penstock_program(helper_places)
penstock_run(helper_places core ALWAYS COMMAND test_helper_places $<TARGET_FILE:penstock_helper_places>)
if(PENSTOCK_HAVE_FFTW)
  penstock_test(planner_memory core)
endif()
foreach(name IN ITEMS buffer enqueue)
  penstock_test(${name} core core/foreign.c)
  if(PENSTOCK_HAVE_OPENCL)
    target_compile_definitions(test_${name} PRIVATE PENSTOCK_HAVE_OPENCL=1)
  endif()
endforeach()
penstock_run(sweep_streams_trace core ALWAYS COMMAND test_sweep_streams trace)
penstock_run(check_scales_reference core COMMAND test_check_scales reference)
penstock_run(check_scales_opencl opencl ENVIRONMENT ${cache_opencl} COMMAND test_check_scales opencl)

# What every kind of stream has in common.
foreach(name IN ITEMS stream look_again)
  penstock_test(${name} core core/stream_kinds.c core/scale_stream.c)
endforeach()
penstock_wrap(look_again clock_gettime penstock__filter_engine_run)
if(PENSTOCK_HAVE_LIQUID)
  foreach(name IN ITEMS stream sweep_plans sweep_streams)
    penstock_run(${name}_reference core ALWAYS COMMAND test_${name} reference)
  endforeach()
  penstock_run(stream_trace core ALWAYS ENVIRONMENT "PENSTOCK_TRACE_DEVICES=3" COMMAND test_stream trace:*)
endif()

# Times in every stream's stats: on processors, on one with memory of its own, on GPUs and on what looks like one.
penstock_program(stream_times)
penstock_run(stream_times core ENVIRONMENT ${cache} COMMAND test_stream_times cpu)
penstock_run(stream_times_copies core ENVIRONMENT ${cache} COMMAND test_stream_times trace copies)
penstock_run(cuda_stream_times cuda ENVIRONMENT ${cache} COMMAND test_stream_times cuda copies)
if(PENSTOCK_HAVE_LIQUID)
  penstock_run(stream_times_reference core ENVIRONMENT ${cache} COMMAND test_stream_times reference)
endif()

# Drivers that crash, hang, or have a loader that cuts names off.
if(PENSTOCK_HAVE_OPENCL)
  add_library(penstock_crash_driver MODULE core/crash_driver.c)
  add_library(penstock_hang_driver MODULE core/hang_driver.c)
  penstock_program(probe_opencl)
  add_dependencies(test_probe_opencl penstock-probe penstock_crash_driver)
  penstock_run(probe_opencl core ENVIRONMENT ${crashes}
    COMMAND test_probe_opencl $<TARGET_FILE:penstock_crash_driver>)
  add_library(penstock_cutting_loader MODULE core/cutting_loader.c)
  target_include_directories(penstock_cutting_loader
    PRIVATE $<TARGET_PROPERTY:penstock_internal,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(penstock_cutting_loader
    PRIVATE $<TARGET_PROPERTY:penstock_internal,INTERFACE_COMPILE_DEFINITIONS>)
  penstock_program(opencl_names)
  add_dependencies(test_opencl_names penstock_cutting_loader)
  penstock_run(opencl_names core COMMAND test_opencl_names $<TARGET_FILE:penstock_cutting_loader>)
endif()

# Loading and unloading.
add_executable(test_reload core/test_reload.c)
target_link_libraries(test_reload PRIVATE penstock_compiler Threads::Threads ${CMAKE_DL_LIBS})
target_include_directories(test_reload PRIVATE ${PROJECT_SOURCE_DIR}/include)
add_dependencies(test_reload penstock)
penstock_run(reload core COMMAND test_reload $<TARGET_FILE:penstock>)

# fork() with everything in flight. On OpenCL each fork has a context of its own, for which a driver is tried once where
# what was found out is kept.
penstock_program(fork core/stream_kinds.c core/scale_stream.c)
if(NOT PENSTOCK_SANITIZE) # whose own locks and threads are not made for fork() while others work
  foreach(device IN ITEMS cpu reference trace)
    penstock_run(fork_${device} core ENVIRONMENT ${cache} COMMAND test_fork ${device})
  endforeach()
  penstock_run(fork_opencl core ENVIRONMENT "PENSTOCK_CACHE_DIR=${CMAKE_CURRENT_BINARY_DIR}/cache-fork"
    COMMAND test_fork opencl)
  penstock_test(fork_first core)
  penstock_run(cuda_fork cuda COMMAND test_fork cuda)
endif()

# Freed at any moment.
penstock_program(free_early core/where.c)
foreach(device IN ITEMS opencl cuda)
  penstock_run(free_early_${device} ${device} COMMAND test_free_early ${device})
  set_tests_properties(free_early_${device} PROPERTIES ${moments})
endforeach()
penstock_program(process_exit)
add_dependencies(test_process_exit penstock-probe)
foreach(device IN ITEMS opencl cuda)
  penstock_run(process_exit_${device} ${device} COMMAND test_process_exit ${device})
endforeach()
