/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A peer's output beside ours. */
#include "bench_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t bench_compared_bytes(size_t out_bytes)
{
    const size_t most = (size_t)1 << 22;
    return out_bytes < most ? out_bytes : most;
}

static int compare_bits(const char *ours, const char *theirs, size_t bytes, const struct bench_names *names)
{
    for (size_t i = 0; i < bytes; i++)
        if (abs((int)(int8_t)ours[i] - (int)(int8_t)theirs[i]) > 1)
            return fail(EXIT_DATA, "%s: soft bit %zu is %d, %s has %d", names->test, i, (int)(int8_t)ours[i],
                        names->peer, (int)(int8_t)theirs[i]);
    return EXIT_DONE;
}

int bench_compare(const struct device_work *work, const char *ours, const char *theirs, size_t bytes,
                  const struct bench_names *names)
{
    double error = 0, norm = 0;
    if (work->kind == DEVICE_WORK_OFDM)
        return compare_bits(ours, theirs, bytes, names);
    for (size_t i = 0; i < bytes / 4; i++) {
        float a, b;
        memcpy(&a, ours + 4 * i, 4);
        memcpy(&b, theirs + 4 * i, 4);
        error += pow((double)a - (double)b, 2);
        norm += pow((double)b, 2);
    }
    if (norm > 0 && error <= 1e-10 * norm)
        return EXIT_DONE;
    return fail(EXIT_DATA, "%s: differs from %s by %.2e", names->test, names->peer, sqrt(error / norm));
}
