# SPDX-License-Identifier: MIT
# lib/backends/cuda: on an NVIDIA GPU, and on a driver for tests in its place.
# CUDA's backend without a device: its compiler's processes, and PTX.
penstock_test(gpu_cuda cuda)
penstock_test(gpu_ptx cuda cuda/ptx_run.c cuda/ptx_arithmetic.c)
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
add_library(cuda_shim MODULE cuda/cuda_shim.c cuda/cuda_shim_kernel.c cuda/cuda_shim_stream.c cuda/cuda_shim_time.c)
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

foreach(devices IN ITEMS 2 4 8)
  penstock_run(cuda_shim_group_${devices} cuda ENVIRONMENT ${cuda_shim} COMMAND test_group cuda ${devices})
endforeach()
penstock_run(cuda_shim_cpu_while_compiling cuda ENVIRONMENT ${cuda_shim} COMMAND test_cpu_while_compiling cuda)
if(TARGET test_auto_hanging)
  penstock_run(cuda_shim_auto_hanging cuda ALWAYS
    ENVIRONMENT ${cuda_shim} "PENSTOCK_OPENCL_LIBRARY=$<TARGET_FILE:penstock_hang_driver>" COMMAND test_auto_hanging)
  set_tests_properties(cuda_shim_auto_hanging PROPERTIES TIMEOUT 120)
endif()
