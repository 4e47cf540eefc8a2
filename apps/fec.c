/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock fec: the command and its options. */
#include "fec.h"
#include "shared/interrupt.h"
#include "shared/options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_BITS = 1024 };

static const char *const soft_names[] = {"s8", "f32", "hard", NULL}; /* in the order of penstock_soft */
static const char *const orders[] = {"lsb", "msb", NULL};
static const char *const actions[] = {"encode", "decode", "ber", NULL};

int fec_set_bits(struct fec *fec, size_t bits)
{
    fec->desc.bits = bits;
    fec->bytes = (bits + 7) / 8;
    int status = penstock_viterbi_sent(&fec->sent, &fec->desc);
    return status ? fail_status(status) : EXIT_DONE;
}

/* ---------------------------------------------------------------- the command ----------------- */

static int act(struct fec *fec, const char *action)
{
    bool streams;
    int code, status;
    fec->desc = PENSTOCK_VITERBI_DESC(.result = fec->order && !strcmp(fec->order, "lsb") ? PENSTOCK_BITS_LSB_FIRST
                                                                                         : PENSTOCK_BITS_MSB_FIRST);
    for (int i = 0; fec->soft_name && soft_names[i]; i++)
        if (!strcmp(fec->soft_name, soft_names[i]))
            fec->desc.soft = (penstock_soft)i;
    if ((status = penstock_viterbi_code(&fec->desc, fec->code ? fec->code : "wifi")))
        return fail(EXIT_USAGE, "--code: %s", penstock_error_text());
    streams = fec->desc.end == PENSTOCK_TRELLIS_OPEN && !fec->bits;
    if (fec->bits % 8 && strcmp(action, "ber"))
        return fail(EXIT_USAGE, "--bits %" PRIu64 " is no multiple of 8: fec %s takes whole bytes", fec->bits, action);
    if ((code = fec_set_bits(fec, fec->bits                          ? fec->bits
                                  : streams && strcmp(action, "ber") ? FEC_MOST_BITS
                                                                     : USUAL_BITS)))
        return code;
    if (!fec->code && !(fec->code = strdup("wifi")))
        return fail(EXIT_DATA, "out of memory");
    return strcmp(action, "ber") ? fec_files(fec, !strcmp(action, "encode"), streams) : fec_ber(fec);
}

static int check_places(const struct options *options, const char *action)
{
    const bool encode = !strcmp(action, "encode"), ber = !strcmp(action, "ber");
    const struct option_place places[] = {
        {"input", !ber}, {"output", !ber}, {"order", !ber}, {"device", !encode}, {"from", ber},
        {"to", ber},     {"step", ber},    {"count", ber},  {"errors", ber},     {"seed", ber},
        {"csv", ber},    {"png", ber},     {NULL, true},
    };
    char where[32];
    snprintf(where, sizeof where, "with fec %s", action);
    return options_check_places(options, places, where);
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct fec fec = {.count = 10000000, .errors = 1000, .seed = 1, .first_db = 0, .last_db = 6, .step_db = 0.5};
    const struct option_row table[] = {
        OPTION_TEXT("code", 'c', "NAME", &fec.code, "wifi, dvb, dab, lte or ccsds, with a rate: dvb:3/4 (wifi)"),
        OPTION_WHOLE("bits", 'b', "N", &fec.bits, 1, FEC_MOST_BITS, "bits",
                     "Of a block (1024; without it dvb and ccsds have none)"),
        OPTION_TEXT("input", 'i', "F", &fec.input, "Bytes to encode, soft bits to decode; - for stdin"),
        OPTION_TEXT("output", 'o', "F", &fec.output, "Soft bits, or bytes; - for stdout"),
        OPTION_WORD("soft", 's', "FORMAT", &fec.soft_name, soft_names, "format of soft bits",
                    "s8, f32, positive for 0, or hard, 0 or 1 (s8)"),
        OPTION_WORD("order", 0, "ORDER", &fec.order, orders, "order", "Of a byte's bits: msb or lsb first (msb)"),
        OPTION_TEXT("device", 'd', "NAME", &fec.device, "That decodes (auto)"),
        OPTION_NUMBER("from", 0, "DB", &fec.first_db, -20, 40, "dB", "ber: first Eb/N0"),
        OPTION_NUMBER("to", 0, "DB", &fec.last_db, -20, 40, "dB", "ber: last Eb/N0"),
        OPTION_NUMBER("step", 0, "DB", &fec.step_db, 0.01, 40, "dB", "ber: from one to the next"),
        OPTION_WHOLE("count", 'n', "N", &fec.count, 1, 1e15, "bits", "ber: bits of a point, rounded up to batches"),
        OPTION_WHOLE("errors", 0, "N", &fec.errors, 1, 1e15, "", "ber: errors that are enough"),
        OPTION_WHOLE("seed", 0, "N", &fec.seed, 0, 9e15, "", "ber: of bits and noise"),
        OPTION_TEXT("csv", 0, "F", &fec.csv, "ber: the curve as a table"),
        OPTION_TEXT("png", 0, "F", &fec.png, "ber: the curve as a picture, theory beside it"),
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code)) {
        const char *action = options.arguments[0];
        size_t known = 0;
        while (action && actions[known] && strcmp(action, actions[known]))
            known++;
        if (!action)
            code = fail(EXIT_USAGE, "fec: what to do is missing: encode, decode or ber");
        else if (!actions[known])
            code = fail_unknown("fec action", action, actions);
        else if (options.arguments[1])
            code = fail(EXIT_USAGE, "fec: '%s' is one argument too many", options.arguments[1]);
        else if (!(code = check_places(&options, action)))
            code = act(&fec, action);
    }
    interrupt_end(code);
    options_free(&options);
    return code;
}

const struct command command_fec = {
    .name = "fec",
    .synopsis = "encode|decode|ber [OPTION...]",
    .summary = "Code and decode files, measure bit errors",
    .notes =
        "A file's last block may be shorter; blocks are of whole bytes. Without --bits dvb and ccsds code and decode\n"
        "a stream of any length, of whose ends the decoder knows nothing: its first and last bits are less sure.\n",
    .run = run,
};
