# SPDX-License-Identifier: MIT
# Transforms of the CPU and of the reference.
foreach(name IN ITEMS cpu_interleaved cpu_natural_order cpu_power fft_2d fft_arguments fft_bits fft_cpu fft_memory
    fft_stages half window)
  penstock_test(${name} fft)
endforeach()
if(PENSTOCK_HAVE_FFTW)
  penstock_test(fft_threads fft)
endif()
if(PENSTOCK_HAVE_LIQUID)
  penstock_test(fft_reference fft)
  penstock_test(window_liquid fft)
  penstock_run(fft_2d_reference fft ALWAYS COMMAND test_fft_2d reference)
endif()
