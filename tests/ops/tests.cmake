# SPDX-License-Identifier: MIT
# lib/ops: filters, filter banks, OFDM and spectra; on OpenCL by the kernels of transforms alone.
foreach(name IN ITEMS channelizer channelizer_choose channelizer_kernels channelizer_live channelizer_run
    channelizer_stream convolve fft_stream filter filter_blocks filter_channels filter_design filter_equiripple
    filter_flush filter_handover filter_handover_failures filter_length filter_pair filter_shift filter_stats
    filter_stream fold link ofdm ofdm_batches ofdm_choose ofdm_demap ofdm_estimate ofdm_handover ofdm_soft ofdm_stream push
    receiver_choose resampler spectrum spectrum_channels spectrum_failures spectrum_live synthesizer synthesizer_live)
  penstock_test(${name} ops)
endforeach()
penstock_wrap(channelizer_choose clock_gettime penstock__channelizer_engine_run)
penstock_wrap(receiver_choose clock_gettime)
if(PENSTOCK_HAVE_LIQUID)
  foreach(name IN ITEMS channelizer_liquid filter_liquid ofdm_liquid resampler_liquid)
    penstock_test(${name} ops)
  endforeach()
  target_compile_definitions(test_filter_equiripple PRIVATE PENSTOCK_TEST_LIQUID)
  foreach(name IN ITEMS filter_blocks filter_shift resampler)
    penstock_run(${name}_reference ops ALWAYS COMMAND test_${name} reference)
  endforeach()
endif()
foreach(device IN ITEMS opencl cuda)
  if(device STREQUAL "cuda" OR PENSTOCK_HAVE_OPENCL)
    foreach(name IN ITEMS channelizer fft_stream filter filter_blocks filter_channels filter_shift ofdm resampler
        spectrum stream synthesizer)
      penstock_run(${name}_${device} ${device} ENVIRONMENT ${cache_${device}} COMMAND test_${name} ${device})
    endforeach()
    penstock_run(ofdm_kernel_${device} ${device} ENVIRONMENT ${cache_${device}} COMMAND test_ofdm ${device} kernel)
    penstock_run(ofdm_handover_${device} ${device} ENVIRONMENT ${cache_${device}}
      COMMAND test_ofdm_handover ${device} kernel)
  endif()
endforeach()
