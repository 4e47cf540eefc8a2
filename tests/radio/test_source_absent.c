/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* A library built without SoapySDR and jansson says so, and why, when it is asked for a radio or for SigMF. */
#include "files.h"

int main(void)
{
    penstock_sink *sink;
    test_source_refused("soapy:driver=replay", PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_UNSUPPORTED,
                        "this build has no SoapySDR: ");
    test_source_refused("x.sigmf-meta", PENSTOCK_SOURCE_DESC(), PENSTOCK_ERR_UNSUPPORTED,
                        "this build has no SigMF, which needs jansson: ");
    CHECK_EQ(penstock_sink_open(&sink, "x.sigmf-meta", &PENSTOCK_SINK_DESC(.rate_hz = 1e6)), PENSTOCK_ERR_UNSUPPORTED);
    return test_finish();
}
