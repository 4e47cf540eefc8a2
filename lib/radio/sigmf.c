/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Reading of SigMF metadata with jansson. Anything may be in it: every value is checked for its type and range. */
#include "radio/sigmf.h"
#include "backends/backend.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    penstock_format format;
} datatypes[] = {
    {"cf32_le", PENSTOCK_CF32}, {"ci16_le", PENSTOCK_CS16}, {"ci8", PENSTOCK_CS8},
    {"cu8", PENSTOCK_CU8},      {"rf32_le", PENSTOCK_F32},
};

const char *penstock__sigmf_datatype(penstock_format format)
{
    for (size_t i = 0; i < sizeof datatypes / sizeof datatypes[0]; i++)
        if (datatypes[i].format == format)
            return datatypes[i].name;
    return NULL;
}

static int wrong(const char *name, const char *what)
{
    return penstock__error(PENSTOCK_ERR_FORMAT, "'%s' is not the metadata of a SigMF recording: %s", name, what);
}

/* A number in 0 .. `most`, if `key` is there. */
static int get_number(double *value, const json_t *object, const char *key, double most, const char *name)
{
    const json_t *member = json_object_get(object, key);
    double number = json_number_value(member);
    if (!member)
        return PENSTOCK_OK;
    if (!json_is_number(member) || !(number >= 0.0 && number <= most))
        return penstock__error(PENSTOCK_ERR_FORMAT, "'%s': %s is not a number from 0 to %g", name, key, most);
    *value = number;
    return PENSTOCK_OK;
}

static int get_count(uint64_t *value, const json_t *object, const char *key, const char *name)
{
    const json_t *member = json_object_get(object, key);
    if (!member)
        return PENSTOCK_OK;
    if (!json_is_integer(member) || json_integer_value(member) < 0)
        return penstock__error(PENSTOCK_ERR_FORMAT, "'%s': %s is not a whole number from 0 on", name, key);
    *value = (uint64_t)json_integer_value(member);
    return PENSTOCK_OK;
}

static int get_datatype(struct penstock__sigmf *sigmf, const json_t *global, const char *name)
{
    const char *text = json_string_value(json_object_get(global, "core:datatype"));
    if (!text)
        return wrong(name, "global has no text core:datatype");
    for (size_t i = 0; i < sizeof datatypes / sizeof datatypes[0]; i++)
        if (!strcmp(text, datatypes[i].name)) {
            sigmf->format = datatypes[i].format;
            return PENSTOCK_OK;
        }
    return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                           "'%s': core:datatype %.32s is not read (cf32_le, ci16_le, ci8, cu8, rf32_le are)", name,
                           text);
}

/* The data's file must lie beside the metadata: a name with a folder in it could point anywhere. */
static int get_dataset(struct penstock__sigmf *sigmf, const json_t *global, const char *name)
{
    const json_t *member = json_object_get(global, "core:dataset");
    const char *text = json_string_value(member);
    if (json_is_true(json_object_get(global, "core:metadata_only")))
        return penstock__error(PENSTOCK_ERR_FORMAT, "'%s' describes no samples (core:metadata_only)", name);
    if (!member)
        return PENSTOCK_OK;
    if (!text || !*text || strchr(text, '/') || !strcmp(text, ".") || !strcmp(text, "..") ||
        strlen(text) >= sizeof sigmf->dataset)
        return penstock__error(PENSTOCK_ERR_FORMAT, "'%s': core:dataset is not the name of a file beside it", name);
    snprintf(sigmf->dataset, sizeof sigmf->dataset, "%s", text);
    return PENSTOCK_OK;
}

static int get_global(struct penstock__sigmf *sigmf, const json_t *global, const char *name)
{
    uint64_t channels = 1;
    int status;
    if (!json_is_object(global))
        return wrong(name, "it has no object 'global'");
    if ((status = get_datatype(sigmf, global, name)) ||
        (status = get_number(&sigmf->rate_hz, global, "core:sample_rate", 1e12, name)) ||
        (status = get_count(&channels, global, "core:num_channels", name)) ||
        (status = get_count(&sigmf->trailing_bytes, global, "core:trailing_bytes", name)) ||
        (status = get_dataset(sigmf, global, name)))
        return status;
    if (channels != 1)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "'%s' has %llu channels; one is read", name,
                               (unsigned long long)channels);
    return PENSTOCK_OK;
}

static int get_captures(struct penstock__sigmf *sigmf, const json_t *captures, const char *name)
{
    if (captures && !json_is_array(captures))
        return wrong(name, "'captures' is not a list");
    for (size_t i = 0; i < json_array_size(captures); i++) {
        const json_t *capture = json_array_get(captures, i);
        double frequency_hz = 0.0;
        uint64_t header_bytes = 0;
        int status;
        if (!json_is_object(capture))
            return wrong(name, "an element of 'captures' is no object");
        if ((status = get_number(&frequency_hz, capture, "core:frequency", 1e12, name)) ||
            (status = get_count(&header_bytes, capture, "core:header_bytes", name)))
            return status;
        if (i == 0) {
            sigmf->frequency_hz = frequency_hz;
            sigmf->header_bytes = header_bytes;
        } else if (header_bytes)
            return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                                   "'%s': core:header_bytes in the middle of a recording is not read", name);
        if (frequency_hz > 0.0 && fabs(frequency_hz - sigmf->frequency_hz) > 0.0)
            sigmf->retuned = true;
    }
    return PENSTOCK_OK;
}

int penstock__sigmf_parse(struct penstock__sigmf *sigmf, const char *text, size_t bytes, const char *name)
{
    json_error_t error;
    json_t *root = json_loadb(text, bytes, 0, &error);
    int status;
    *sigmf = (struct penstock__sigmf){0};
    if (!root)
        return penstock__error(PENSTOCK_ERR_FORMAT, "'%s' is not JSON: line %d: %s", name, error.line, error.text);
    if (!json_is_object(root))
        status = wrong(name, "it is not one JSON object");
    else if (!(status = get_global(sigmf, json_object_get(root, "global"), name)))
        status = get_captures(sigmf, json_object_get(root, "captures"), name);
    json_decref(root);
    return status;
}
