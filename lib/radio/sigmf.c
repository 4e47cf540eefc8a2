/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Reading of SigMF metadata with jansson. Anything may be in it: every value is checked for its type and range. */
#include "radio/sigmf.h"
#include "backends/backend.h"
#include "radio/sigmf_time.h"

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

/* As much of it as there is room for, in whole characters of UTF-8. */
static void copy_text(char *to, size_t bytes, const char *from)
{
    size_t length = strlen(from);
    if (length >= bytes)
        for (length = bytes - 1; length && ((unsigned char)from[length] & 0xc0) == 0x80;)
            length--;
    memcpy(to, from, length);
    to[length] = 0;
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
        (status = get_count(&sigmf->offset, global, "core:offset", name)) ||
        (status = get_dataset(sigmf, global, name)))
        return status;
    const char *hardware = json_string_value(json_object_get(global, "core:hw"));
    copy_text(sigmf->hardware, sizeof sigmf->hardware, hardware ? hardware : "");
    if (channels != 1)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED, "'%s' has %llu channels; one is read", name,
                               (unsigned long long)channels);
    return PENSTOCK_OK;
}

static int get_capture(struct penstock__sigmf_capture *said, struct penstock__sigmf *sigmf, const json_t *capture,
                       uint64_t least, const char *name)
{
    const json_t *datetime = json_object_get(capture, "core:datetime");
    uint64_t start = sigmf->offset + least;
    int status;
    *said = (struct penstock__sigmf_capture){.indexed = json_object_get(capture, "core:global_index") != NULL};
    if ((status = get_number(&said->frequency_hz, capture, "core:frequency", 1e12, name)) ||
        (status = get_count(&said->index, capture, "core:global_index", name)) ||
        (status = get_count(&start, capture, "core:sample_start", name)))
        return status;
    if (start < sigmf->offset + least)
        return penstock__error(PENSTOCK_ERR_FORMAT, "'%s': core:sample_start goes back, or lies before core:offset",
                               name);
    said->sample_start = start - sigmf->offset;
    said->timed = json_is_string(datetime) && penstock__sigmf_time_parse(&said->time_ns, json_string_value(datetime));
    sigmf->bad_time |= datetime && !said->timed;
    return PENSTOCK_OK;
}

static int get_header(struct penstock__sigmf *sigmf, const json_t *capture, bool first, const char *name)
{
    uint64_t header_bytes = 0;
    int status = get_count(&header_bytes, capture, "core:header_bytes", name);
    if (status)
        return status;
    if (first)
        sigmf->header_bytes = header_bytes;
    else if (header_bytes)
        return penstock__error(PENSTOCK_ERR_UNSUPPORTED,
                               "'%s': core:header_bytes in the middle of a recording is not read", name);
    return PENSTOCK_OK;
}

static int get_captures(struct penstock__sigmf *sigmf, const json_t *captures, const char *name)
{
    struct penstock__sigmf_capture said = {0};
    if (captures && !json_is_array(captures))
        return wrong(name, "'captures' is not a list");
    sigmf->captures.keep = true;
    for (size_t i = 0; i < json_array_size(captures); i++) {
        const json_t *capture = json_array_get(captures, i);
        int status;
        if (!json_is_object(capture))
            return wrong(name, "an element of 'captures' is no object");
        if ((status = get_capture(&said, sigmf, capture, said.sample_start, name)) ||
            (status = get_header(sigmf, capture, i == 0, name)) || (status = penstock__sigmf_add_capture(sigmf, &said)))
            return status;
        if (!(sigmf->frequency_hz > 0.0))
            sigmf->frequency_hz = said.frequency_hz;
        if (said.frequency_hz > 0.0 && fabs(said.frequency_hz - sigmf->frequency_hz) > 0.0)
            sigmf->retuned = true;
    }
    return json_array_size(captures) ? PENSTOCK_OK
                                     : penstock__sigmf_add_capture(sigmf, &(struct penstock__sigmf_capture){0});
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
    if (status)
        penstock__sigmf_free(sigmf);
    return status;
}

void penstock__sigmf_free(struct penstock__sigmf *sigmf)
{
    penstock__captures_free(&sigmf->captures);
}
