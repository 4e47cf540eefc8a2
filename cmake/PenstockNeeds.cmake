# SPDX-License-Identifier: MIT
# What programs are linked with beside a static libpenstock: PENSTOCK_STATIC, PENSTOCK_NEEDS_MODULES and
# PENSTOCK_NEEDS_LIBRARIES for PenstockConfig.cmake, PENSTOCK_PC_REQUIRES and PENSTOCK_PC_LIBS for penstock.pc. A shared
# library brings them along, and the lists are empty.
set(PENSTOCK_STATIC OFF)
set(PENSTOCK_NEEDS_MODULES "")   # of pkg-config
set(PENSTOCK_NEEDS_LIBRARIES "") # files
set(PENSTOCK_PC_REQUIRES "")
set(PENSTOCK_PC_LIBS "")
if(NOT BUILD_SHARED_LIBS)
  set(PENSTOCK_STATIC ON)
  get_property(needed TARGET penstock PROPERTY PENSTOCK_NEEDED)
  foreach(target IN LISTS needed)
    get_property(modules TARGET ${target} PROPERTY PENSTOCK_MODULES)
    get_property(libraries TARGET ${target} PROPERTY PENSTOCK_LIBRARIES)
    list(APPEND PENSTOCK_NEEDS_MODULES ${modules})
    list(APPEND PENSTOCK_NEEDS_LIBRARIES ${libraries})
  endforeach()
  string(REPLACE ";" ", " PENSTOCK_PC_REQUIRES "${PENSTOCK_NEEDS_MODULES}")
  string(REGEX REPLACE "([<>]?=)" " \\1 " PENSTOCK_PC_REQUIRES "${PENSTOCK_PC_REQUIRES}")
  foreach(library IN LISTS PENSTOCK_NEEDS_LIBRARIES)
    get_filename_component(folder ${library} DIRECTORY)
    get_filename_component(name ${library} NAME_WE)
    if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
      string(APPEND PENSTOCK_PC_LIBS " -L${folder}")
    endif()
    string(REGEX REPLACE "^lib" " -l" name ${name})
    string(APPEND PENSTOCK_PC_LIBS ${name})
  endforeach()
  foreach(name IN LISTS CMAKE_DL_LIBS ITEMS m)
    string(APPEND PENSTOCK_PC_LIBS " -l${name}")
  endforeach()
  string(APPEND PENSTOCK_PC_LIBS " ${CMAKE_THREAD_LIBS_INIT}")
endif()
