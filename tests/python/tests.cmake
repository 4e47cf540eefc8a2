# SPDX-License-Identifier: MIT
# The Python package by pytest; where it was not built the test says why.
set(reason ${PENSTOCK_WHY_NO_PYTHON})
if(PENSTOCK_HAVE_PYTHON)
  set(reason "")
endif()
set(python_test ${CMAKE_CURRENT_SOURCE_DIR}/python/run.sh "${PENSTOCK_PYTHON_EXECUTABLE}")
add_test(NAME python COMMAND ${python_test} "${reason}" -- --ignore=tests/python/test_types.py tests/python)
add_test(NAME python_types COMMAND ${python_test} "${reason}" mypy -- tests/python/test_types.py)
set(environment "PYTHONPATH=${PROJECT_BINARY_DIR}/python" "PYTHONDONTWRITEBYTECODE=1" ${cache}
  "PENSTOCK_TEST_SHIM=$<TARGET_FILE:cuda_shim>")
set_tests_properties(python python_types PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800 LABELS python
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} ENVIRONMENT "${environment}")
if(NOT PENSTOCK_SANITIZE) # the wheel is the same whatever this build is; its folder is that of all presets
  add_test(NAME python_wheel COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python/wheel.sh --drawn "${PENSTOCK_TEST_PYTHON}"
    ${PROJECT_SOURCE_DIR}/build/wheel)
  set_tests_properties(python_wheel PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 3600 LABELS python)
endif()
