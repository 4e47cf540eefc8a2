/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Sources may hold anything: the assembler ends, its messages are single lines in order, and what it has assembled
 * comes back from its disassembly.
 */
#include "as/assembler.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void come_back(const struct qpu_program *program)
{
    struct qpu_assemble_options unchecked = {.no_check = true, .no_files = true};
    struct qpu_program again;
    char *text = qpu_disassemble(program->bytes, program->size);
    must(text);
    must(qpu_assemble(&again, "again", text, strlen(text), &unchecked) == 0);
    must(again.size == program->size && (!again.size || !memcmp(again.bytes, program->bytes, again.size)));
    qpu_program_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qpu_assemble_options options = {.no_files = true};
    struct qpu_program program;
    int status = qpu_assemble(&program, "fuzz", (const char *)data, size, &options);
    must((status == 0) == (program.error_count == 0));
    for (size_t i = 0; i < program.diagnostic_count; i++) {
        const struct qpu_diagnostic *d = &program.diagnostics[i];
        must(d->line > 0 && d->column > 0 && *d->text && !strchr(d->text, '\n'));
        must(!i || d[-1].line <= d->line);
    }
    if (!status && program.size <= 1 << 12)
        come_back(&program);
    qpu_program_free(&program);
    return 0;
}
