# SPDX-License-Identifier: MIT
# Streams whose samples stay on a device, and those with one kernel for the whole of a batch: on an NVIDIA GPU, and on
# PoCL as if it were a GPU.
penstock_test(link_bank core)
foreach(name IN ITEMS compile_together filter_queue group_device link_device link_device_chain link_device_failures link_soft
    ofdm_chunks ofdm_stream_ahead)
  penstock_program(${name})
endforeach()
foreach(name IN ITEMS filter_queue group_device link_bank link_device link_device_chain link_soft ofdm_chunks ofdm_soft
    ofdm_stream_ahead)
  penstock_run(${name}_cuda cuda COMMAND test_${name} cuda)
endforeach()
penstock_run(stream_enqueue_cuda cuda COMMAND test_stream_enqueue cuda kernels)
if(NOT TARGET opencl_shim)
  return()
endif()
set(fused ${cache_opencl} ${opencl_shim} "PENSTOCK_SHIM_GPU=32768:256")
foreach(name IN ITEMS filter_queue link_device link_device_chain link_device_failures link_soft ofdm_chunks
    ofdm_stream_ahead)
  penstock_run(${name} opencl ENVIRONMENT ${fused} COMMAND test_${name} opencl)
endforeach()
penstock_run(group_device_opencl opencl ENVIRONMENT ${fused} "POCL_DEVICES=pthread pthread"
  COMMAND test_group_device opencl)
penstock_run(link_bank_opencl opencl ENVIRONMENT ${fused} COMMAND test_link_bank opencl)
penstock_run(stream_enqueue_opencl opencl ENVIRONMENT ${fused} COMMAND test_stream_enqueue opencl kernels)
foreach(name IN ITEMS channelizer filter_handover filter_handover_failures ofdm_soft resampler)
  penstock_run(${name}_fused opencl ENVIRONMENT ${fused} COMMAND test_${name} opencl)
endforeach()
foreach(name IN ITEMS filter filter_blocks filter_shift)
  penstock_run(${name}_fused opencl ENVIRONMENT ${fused} COMMAND test_${name} opencl fused)
endforeach()
penstock_run(compile_together opencl ENVIRONMENT ${cache_opencl} "PENSTOCK_PROBE=/none" ${opencl_shim}
  "PENSTOCK_SHIM_GPU=65536:256" COMMAND test_compile_together opencl)
