# SPDX-License-Identifier: MIT
# What lib/gpu generates for kernels, and whole kernels, on the host: which memory they read and write, and how.
penstock_test(gpu_decompositions opencl)
penstock_test(gpu_profile opencl kernels/gpu_fused_banks.c)
penstock_test(gpu_launch_config opencl kernels/gpu_banks.c kernels/gpu_model.c kernels/gpu_model_banks.c kernels/gpu_model_text.c)
if(NOT PENSTOCK_SANITIZE) # they take the place of a sanitizer's library
  include(CheckLanguage)
  check_language(CXX)
  set(trace kernels/gpu_trace.c kernels/gpu_trace_compile.c kernels/gpu_trace_local.c kernels/gpu_trace_memory.c)
  penstock_test(gpu_trace opencl ${trace} kernels/gpu_fused_banks.c)
  penstock_test(gpu_trace_fft opencl ${trace} kernels/gpu_banks.c kernels/gpu_trace_backend.c kernels/gpu_trace_kinds.c
    kernels/gpu_trace_wanted.c)
  penstock_test(gpu_trace_resample opencl ${trace})
  foreach(name IN ITEMS gpu_trace gpu_trace_fft gpu_trace_resample)
    set_target_properties(test_${name} PROPERTIES ENABLE_EXPORTS ON C_VISIBILITY_PRESET default)
    target_compile_definitions(test_${name} PRIVATE PENSTOCK_TRACE_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/kernels")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "PENSTOCK_TEST_CC=${CMAKE_C_COMPILER}"
      "PENSTOCK_TEST_CXX=$<$<BOOL:${CMAKE_CXX_COMPILER}>:${CMAKE_CXX_COMPILER}>")
  endforeach()
endif()
