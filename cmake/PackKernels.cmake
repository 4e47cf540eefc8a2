# SPDX-License-Identifier: MIT
# cmake -DFILES="a;b" -DOUTPUT=x.c -P PackKernels.cmake: the files' bytes as C arrays.
string(REPEAT "0x..," 20 row)
set(arrays "")
set(rows "")
foreach(path IN LISTS FILES)
  get_filename_component(name ${path} NAME)
  string(MAKE_C_IDENTIFIER ${name} identifier)
  file(READ ${path} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(${row})" "\\1\n    " bytes "${bytes}")
  string(APPEND arrays "static const char ${identifier}[] = {\n    ${bytes}0};\n\n")
  string(APPEND rows "    {\"${name}\", ${identifier}},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made from kernels/ by cmake/PackKernels.cmake. */
#include \"gpu/source.h\"

${arrays}const struct gpu_packed_file penstock__gpu_files[] = {
${rows}    {NULL, NULL},
};
")
