/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The signal handler: sets a flag and stops the source that is being read. */
#include "interrupt.h"
#include "command.h"

#include <signal.h>
#include <stdatomic.h>

static volatile sig_atomic_t received;
static _Atomic(penstock_source *) watched;

static void handle(int signal_number)
{
    (void)signal_number;
    received = 1;
    penstock_source *source = atomic_load(&watched);
    if (source)
        penstock_source_stop(source);
}

void interrupt_watch(penstock_source *source)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = (int)SA_RESETHAND};
    atomic_store(&watched, source);
    sigemptyset(&action.sa_mask);
    if (!received) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
    } else if (source) {
        penstock_source_stop(source);
    }
}

bool interrupted(void)
{
    return received;
}

int interrupt_tell(int code)
{
    return received ? fail(code, "interrupted before all was done") : code;
}
