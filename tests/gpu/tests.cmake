# SPDX-License-Identifier: MIT
# lib/gpu and lib/backends/cuda: models of kernels, and plans on a GPU and on what looks like one.
penstock_test(gpu_decompositions opencl)
penstock_test(gpu_profile opencl gpu/gpu_fused_banks.c)
penstock_test(gpu_launch_config opencl gpu/gpu_banks.c gpu/gpu_model.c gpu/gpu_model_banks.c gpu/gpu_model_text.c)
if(NOT PENSTOCK_SANITIZE) # they take the place of a sanitizer's library
  include(CheckLanguage)
  check_language(CXX)
  set(trace gpu/gpu_trace.c gpu/gpu_trace_compile.c gpu/gpu_trace_local.c gpu/gpu_trace_memory.c)
  penstock_test(gpu_trace opencl ${trace} gpu/gpu_fused_banks.c)
  penstock_test(gpu_trace_fft opencl ${trace} gpu/gpu_banks.c gpu/gpu_trace_backend.c gpu/gpu_trace_kinds.c
    gpu/gpu_trace_wanted.c)
  penstock_test(gpu_trace_resample opencl ${trace})
  foreach(name IN ITEMS gpu_trace gpu_trace_fft gpu_trace_resample)
    set_target_properties(test_${name} PROPERTIES ENABLE_EXPORTS ON C_VISIBILITY_PRESET default)
    target_compile_definitions(test_${name} PRIVATE PENSTOCK_TRACE_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/gpu")
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "PENSTOCK_TEST_CC=${CMAKE_C_COMPILER}"
      "PENSTOCK_TEST_CXX=$<$<BOOL:${CMAKE_CXX_COMPILER}>:${CMAKE_CXX_COMPILER}>")
  endforeach()
endif()

# penstock_gpu_test(TEST DEVICE NAME [name=value...]): tests/test_gpu_NAME.c on a device
foreach(name IN ITEMS gpu_absent gpu_cache gpu_fft gpu_filter gpu_forms gpu_half gpu_in_place gpu_ldpc gpu_lost gpu_ofdm
    gpu_stages gpu_sweep gpu_sweep_fec gpu_threads gpu_tuning gpu_unified gpu_viterbi gpu_wifi)
  penstock_program(${name} gpu/gpu_rig.c)
endforeach()
target_sources(test_gpu_lost PRIVATE gpu/gpu_uses.c)
function(penstock_gpu_test test device name)
  penstock_run(${test} ${device} ENVIRONMENT ${cache_${device}} ${ARGN} COMMAND test_gpu_${name} ${device})
endfunction()
foreach(device IN ITEMS cpu trace)
  penstock_run(sweep_fec_${device} fec COMMAND test_gpu_sweep_fec ${device})
endforeach()

# A driver that lacks what it needs.
add_library(penstock_lacked SHARED gpu/lacking_loader.c)
add_library(penstock_lacking MODULE gpu/lacking_loader.c)
target_link_libraries(penstock_lacking PRIVATE penstock_lacked)
target_link_options(penstock_lacking PRIVATE LINKER:--no-as-needed)
set_target_properties(penstock_lacking PROPERTIES SKIP_BUILD_RPATH ON)
add_dependencies(test_gpu_absent penstock_lacking)

# CUDA's backend without a device: its compiler's processes, and PTX.
penstock_test(gpu_cuda cuda)
penstock_test(gpu_ptx cuda gpu/ptx_run.c gpu/ptx_arithmetic.c)
penstock_test(cuda_apart cuda)
penstock_wrap(cuda_apart access fcntl lseek memfd_create pipe2 poll posix_spawn posix_spawn_file_actions_adddup2
  posix_spawn_file_actions_addopen posix_spawn_file_actions_init posix_spawnattr_init read sched_getaffinity waitpid
  write)
penstock_test(cuda_apart_nvrtc cuda)
penstock_wrap(cuda_apart_nvrtc sched_getaffinity)
add_dependencies(test_cuda_apart_nvrtc penstock-compile)

# On an NVIDIA GPU.
foreach(name IN ITEMS cache fft filter forms half in_place ldpc lost ofdm stages threads tuning viterbi wifi)
  penstock_gpu_test(cuda_${name} cuda ${name})
