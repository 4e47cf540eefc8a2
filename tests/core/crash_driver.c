/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An OpenCL driver that crashes when it is loaded, as broken installations do. */
#include <signal.h>

__attribute__((constructor)) static void crash(void)
{
    raise(SIGSEGV);
}
