/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* The metadata of a sink's samples as JSON. */
#ifndef PENSTOCK_RADIO_SIGMF_DESCRIBE_H
#define PENSTOCK_RADIO_SIGMF_DESCRIBE_H

#include "radio/sink.h"

#include <jansson.h>

/* The whole object; NULL where there is no memory, or a text is not UTF-8. */
json_t *penstock__sigmf_describe(const struct penstock_sink *sink);

#endif
