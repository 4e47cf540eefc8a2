# SPDX-License-Identifier: MIT
# Header, library, pkg-config and CMake package files; `cmake --build . --target uninstall` takes them away again.
include(CMakePackageConfigHelpers)
include(PenstockNeeds)

install(TARGETS penstock EXPORT PenstockTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/penstock DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY LICENSES DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.c" PATTERN "*.cc" PATTERN "*.py")
if(PENSTOCK_HAVE_GNURADIO)
  install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/gnuradio/examples/penstock FILES_MATCHING PATTERN "*.grc")
endif()

# Below /usr everything is found without it.
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  file(RELATIVE_PATH PENSTOCK_BIN_TO_PREFIX /${CMAKE_INSTALL_BINDIR} /)
  if(PENSTOCK_HAVE_GNURADIO)
    cmake_path(GET PENSTOCK_PYTHON_DIR PARENT_PATH packages)
    cmake_path(GET packages PARENT_PATH packages)
    set(PENSTOCK_ENV_GNURADIO "add PYTHONPATH \"$prefix/${packages}\"\nadd GRC_BLOCKS_PATH \"$prefix/${PENSTOCK_GRC_DIR}\"")
  endif()
  configure_file(cmake/penstock-env.in ${PROJECT_BINARY_DIR}/penstock-env @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/penstock-env DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT PenstockTargets NAMESPACE Penstock:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Penstock)
configure_package_config_file(cmake/PenstockConfig.cmake.in ${PROJECT_BINARY_DIR}/PenstockConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Penstock)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PenstockConfigVersion.cmake
  COMPATIBILITY ${PENSTOCK_COMPATIBILITY})
install(FILES ${PROJECT_BINARY_DIR}/PenstockConfig.cmake ${PROJECT_BINARY_DIR}/PenstockConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Penstock)

file(RELATIVE_PATH PENSTOCK_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /) # right after cmake --install --prefix too
configure_file(cmake/penstock.pc.in ${PROJECT_BINARY_DIR}/penstock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/penstock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(PROJECT_IS_TOP_LEVEL)
  configure_file(cmake/uninstall.cmake.in ${PROJECT_BINARY_DIR}/uninstall.cmake @ONLY)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_BINARY_DIR}/uninstall.cmake
    COMMENT "Removing what install_manifest.txt lists")
endif()
