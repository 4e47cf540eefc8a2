# SPDX-License-Identifier: MIT
# What this build has and lacks, at the end of the configuration.
message(STATUS "Penstock ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}")
foreach(name IN LISTS PENSTOCK_DEPENDENCIES ITEMS GNURADIO PYTHON)
  if(PENSTOCK_HAVE_${name})
    message(STATUS "  ${name}: yes ${${name}_VERSION}")
  else()
    message(STATUS "  ${name}: no, ${PENSTOCK_WHY_NO_${name}}")
  endif()
endforeach()
