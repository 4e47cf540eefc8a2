/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* SigMF metadata may come from anywhere: whatever is in it, the result is in range or an error on one line. */
#include "radio/sigmf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct penstock__sigmf sigmf;
    if (penstock__sigmf_parse(&sigmf, (const char *)data, size, "fuzz.sigmf-meta")) {
        must(*penstock_error_text() && !strchr(penstock_error_text(), '\n'));
        return 0;
    }
    must(penstock_format_bytes(sigmf.format) > 0);
    must(sigmf.rate_hz >= 0.0 && sigmf.rate_hz <= 1e12);
    must(sigmf.frequency_hz >= 0.0 && sigmf.frequency_hz <= 1e12);
    must(memchr(sigmf.dataset, 0, sizeof sigmf.dataset) && !strchr(sigmf.dataset, '/'));
    must(memchr(sigmf.hardware, 0, sizeof sigmf.hardware));
    must(sigmf.captures.count > 0 && sigmf.captures.items[0].sample == 0);
    for (size_t i = 1; i < sigmf.captures.count; i++) {
        const struct penstock__capture *one = &sigmf.captures.items[i];
        must(one[0].sample > one[-1].sample && one[0].lost >= one[-1].lost && one[0].unknown >= one[-1].unknown);
    }
    penstock__sigmf_free(&sigmf);
    return 0;
}
