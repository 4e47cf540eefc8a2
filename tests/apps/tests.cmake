# SPDX-License-Identifier: MIT
# apps: the command.
if(NOT TARGET penstock_command)
  return()
endif()
foreach(name IN ITEMS cases number progress study_process)
  penstock_test(${name} cli)
  target_link_libraries(test_${name} PRIVATE penstock_app)
endforeach()
add_library(nvml_shim MODULE apps/nvml_shim.c)
target_link_libraries(nvml_shim PRIVATE penstock_compiler)
penstock_program(power)
target_link_libraries(test_power PRIVATE penstock_app)
penstock_run(power cli COMMAND test_power $<TARGET_FILE:nvml_shim>)

if(NOT PENSTOCK_TEST_PYTHON)
  return()
endif()
# penstock_cli_tests(NAME...): tests/cli/test_NAME.py
function(penstock_cli_tests)
  foreach(name IN LISTS ARGN)
    penstock_run(cli_${name} cli ENVIRONMENT ${cache} "PYTHONDONTWRITEBYTECODE=1"
      COMMAND ${PENSTOCK_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/cli/test_${name}.py $<TARGET_FILE:penstock_command>)
    if(PENSTOCK_SANITIZE)
      set_property(TEST cli_${name} APPEND PROPERTY ENVIRONMENT "PENSTOCK_TEST_SANITIZED=1")
    endif()
    if(TARGET penstock_replay)
      set_property(TEST cli_${name} APPEND PROPERTY ENVIRONMENT
        "PENSTOCK_TEST_REPLAY=$<TARGET_FILE_DIR:penstock_replay>")
    endif()
  endforeach()
endfunction()
penstock_cli_tests(channelize counts devices fec filter gaps loop receive resample spectrum)

# Files, installed or not, and one thread's words: ThreadSanitizer has no say in them.
if(NOT PENSTOCK_SANITIZE STREQUAL "thread")
  penstock_cli_tests(doctor files install options progress usage)
  set_property(TEST cli_doctor cli_install APPEND PROPERTY ENVIRONMENT "PENSTOCK_TEST_CMAKE=${CMAKE_COMMAND}"
    "CMAKE_GENERATOR=${CMAKE_GENERATOR}" "PENSTOCK_TEST_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}"
    "PENSTOCK_TEST_BUILD=${PROJECT_BINARY_DIR}" "PENSTOCK_TEST_CC=${CMAKE_C_COMPILER}"
    "PENSTOCK_TEST_CUDA_SHIM=$<TARGET_FILE:cuda_shim>")
  if(PENSTOCK_HAVE_OPENCL)
    set_property(TEST cli_doctor cli_install APPEND PROPERTY ENVIRONMENT
      "PENSTOCK_TEST_CRASH_DRIVER=$<TARGET_FILE:penstock_crash_driver>")
  endif()
  if(PENSTOCK_HAVE_GNURADIO)
    set_property(TEST cli_doctor cli_install APPEND PROPERTY ENVIRONMENT
      "PENSTOCK_TEST_GNURADIO=${PENSTOCK_GNURADIO_PYTHON}")
  endif()
endif()

# Times of processes are ten times as long with a sanitizer, and leaks are looked for by another one.
if(NOT PENSTOCK_SANITIZE)
  penstock_cli_tests(hanging signals threads)
  set_tests_properties(cli_hanging cli_signals PROPERTIES ${moments})
  set_tests_properties(cli_hanging PROPERTIES PROCESSORS 1 COST 900) # it waits, and takes the best of several
  if(TARGET penstock_hang_driver)
    set_property(TEST cli_hanging cli_signals APPEND PROPERTY ENVIRONMENT
      "PENSTOCK_TEST_HANG_DRIVER=$<TARGET_FILE:penstock_hang_driver>")
  endif()
  # Drivers for tests are linked with no sanitizer of the command's, and what is preloaded comes before one's library.
  set_property(TEST cli_devices APPEND PROPERTY ENVIRONMENT "PENSTOCK_TEST_CUDA_SHIM=$<TARGET_FILE:cuda_shim>")
  if(TARGET opencl_shim)
    set_property(TEST cli_doctor cli_install APPEND PROPERTY ENVIRONMENT
      "PENSTOCK_TEST_OPENCL_SHIM=$<TARGET_FILE:opencl_shim>")
  endif()
  add_library(penstock_files_shim MODULE apps/files_shim.c)
  target_link_libraries(penstock_files_shim PRIVATE penstock_compiler ${CMAKE_DL_LIBS})
  set_target_properties(penstock_files_shim PROPERTIES C_VISIBILITY_PRESET default)
  set_property(TEST cli_files APPEND PROPERTY ENVIRONMENT
    "PENSTOCK_TEST_FILES_SHIM=$<TARGET_FILE:penstock_files_shim>")
endif()
