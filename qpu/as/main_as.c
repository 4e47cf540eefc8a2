/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The command qpu-as. */
#include "assembler.h"
#include "file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE, FILE_FAILED, SOURCE_WRONG, MOST_LISTED = 64 };

static const char usage[] = "Usage: qpu-as [options] IN.qasm -o OUT\n"
                            "Assembles a program for the VideoCore IV QPU, in the syntax of vc4asm.\n"
                            "\n"
                            "  -o FILE          write to FILE: raw bytes, or words as text if its name ends in .hex\n"
                            "  -I FOLDER        look for included files in FOLDER too\n"
                            "  -D NAME[=VALUE]  set a constant before the first line (1 without a value)\n"
                            "  -Wno-RULE        do not report a rule of the hazard checker\n"
                            "  -Werror          make warnings errors\n"
                            "  --no-check       leave the hazard checker out\n"
                            "  --list-rules     print the rules of the hazard checker\n"
                            "  --help           print this\n"
                            "  --version        print the version\n"
                            "\n"
                            "A file named - is standard input or output. Exit status: 0 done, 1 a file could not be\n"
                            "read or written, 2 the source or an option is wrong.\n";

struct command {
    const char *input, *output;
    struct qpu_assemble_options options;
    const char *folders[MOST_LISTED];
    struct qpu_define defines[MOST_LISTED];
    char *names[MOST_LISTED];
};

static int wrong(const char *what, const char *argument)
{
    fprintf(stderr, "qpu-as: %s%s; qpu-as --help tells more\n", what, argument);
    return SOURCE_WRONG;
}

static bool ignore_rule(struct command *command, const char *name)
{
    for (int rule = QPU_RULE_NONE + 1; rule < QPU_RULE_COUNT; rule++) {
        if (!strcmp(name, qpu_rule_name((enum qpu_rule)rule))) {
            command->options.ignored[rule] = true;
            return true;
        }
    }
    return false;
}

static bool define(struct command *command, const char *text)
{
    size_t n = command->options.define_count;
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    char *name = n < MOST_LISTED ? calloc(length + 1, 1) : NULL;
    if (!name)
        return false;
    memcpy(name, text, length);
    command->names[n] = name;
    command->defines[n] = (struct qpu_define){name, equals ? equals + 1 : "1"};
    command->options.define_count++;
    return true;
}

static int list_rules(void)
{
    for (int rule = QPU_RULE_NONE + 1; rule < QPU_RULE_COUNT; rule++)
        printf("%-18s %s\n", qpu_rule_name((enum qpu_rule)rule),
               qpu_rule_is_warning((enum qpu_rule)rule) ? "warning" : "error");
    return DONE;
}

/* -1: go on. */
static int option(struct command *command, char **arguments, int *i)
{
    const char *text = arguments[*i];
    bool takes_value = !strncmp(text, "-o", 2) || !strncmp(text, "-I", 2) || !strncmp(text, "-D", 2);
    const char *value = text[0] == '-' && text[1] ? text + 2 : "";
    if (takes_value && !*value && !(value = arguments[++*i]))
        return wrong("a value is missing after ", text);
    if (!strcmp(text, "--help"))
        return fputs(usage, stdout) < 0 ? FILE_FAILED : DONE;
    if (!strcmp(text, "--version"))
        return puts("qpu-as " QPU_VERSION) < 0 ? FILE_FAILED : DONE;
    if (!strcmp(text, "--list-rules"))
        return list_rules();
    if (!strcmp(text, "--no-check"))
        command->options.no_check = true;
    else if (!strcmp(text, "-Werror"))
        command->options.warnings_are_errors = true;
    else if (!strncmp(text, "-Wno-", 5)) {
        if (!ignore_rule(command, text + 5))
            return wrong("no rule has the name ", text + 5);
    } else if (takes_value && text[1] == 'o')
        command->output = value;
    else if (takes_value && text[1] == 'I') {
        if (command->options.include_folder_count == MOST_LISTED)
            return wrong("too many folders: ", value);
        command->folders[command->options.include_folder_count++] = value;
    } else if (takes_value) {
        if (!define(command, value))
            return wrong("too many constants: ", value);
    } else if (text[0] == '-' && text[1])
        return wrong("there is no option ", text);
    else if (command->input)
        return wrong("more than one source: ", text);
    else
        command->input = text;
    return -1;
}

static int assemble(const struct command *command)
{
    struct qpu_program program;
    char *text;
    size_t size;
    if (!qpu_read_text("qpu-as", command->input, &text, &size))
        return FILE_FAILED;
    const char *name = strcmp(command->input, "-") ? command->input : "<stdin>";
    int status = qpu_assemble(&program, name, text, size, &command->options) ? SOURCE_WRONG : DONE;
    for (size_t i = 0; i < program.diagnostic_count; i++) {
        const struct qpu_diagnostic *d = &program.diagnostics[i];
        fprintf(stderr, "%s:%d:%d: %s: %s\n", d->file, d->line, d->column, d->warning ? "warning" : "error", d->text);
    }
    if (status == DONE && !qpu_write_program("qpu-as", command->output, program.bytes, program.size))
        status = FILE_FAILED;
    qpu_program_free(&program);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    struct command command = {0};
    int status = -1;
    command.options.include_folders = command.folders;
    command.options.defines = command.defines;
    for (int i = 1; i < argc && status < 0; i++)
        status = option(&command, argv, &i);
    if (status < 0 && !command.input)
        status = wrong("which source? ", "IN.qasm is missing");
    if (status < 0 && !command.output)
        status = wrong("where to? ", "-o OUT is missing");
    if (status < 0)
        status = assemble(&command);
    for (size_t i = 0; i < command.options.define_count; i++)
        free(command.names[i]);
    return status;
}
