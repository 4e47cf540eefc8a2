/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* In place of radios where the library was built without SoapySDR. */
#include "radio/source_kind.h"

static int absent_open(penstock_source *source, const char *text)
{
    (void)source, (void)text;
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "this build has no SoapySDR: %s", PENSTOCK_WHY_NO_SOAPYSDR);
}

const struct penstock__source_kind penstock__source_soapy = {.open = absent_open};
