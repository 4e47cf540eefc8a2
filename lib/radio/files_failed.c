/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* An output file that cannot be: what is told of it, and what lies beside removed. */
#include "core/base/fork.h"
#include "radio/files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int penstock__file_error(const penstock_file *output, const char *what)
{
    char buffer[128];
    const char *text = strerror_r(errno, buffer, sizeof buffer);
    return output->borrowed ? penstock__error(PENSTOCK_ERR_FILE, "cannot %s to %s: %s", what, output->name, text)
                            : penstock__error(PENSTOCK_ERR_FILE, "cannot %s '%.200s': %s", what, output->name, text);
}

void penstock__file_drop(penstock_file *output)
{
    if (output->part && output->fd >= 0 && !output->placed && output->set->forks == penstock__forks())
        unlink(output->part); /* before it is closed: then it is nobody's, and another program's next */
    if (output->fd >= 0 && !output->borrowed)
        close(output->fd);
    output->fd = -1;
}
