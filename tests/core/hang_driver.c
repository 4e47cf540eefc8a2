/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An OpenCL driver that hangs when it is loaded. */
#include <unistd.h>

__attribute__((constructor)) static void hang(void)
{
    for (;;)
        pause();
}
