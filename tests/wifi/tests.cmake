# SPDX-License-Identifier: MIT
# lib/rx and lib/tx: Wi-Fi frames.
foreach(name IN ITEMS channel condition wifi_annex_g wifi_channel wifi_detect wifi_failures wifi_fcs wifi_formats
    wifi_kernels wifi_list wifi_noise wifi_receiver wifi_recordings wifi_report wifi_rows wifi_search wifi_simulated
    wifi_stall wifi_threads wifi_transmit)
  penstock_test(${name} wifi)
endforeach()
penstock_wrap(wifi_stall clock_gettime)
