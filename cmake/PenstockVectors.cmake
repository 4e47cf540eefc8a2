# SPDX-License-Identifier: MIT
# Sources that are built for vector instructions which the compiler knows and the processor may have. Which build runs is
# asked of the processor: lib/vector/instructions.h, which PENSTOCK_BUILDS_AVX2 and PENSTOCK_BUILDS_AVX512 are for.
include(CheckCCompilerFlag)
set(PENSTOCK_FLAGS_AVX2 -mavx2)
set(PENSTOCK_FLAGS_AVX2_FMA -mavx2 -mfma) # where a product and its sum may be rounded once
set(PENSTOCK_FLAGS_AVX512 -mavx512f -mavx512dq -mfma)
check_c_compiler_flag("-mavx2 -mfma" PENSTOCK_BUILDS_AVX2)
check_c_compiler_flag("-mavx512f -mavx512dq -mfma" PENSTOCK_BUILDS_AVX512)

# penstock_vector_build(SOURCE AVX2|AVX2_FMA|AVX512 OPTION...)
function(penstock_vector_build source instructions)
  string(REPLACE _FMA "" level ${instructions})
  if(PENSTOCK_BUILDS_${level})
    target_sources(penstock_objects PRIVATE ${source})
    set_property(SOURCE ${source} TARGET_DIRECTORY penstock_objects APPEND PROPERTY COMPILE_OPTIONS
      ${ARGN} ${PENSTOCK_FLAGS_${instructions}})
  endif()
endfunction()
