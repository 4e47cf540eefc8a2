# SPDX-License-Identifier: MIT
# The tests of equal bits: any chunks, threads, places in memory or builds of a loop give the same. No compiler may
# decide that: `tests/run.sh --bits` runs them, whose label is `bits`, by each one. test_rules.py finds those that are
# not listed.
set(bits_tests channel channelizer_kernels channelizer_live channelizer_run channelizer_stream condition
  cpu_interleaved cpu_natural_order cpu_power enqueue enqueue_failures fec_lanes fec_ldpc fec_plan fec_stream
  fec_viterbi fft_2d fft_bits fft_memory fft_stream filter_blocks filter_channels filter_handover
  filter_handover_failures filter_pair filter_queue filter_shift filter_stream fold fork gpu_in_place gpu_ldpc gpu_threads
  gpu_viterbi gpu_wifi group group_device half host_memory link link_bank link_device link_device_failures link_soft ofdm
  ofdm_batches ofdm_chunks ofdm_demap ofdm_handover ofdm_soft ofdm_stream ofdm_stream_ahead overlap plan push qpu_emu_modes
  qpu_fft_load qpu_fft_modes resample resampler spectrum spectrum_channels spectrum_failures stream stream_enqueue
  sweep_device sweep_memory synthesizer_live wifi_detect wifi_kernels wifi_receiver wifi_search wifi_stall
  wifi_threads wifi_transmit)

# On each device that is there without a GPU: NAME, NAME_opencl, and opencl_NAME where the source is test_gpu_NAME.c.
list(JOIN bits_tests "|" bits_names)
set(bits_gpu_names ${bits_tests})
list(FILTER bits_gpu_names INCLUDE REGEX "^(gpu_|enqueue)")
list(TRANSFORM bits_gpu_names REPLACE "^gpu_" "")
list(JOIN bits_gpu_names "|" bits_gpu_names)
get_property(registered DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS registered)
  if(test MATCHES "^(${bits_names}|ofdm_kernel)(_(cpu|reference|trace|opencl|fused|[248]))*$" OR
      test MATCHES "^opencl_(gpu_)?(${bits_gpu_names})$")
    get_property(labels TEST ${test} PROPERTY LABELS)
    set_property(TEST ${test} PROPERTY LABELS ${labels} bits)
  endif()
endforeach()
add_custom_target(bits)
add_dependencies(bits penstock-probe penstock-compile)
foreach(name IN LISTS bits_tests)
  add_dependencies(bits test_${name})
endforeach()
if(TARGET opencl_shim)
  add_dependencies(bits opencl_shim)
endif()
