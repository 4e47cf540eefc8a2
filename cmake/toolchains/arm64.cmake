# SPDX-License-Identifier: MIT
# 64-bit ARM: Debian arm64. Tests run under qemu-aarch64 where it is installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
find_program(PENSTOCK_QEMU qemu-aarch64)
if(PENSTOCK_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PENSTOCK_QEMU} -L /usr/aarch64-linux-gnu)
endif()
