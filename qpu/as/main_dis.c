/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The command qpu-dis. */
#include "assembler.h"
#include "file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE, FILE_FAILED, OPTION_WRONG };

static const char usage[] = "Usage: qpu-dis [options] IN\n"
                            "Disassembles a program for the VideoCore IV QPU into what qpu-as reads. IN holds raw\n"
                            "bytes, or words as text if its name ends in .hex.\n"
                            "\n"
                            "  -o FILE    write to FILE, not to standard output\n"
                            "  --help     print this\n"
                            "  --version  print the version\n"
                            "\n"
                            "A file named - is standard input, as text words. Exit status: 0 done, 1 a file could not\n"
                            "be read or written, 2 an option is wrong.\n";

static int wrong(const char *what, const char *argument)
{
    fprintf(stderr, "qpu-dis: %s%s; qpu-dis --help tells more\n", what, argument);
    return OPTION_WRONG;
}

static int disassemble(const char *input, const char *output)
{
    uint8_t *bytes;
    size_t size;
    if (!qpu_read_program("qpu-dis", input, &bytes, &size))
        return FILE_FAILED;
    char *text = qpu_disassemble(bytes, size);
    bool good = text && qpu_write_text("qpu-dis", output, text);
    if (!text)
        fputs("qpu-dis: out of memory\n", stderr);
    free(text);
    free(bytes);
    return good ? DONE : FILE_FAILED;
}

int main(int argc, char **argv)
{
    const char *input = NULL, *output = "-";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help"))
            return fputs(usage, stdout) < 0 ? FILE_FAILED : DONE;
        if (!strcmp(argv[i], "--version"))
            return puts("qpu-dis " QPU_VERSION) < 0 ? FILE_FAILED : DONE;
        if (!strncmp(argv[i], "-o", 2)) {
            output = argv[i][2] ? argv[i] + 2 : argv[++i];
            if (!output)
                return wrong("a value is missing after ", "-o");
        } else if (argv[i][0] == '-' && argv[i][1])
            return wrong("there is no option ", argv[i]);
        else if (input)
            return wrong("more than one program: ", argv[i]);
        else
            input = argv[i];
    }
    if (!input)
        return wrong("which program? ", "IN is missing");
    return disassemble(input, output);
}
