# SPDX-License-Identifier: MIT
# lib/gpu: plans on a GPU and on what looks like one; which ones is said in the lists of cuda and opencl.
# penstock_gpu_test(TEST DEVICE NAME [name=value...]): tests/gpu/test_gpu_NAME.c on a device
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

# Several GPUs.
penstock_program(group)
foreach(devices IN ITEMS 2 4 8)
  penstock_run(group_trace_${devices} core ALWAYS COMMAND test_group trace ${devices})
endforeach()

# The CPU until the device is ready, and beside a device that hangs.
penstock_program(cpu_while_compiling)
if(TARGET penstock_hang_driver)
  penstock_program(auto_hanging)
  add_dependencies(test_auto_hanging penstock-probe)
endif()
