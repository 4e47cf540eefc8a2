# SPDX-License-Identifier: MIT
# GNU Radio 3.10 and what its Python needs, as PENSTOCK_HAVE_GNURADIO, PENSTOCK_WHY_NO_GNURADIO and
# PENSTOCK_GNURADIO_PYTHON, the interpreter that GNU Radio is installed for.
set(PENSTOCK_GNURADIO AUTO CACHE STRING "GNU Radio, the module gnuradio.penstock: AUTO, ON or OFF")
set_property(CACHE PENSTOCK_GNURADIO PROPERTY STRINGS AUTO ON OFF)

# A function: GnuradioConfig.cmake changes CMAKE_MODULE_PATH and more of its caller's variables.
function(penstock_find_gnuradio)
  set(PENSTOCK_HAVE_GNURADIO OFF PARENT_SCOPE)
  find_package(Gnuradio 3.10 QUIET CONFIG COMPONENTS blocks fec)
  if(NOT Gnuradio_FOUND)
    set(PENSTOCK_WHY_NO_GNURADIO "GnuradioConfig.cmake of 3.10 with gr-fec not found" PARENT_SCOPE)
    return()
  endif()
  # Debian's GNU Radio lives in /usr/bin/python3; another Python earlier on PATH has none.
  find_program(PENSTOCK_GNURADIO_PYTHON NAMES /usr/bin/python3 python3)
  mark_as_advanced(PENSTOCK_GNURADIO_PYTHON)
  execute_process(COMMAND ${PENSTOCK_GNURADIO_PYTHON} -c "from gnuradio import fec, gr" RESULT_VARIABLE failed OUTPUT_QUIET
    ERROR_QUIET)
  if(failed)
    set(PENSTOCK_WHY_NO_GNURADIO "${PENSTOCK_GNURADIO_PYTHON} cannot import gnuradio; set PENSTOCK_GNURADIO_PYTHON"
      PARENT_SCOPE)
    return()
  endif()
  set(Python_EXECUTABLE ${PENSTOCK_GNURADIO_PYTHON})
  find_package(Python QUIET COMPONENTS Interpreter Development)
  find_package(pybind11 QUIET CONFIG)
  if(NOT Python_Development_FOUND OR NOT pybind11_FOUND)
    set(PENSTOCK_WHY_NO_GNURADIO "pybind11 or the headers of ${PENSTOCK_GNURADIO_PYTHON} not found" PARENT_SCOPE)
    return()
  endif()
  # Debian's Python looks through lib/python3 below /usr alone, elsewhere through lib/python3.11.
  execute_process(COMMAND ${PENSTOCK_GNURADIO_PYTHON} -c "import os, sys, sysconfig
own = sys.argv[1].rstrip('/') == '/usr' and 'deb_system' in sysconfig.get_scheme_names()
folder = sysconfig.get_path('platlib', 'deb_system') if own else sysconfig.get_path('platlib')
print('/'.join(folder.split('/')[folder.split('/').index('lib'):]))" ${CMAKE_INSTALL_PREFIX}
    OUTPUT_VARIABLE packages OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(PENSTOCK_PYTHON_DIR ${packages}/gnuradio/penstock CACHE STRING "Folder of the Python package below the prefix")
  mark_as_advanced(PENSTOCK_PYTHON_DIR)
  set(PENSTOCK_GRC_DIR ${CMAKE_INSTALL_DATADIR}/gnuradio/grc/blocks PARENT_SCOPE)
  set(PENSTOCK_HAVE_GNURADIO ON PARENT_SCOPE)
  set(GNURADIO_VERSION ${Gnuradio_VERSION} PARENT_SCOPE)
endfunction()

set(PENSTOCK_HAVE_GNURADIO OFF)
if(PENSTOCK_GNURADIO STREQUAL "OFF")
  set(PENSTOCK_WHY_NO_GNURADIO "switched off")
elseif(PENSTOCK_GNURADIO STREQUAL "AUTO" AND PENSTOCK_SANITIZE)
  set(PENSTOCK_WHY_NO_GNURADIO "left out of a build with sanitizers")
elseif(PENSTOCK_GNURADIO STREQUAL "AUTO" AND NOT PENSTOCK_PROGRAMS)
  set(PENSTOCK_WHY_NO_GNURADIO "PENSTOCK_PROGRAMS is off")
else()
  include(CheckLanguage)
  check_language(CXX)
  if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    penstock_find_gnuradio()
  else()
    set(PENSTOCK_WHY_NO_GNURADIO "no C++ compiler")
  endif()
  if(PENSTOCK_GNURADIO STREQUAL "ON" AND NOT PENSTOCK_HAVE_GNURADIO)
    message(FATAL_ERROR "PENSTOCK_GNURADIO=ON, but ${PENSTOCK_WHY_NO_GNURADIO}")
  endif()
endif()
