# SPDX-License-Identifier: MIT
# lib/radio: files and radios.
foreach(name IN ITEMS files resample sink source_files source_threads troubles)
  penstock_test(${name} radio)
endforeach()
if(PENSTOCK_HAVE_JANSSON)
  penstock_test(source_sigmf radio)
  penstock_test(gaps radio)
endif()
if(NOT PENSTOCK_HAVE_JANSSON AND NOT PENSTOCK_HAVE_SOAPYSDR)
  penstock_test(source_absent radio)
endif()
if(TARGET penstock_replay)
  foreach(name IN ITEMS replay replay_device)
    penstock_test(${name} radio)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "SOAPY_SDR_PLUGIN_PATH=$<TARGET_FILE_DIR:penstock_replay>"
      "SOAPY_SDR_ROOT=${CMAKE_CURRENT_BINARY_DIR}") # no other modules
    add_dependencies(test_${name} penstock_replay)
  endforeach()
  enable_language(CXX)
  add_library(penstock_odd_radio MODULE radio/odd_radio.cpp)
  target_link_libraries(penstock_odd_radio PRIVATE penstock_compiler penstock_dep_SOAPYSDR)
  set_target_properties(penstock_odd_radio PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/odd_radio)
  penstock_test(odd_radio radio)
  set_property(TEST odd_radio APPEND PROPERTY ENVIRONMENT "SOAPY_SDR_PLUGIN_PATH=${CMAKE_CURRENT_BINARY_DIR}/odd_radio"
    "SOAPY_SDR_ROOT=${CMAKE_CURRENT_BINARY_DIR}")
  add_dependencies(test_odd_radio penstock_odd_radio)
  if(NOT PENSTOCK_SANITIZE) # SoapySDRServer would have to be built with it
    penstock_program(soapy_remote)
    penstock_run(soapy_remote radio COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/radio/soapy_remote.sh
      $<TARGET_FILE_DIR:penstock_replay> $<TARGET_FILE:test_soapy_remote>)
  endif()
endif()
