/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock: the table of subcommands, and what holds for all of them. */
#include "shared/command.h"
#include "shared/interrupt.h"
#include "shared/outfile.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {
    &command_devices,  &command_doctor,     &command_check,   &command_bench,    &command_spectrum, &command_filter,
    &command_resample, &command_channelize, &command_receive, &command_transmit, &command_fec,
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static int print_help(void)
{
    printf("Usage: penstock COMMAND [OPTION...]\n"
           "A radio's samples on whatever processor the machine has.\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\npenstock COMMAND --help tells a command's options; penstock --version the version.\n"
           "Exit codes: 0 done; 1 file, device or data; 2 a command, option, option value, profile or\n"
           "format that is unknown or impossible.\n");
    return EXIT_DONE;
}

static int run(int argc, const char **argv)
{
    const char *names[COMMAND_COUNT + 1] = {NULL};
    if (argc < 2)
        return fail(EXIT_USAGE, "a command is missing; see penstock --help");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return print_help();
    if (!strcmp(argv[1], "--version")) {
        printf("penstock %s\n", penstock_version());
        return EXIT_DONE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i]->name;
        if (!strcmp(argv[1], names[i]))
            return commands[i]->run(commands[i], argc - 1, argv + 1);
    }
    return fail_unknown(argv[1][0] == '-' ? "option" : "command", argv[1], names);
}

int main(int argc, char **argv)
{
    enum { MOST_ARGUMENTS = 1024 };
    const char *arguments[MOST_ARGUMENTS + 1] = {NULL};
    if (argc > MOST_ARGUMENTS)
        return fail(EXIT_USAGE, "more than %d arguments", MOST_ARGUMENTS);
    for (int i = 0; i < argc; i++)
        arguments[i] = argv[i];
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error like a full disk: what is open gets flushed */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow any more */
    outfile_start();
    interrupt_start();
    int code = run(argc, arguments);
    interrupt_end(code);
    outfile_abandon();
    return code ? code : outfile_flush_stdout(); /* one line of error is enough */
}