endforeach()
foreach(name IN ITEMS bench buffer enqueue host_memory)
  penstock_run(cuda_${name} cuda COMMAND test_${name} cuda)
endforeach()

# On a driver for tests in place of CUDA's and of NVRTC: it does plain transforms in one kernel.
add_library(cuda_shim MODULE gpu/cuda_shim.c gpu/cuda_shim_kernel.c gpu/cuda_shim_stream.c gpu/cuda_shim_time.c)
target_include_directories(cuda_shim PRIVATE ${PROJECT_SOURCE_DIR}/lib)
target_link_libraries(cuda_shim PRIVATE penstock_compiler Threads::Threads m)
set(cuda_shim "PENSTOCK_CUDA_LIBRARY=$<TARGET_FILE:cuda_shim>" "PENSTOCK_NVRTC_LIBRARY=$<TARGET_FILE:cuda_shim>")
set(lengths "PENSTOCK_TEST_LENGTHS=1 2 8 13 64 600 1024 1287 2048 4096")
penstock_gpu_test(cuda_shim_absent cuda absent ${cuda_shim} "PENSTOCK_TEST_LACKING=$<TARGET_FILE:penstock_lacking>")
foreach(name IN ITEMS cache sweep sweep_fec threads tuning)
  penstock_gpu_test(cuda_shim_${name} cuda ${name} ${cuda_shim})
endforeach()
penstock_gpu_test(cuda_shim_fft cuda fft ${cuda_shim} ${lengths})
penstock_gpu_test(cuda_shim_ptx cuda fft ${cuda_shim} "PENSTOCK_SHIM_CAPABILITY=103" ${lengths}) # newer than its NVRTC
penstock_run(cuda_shim_stream_times cuda ENVIRONMENT ${cache} ${cuda_shim}
  COMMAND test_stream_times cuda copies FFT)
foreach(name IN ITEMS buffer enqueue host_memory)
  penstock_run(cuda_shim_${name} cuda ENVIRONMENT ${cuda_shim} COMMAND test_${name} cuda)
endforeach()
foreach(name IN ITEMS bench enqueue_failures)
  penstock_run(cuda_shim_${name} cuda ALWAYS ENVIRONMENT ${cuda_shim} COMMAND test_${name} cuda)
endforeach()
if(NOT PENSTOCK_SANITIZE)
  penstock_run(cuda_shim_fork cuda ENVIRONMENT ${cuda_shim} COMMAND test_fork cuda FFT)
endif()

# Each step of the driver and of NVRTC slow: with the NVRTC that can be cancelled, and with one that cannot.
set(takes_while_cancelled "compile=300 load=60 context=300 alloc=5 free=30")
set(takes_to_its_end "${takes_while_cancelled} deaf=1")
foreach(way IN ITEMS while_cancelled to_its_end)
  penstock_run(free_early_cuda_shim_${way} cuda ALWAYS
    ENVIRONMENT ${cuda_shim} "PENSTOCK_SHIM_TAKES=${takes_${way}}" COMMAND test_free_early cuda)
  set_tests_properties(free_early_cuda_shim_${way} PROPERTIES ${moments})
endforeach()

# Several GPUs.
penstock_program(group)
foreach(devices IN ITEMS 2 4 8)
  penstock_run(group_trace_${devices} core ALWAYS COMMAND test_group trace ${devices})
  penstock_run(cuda_shim_group_${devices} cuda ENVIRONMENT ${cuda_shim} COMMAND test_group cuda ${devices})
endforeach()

# The CPU until the device is ready, and beside a device that hangs.
penstock_program(cpu_while_compiling)
penstock_run(cuda_shim_cpu_while_compiling cuda ENVIRONMENT ${cuda_shim} COMMAND test_cpu_while_compiling cuda)
if(TARGET penstock_hang_driver)
  penstock_program(auto_hanging)
  add_dependencies(test_auto_hanging penstock-probe)
  penstock_run(cuda_shim_auto_hanging cuda ALWAYS
    ENVIRONMENT ${cuda_shim} "PENSTOCK_OPENCL_LIBRARY=$<TARGET_FILE:penstock_hang_driver>" COMMAND test_auto_hanging)
  set_tests_properties(cuda_shim_auto_hanging PROPERTIES TIMEOUT 120)
endif()
