/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* In place of SigMF where the library was built without jansson. */
#include "radio/sink.h"
#include "radio/source_kind.h"

static int absent(void)
{
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "this build has no SigMF, which needs jansson: %s",
                           PENSTOCK_WHY_NO_JANSSON);
}

static int absent_open(penstock_source *source, const char *text)
{
    (void)source, (void)text;
    return absent();
}

const struct penstock__source_kind penstock__source_sigmf = {.open = absent_open};

int penstock__sigmf_prepare(void)
{
    return absent();
}

int penstock__sigmf_write(const penstock_sink *sink)
{
    (void)sink;
    return absent();
}
