# SPDX-License-Identifier: MIT
# lib/fec, and its plans and streams.
foreach(name IN ITEMS fec_ber fec_lanes fec_ldpc fec_ldpc_frames fec_plan fec_stream fec_viterbi fec_wifi)
  penstock_test(${name} fec)
endforeach()
find_path(PENSTOCK_LIBFEC_HEADER NAMES fec.h)
find_library(PENSTOCK_LIBFEC NAMES fec)
mark_as_advanced(PENSTOCK_LIBFEC_HEADER PENSTOCK_LIBFEC)
if(PENSTOCK_LIBFEC_HEADER AND PENSTOCK_LIBFEC)
  penstock_test(fec_libfec fec)
  target_link_libraries(test_fec_libfec PRIVATE ${PENSTOCK_LIBFEC})
endif()
if(PENSTOCK_HAVE_GNURADIO AND NOT PENSTOCK_SANITIZE) # the library is loaded into an interpreter without a sanitizer
  penstock_run(fec_gnuradio fec ENVIRONMENT ${cache} COMMAND ${PENSTOCK_GNURADIO_PYTHON}
    ${CMAKE_CURRENT_SOURCE_DIR}/fec/test_fec_gnuradio.py $<TARGET_FILE:penstock>)
endif()
