# SPDX-License-Identifier: MIT
# 32-bit ARM with VFP: Raspberry Pi OS and Debian armhf. Tests run under qemu-arm where it is installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
find_program(PENSTOCK_QEMU qemu-arm)
if(PENSTOCK_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PENSTOCK_QEMU} -L /usr/arm-linux-gnueabihf)
endif()
