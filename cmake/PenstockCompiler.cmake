# SPDX-License-Identifier: MIT
# Language level, warnings and sanitizers, for every target of the project through penstock_compiler.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(penstock_compiler INTERFACE)
target_compile_definitions(penstock_compiler INTERFACE _GNU_SOURCE)
target_compile_options(penstock_compiler INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wcast-qual -Wpointer-arith -Wno-missing-field-initializers
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  -fno-math-errno -ffp-contract=off)
# Packages are built with -O2, at which GCC leaves most loops as they are: samples of cs16 take twice the time then.
if(NOT PENSTOCK_SANITIZE)
  target_compile_options(penstock_compiler INTERFACE
    "$<$<COMPILE_LANG_AND_ID:C,GNU>:-ftree-vectorize;-fvect-cost-model=dynamic>")
endif()
if(PENSTOCK_WERROR)
  target_compile_options(penstock_compiler INTERFACE -Werror)
endif()
if(PENSTOCK_SANITIZE)
  target_compile_options(penstock_compiler INTERFACE -fsanitize=${PENSTOCK_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>) # C programs load our modules and bring no C++ part of a sanitizer
  target_link_options(penstock_compiler INTERFACE -fsanitize=${PENSTOCK_SANITIZE})
endif()

# penstock_installed(TARGET FOLDER): installed in FOLDER of the prefix, it finds our library there, wherever the prefix is
# and before ldconfig has run. Packages for /usr do without: CMAKE_SKIP_INSTALL_RPATH.
function(penstock_installed target folder)
  file(RELATIVE_PATH way /${folder} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${way}")
endfunction()

# install(), where what is built is to be installed.
function(penstock_install)
  if(PENSTOCK_INSTALL)
    install(${ARGN})
  endif()
endfunction()
