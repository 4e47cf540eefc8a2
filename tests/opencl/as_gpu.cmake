# SPDX-License-Identifier: MIT
# PoCL behind the driver for tests: as if it were a GPU, or with a fault.
if(NOT TARGET opencl_shim)
  return()
endif()
set(gpu ${opencl_shim} "PENSTOCK_SHIM_GPU=32768:256")
foreach(name IN ITEMS cache forms half)
  penstock_gpu_test(opencl_gpu_${name} opencl ${name} ${gpu})
endforeach()
penstock_gpu_test(opencl_gpu opencl fft ${gpu} "PENSTOCK_TEST_LENGTHS=2 7 64 127 143 600")
penstock_gpu_test(opencl_gpu_large opencl fft ${opencl_shim} "PENSTOCK_SHIM_GPU=232448:1024"
  "PENSTOCK_TEST_LENGTHS=128 32768") # as CUDA's largest blocks
penstock_gpu_test(opencl_not_unified opencl unified ${gpu})
penstock_gpu_test(opencl_unified opencl unified ${gpu} "PENSTOCK_SHIM_UNIFIED=1")
foreach(name IN ITEMS enqueue enqueue_failures)
  penstock_run(opencl_gpu_${name} opencl ENVIRONMENT ${cache_opencl} ${gpu} COMMAND test_${name} opencl)
endforeach()
penstock_run(opencl_gpu_stream_times opencl ENVIRONMENT ${cache_opencl} ${gpu} COMMAND test_stream_times opencl copies)
penstock_program(cpu_while_compiling_spectrum)
penstock_run(opencl_gpu_cpu_while_compiling_spectrum opencl ENVIRONMENT ${gpu}
  COMMAND test_cpu_while_compiling_spectrum opencl)

# Contexts by the dozen make the same plans: here it pays to keep the kernels.
penstock_gpu_test(opencl_lost opencl lost ${opencl_shim} ${cache})
penstock_gpu_test(opencl_gpu_lost opencl lost ${gpu} ${cache})
penstock_gpu_test(opencl_unified_lost opencl lost ${gpu} ${cache} "PENSTOCK_SHIM_UNIFIED=1")
penstock_gpu_test(opencl_gpu_wifi opencl wifi ${opencl_shim} ${cache} "PENSTOCK_SHIM_GPU=65536:256")

# Messages in fewer registers, and in memory.
set(gfx900 "PENSTOCK_SHIM_GPU=65536:256:64" "PENSTOCK_SHIM_NAME=gfx900")
set(gfx1030 "PENSTOCK_SHIM_GPU=65536:256:32" "PENSTOCK_SHIM_NAME=gfx1030")
set(Intel "PENSTOCK_SHIM_GPU=65536:256:16" "PENSTOCK_SHIM_NAME=Intel")
foreach(name IN ITEMS gfx900 Intel)
  penstock_gpu_test(opencl_ldpc_${name} opencl ldpc ${opencl_shim} ${${name}} "POCL_MAX_PTHREAD_COUNT=1"
    "POCL_CPU_MAX_CU_COUNT=1")
endforeach()

if(NOT TARGET penstock_command)
  return()
endif()
# penstock_opencl_case(TEST [name=value...] CASES case...): `penstock check` of these
function(penstock_opencl_case test)
  cmake_parse_arguments(arg "" "" CASES ${ARGN})
  list(TRANSFORM arg_CASES PREPEND "--case;")
  penstock_run(${test} opencl ALWAYS ENVIRONMENT ${cache_opencl} ${opencl_shim} ${arg_UNPARSED_ARGUMENTS}
    COMMAND penstock_command check opencl:0 ${arg_CASES})
  set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "no device 'opencl")
endfunction()

# Batches that take several slots, on a device with memory of its own.
penstock_opencl_case(opencl_chunks_ofdm_64_16_48_qpsk_x7000 "PENSTOCK_SHIM_GPU=32768:256"
  CASES ofdm:64/16/48:qpsk:x7000)

# Kernels as for GPUs with few registers or little local memory.
set(first 0)
foreach(name IN ITEMS gfx900 gfx1030 Intel)
  penstock_run(opencl_profile_${name} opencl ALWAYS ENVIRONMENT ${cache_opencl} ${opencl_shim} ${${name}}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/opencl/check_drawn.sh ${first} 5 $<TARGET_FILE:penstock_command> opencl:0
      fft:1024 fft:4096 fft:8192 fft:97:real fft:1024:power:avg4 filter:ccf:129:x5000 ofdm:64/16/48:qpsk
      ofdm:1024/72/600 ldpc:nr:bg1:384:5)
  set_tests_properties(opencl_profile_${name} PROPERTIES SKIP_REGULAR_EXPRESSION "no device 'opencl")
  math(EXPR first "${first} + 9")
endforeach()

# What rusticl of Mesa 22 refuses.
penstock_opencl_case(opencl_unmap_early "PENSTOCK_SHIM_FAULT=unmap-early" CASES fft:64 fft:64:images)
penstock_opencl_case(opencl_image_refused "PENSTOCK_SHIM_FAULT=image-refused" CASES fft:64 fft:64:images)
set_tests_properties(opencl_image_refused PROPERTIES PASS_REGULAR_EXPRESSION
  "SKIPPED +opencl:0 +fft:64:images +images are for OpenCL devices.*1 cases executed, 1 held, 0 failed, 1 SKIPPED")

# One configuration that a driver refuses, gets wrong, or compiles for 21 s, which is more than it has for its first:
# the next one is taken, or that.
penstock_opencl_case(opencl_first_refused "PENSTOCK_SHIM_FAULT=first-refused" CASES fft:600)
penstock_opencl_case(opencl_first_wrong "PENSTOCK_SHIM_FAULT=first-wrong" CASES fft:600)
penstock_opencl_case(opencl_build_slow "PENSTOCK_SHIM_FAULT=build-slow" "PENSTOCK_SHIM_SECONDS=21" CASES fft:600)
set(next "goes on with variant 1 [^\n]*")
set(held "[^\n]*\nheld [^\n]*\n[^\n]*1 held, 0 failed")
set_tests_properties(opencl_first_refused PROPERTIES PASS_REGULAR_EXPRESSION "${next}clBuildProgram${held}")
set_tests_properties(opencl_first_wrong PROPERTIES PASS_REGULAR_EXPRESSION "${next}self-check${held}")
