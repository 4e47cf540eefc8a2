# SPDX-License-Identifier: MIT
# qpu: tools for the VideoCore IV, without the library; and its backend, on an emulated board.
function(penstock_qpu_test name) # ...: libraries
  add_executable(test_${name} qpu/test_${name}.c)
  target_link_libraries(test_${name} PRIVATE penstock_qpu penstock_compiler ${ARGN})
  penstock_run(${name} qpu ALWAYS COMMAND test_${name})
endfunction()
foreach(name IN ITEMS qpu_as qpu_as_errors qpu_as_hazards qpu_as_random qpu_isa)
  penstock_qpu_test(${name})
endforeach()
foreach(name IN ITEMS qpu_alu_float qpu_alu_integer qpu_emu_hazards qpu_emu_instructions qpu_emu_modes qpu_emu_units
    qpu_emu_vpm qpu_rules_agree)
  penstock_qpu_test(${name} penstock_qpu_emu)
endforeach()
penstock_qpu_test(qpu_host penstock_qpu_emulated)
foreach(name IN ITEMS qpu_fft qpu_fft_2d qpu_fft_load qpu_fft_modes qpu_fft_work)
  penstock_qpu_test(${name} penstock_qpu_fft penstock_qpu_emu)
endforeach()
penstock_qpu_test(qpu_fft_memory penstock_qpu_fft)
penstock_wrap(qpu_fft_memory malloc calloc free)
foreach(name IN ITEMS qpu_backend qpu_filter)
  penstock_test(${name} qpu qpu/qpu_board.c)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/qpu)
  add_dependencies(test_${name} penstock-probe)
endforeach()
if(PENSTOCK_TEST_PYTHON)
  penstock_run(qpu_tools qpu ALWAYS COMMAND ${PENSTOCK_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/cli/test_qpu_tools.py
    $<TARGET_FILE:qpu-as> $<TARGET_FILE:qpu-dis>)
  penstock_run(cli_qpu_emu qpu ALWAYS COMMAND ${PENSTOCK_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/cli/test_qpu_emu.py
    $<TARGET_FILE:qpu-emu> $<TARGET_FILE:qpu-as>)
endif()
