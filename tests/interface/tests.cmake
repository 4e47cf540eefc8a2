# SPDX-License-Identifier: MIT
# What users of the library meet, its header, examples and package; and the rules of the sources.
if(PENSTOCK_TEST_PYTHON AND NOT PENSTOCK_SANITIZE)
  # Hostile calls of every public function; arrays are shorter than some calls say, which a sanitizer looks for.
  file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/penstock/*.h)
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/hostile_calls.c
    COMMAND ${PENSTOCK_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/interface/hostile_calls.py ${PROJECT_SOURCE_DIR}/include
      ${CMAKE_CURRENT_BINARY_DIR}/hostile_calls.c
    DEPENDS interface/hostile_calls.py ${public_headers} VERBATIM)
  add_executable(test_hostile interface/hostile.c ${CMAKE_CURRENT_BINARY_DIR}/hostile_calls.c)
  target_include_directories(test_hostile PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/interface)
  target_link_libraries(test_hostile PRIVATE penstock_internal)
  foreach(device IN ITEMS cpu reference trace)
    if(NOT device STREQUAL "reference" OR PENSTOCK_HAVE_LIQUID)
      penstock_run(hostile_${device} core ALWAYS COMMAND test_hostile ${device})
    endif()
  endforeach()

  # The sources are the same whatever they are built with.
  penstock_run(rules core ALWAYS COMMAND ${PENSTOCK_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/interface/test_rules.py
    ${PROJECT_SOURCE_DIR} $<TARGET_FILE:penstock> ${CMAKE_NM})
  set(library $<TARGET_FILE:penstock>)
  if(CMAKE_CROSSCOMPILING OR NOT BUILD_SHARED_LIBS) # programs of several compilers are linked with it
    set(library -)
  endif()
  set(native ${CMAKE_C_COMPILER})
  if(CMAKE_CROSSCOMPILING)
    set(native)
  endif()
  penstock_run(headers core ALWAYS ENVIRONMENT ${cache} COMMAND ${PENSTOCK_TEST_PYTHON}
    ${CMAKE_CURRENT_SOURCE_DIR}/interface/test_headers.py ${PROJECT_SOURCE_DIR} ${library} ${native})
endif()
if(PENSTOCK_TEST_PYTHON AND PENSTOCK_HAVE_FFTW AND NOT PENSTOCK_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  penstock_run(embedded core ALWAYS COMMAND ${PENSTOCK_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/interface/test_embedded.py
    ${PROJECT_SOURCE_DIR} ${CMAKE_COMMAND} ${CMAKE_GENERATOR} ${CMAKE_MAKE_PROGRAM} ${CMAKE_C_COMPILER})
endif()
if(NOT PENSTOCK_SANITIZE)
  penstock_run(packages core ALWAYS COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/interface/test_packages.sh)
endif()

foreach(device IN ITEMS cpu opencl)
  penstock_run(example_on_device_${device} core ALWAYS ENVIRONMENT ${cache_${device}}
    COMMAND example_on_device ${device})
  set_tests_properties(example_on_device_${device} PROPERTIES SKIP_REGULAR_EXPRESSION "no device 'opencl")
endforeach()
penstock_run(cuda_example cuda COMMAND example_cuda_stream)
penstock_run(cuda_shim_example cuda ENVIRONMENT ${cuda_shim} COMMAND example_cuda_stream)
if(TARGET example_filter_stream)
  penstock_run(example_filter_stream core ALWAYS COMMAND example_filter_stream cpu)
endif()
