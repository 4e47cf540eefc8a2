/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock fec: convolutional codes of files, and their bit errors. */
#include "fec.h"
#include "shared/interrupt.h"
#include "shared/options.h"
#include "shared/outfile.h"
#include "shared/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_BITS = 1024, MOST_BITS = 1 << 20, READ_BITS = 1 << 20, LEVEL = 64 };

static const char *const soft_names[] = {"s8", "f32", "hard", NULL}; /* in the order of penstock_soft */
static const char *const orders[] = {"lsb", "msb", NULL};
static const char *const actions[] = {"encode", "decode", "ber", NULL};

struct files {
    const struct fec *fec;
    bool encodes;
    FILE *in, *out;
    size_t blocks; /* that are done at once */
    uint8_t *bits, *coded;
    void *soft;
    uint64_t read, written; /* items */
};

static size_t soft_bytes(const struct fec *fec)
{
    return fec->desc.soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1;
}

/* Sizes of a block of so many bits. */
static int set_bits(struct fec *fec, size_t bits)
{
    fec->desc.bits = bits;
    fec->bytes = (bits + 7) / 8;
    int status = penstock_viterbi_sent(&fec->sent, &fec->desc);
    return status ? fail_status(status) : EXIT_DONE;
}

static int open_files(struct files *files, const struct fec *fec)
{
    int code = EXIT_DONE;
    if (!fec->input || !fec->output)
        return fail(EXIT_USAGE, "fec: --%s is missing: a file, or - for standard %s", fec->input ? "output" : "input",
                    fec->input ? "output" : "input");
    files->in = strcmp(fec->input, "-") ? fopen(fec->input, "rbe") : stdin;
    if (!files->in)
        return fail(EXIT_DATA, "%s: %s", fec->input, strerror(errno));
    files->blocks = (READ_BITS + fec->desc.bits - 1) / fec->desc.bits;
    files->bits = calloc(files->blocks, fec->bytes);
    files->coded = calloc(files->blocks, fec->sent);
    files->soft = calloc(files->blocks * fec->sent, soft_bytes(fec));
    if (!files->bits || !files->coded || !files->soft)
        return fail(EXIT_DATA, "out of memory");
    if (files->in != stdin && (code = outfile_protect(fec->input)))
        return code;
    interrupt_hold();
    code = outfile_open(&files->out, fec->output);
    interrupt_release();
    return code;
}

static int write_items(struct files *files, const void *items, size_t bytes, size_t count)
{
    interrupt_hold();
    fwrite(items, bytes, count, files->out);
    int code = outfile_check(files->out);
    files->written += count;
    interrupt_release();
    return code;
}

static int read_items(struct files *files, const struct fec *fec, void *items, size_t bytes, size_t most, size_t *count)
{
    *count = fread(items, bytes, most, files->in);
    interrupt_hold();
    files->read += *count;
    interrupt_release();
    return ferror(files->in) ? fail(EXIT_DATA, "%s: %s", fec->input, strerror(errno)) : EXIT_DONE;
}

/* ---------------------------------------------------------------- encode ---------------------- */

static int encode_blocks(struct files *files, const struct fec *fec, const uint8_t *bits, size_t blocks)
{
    const size_t count = blocks * fec->sent;
    int status = penstock_viterbi_encode(&fec->desc, files->coded, bits, blocks);
    if (status)
        return fail_status(status);
    for (size_t i = 0; i < count; i++)
        if (fec->desc.soft == PENSTOCK_SOFT_F32)
            ((float *)files->soft)[i] = files->coded[i] ? -1.0F : 1.0F;
        else if (fec->desc.soft == PENSTOCK_SOFT_S8)
            ((int8_t *)files->soft)[i] = files->coded[i] ? -LEVEL : LEVEL;
        else
            ((uint8_t *)files->soft)[i] = files->coded[i];
    return write_items(files, files->soft, soft_bytes(fec), count);
}

/* The last block may be a shorter one, of whole bytes. */
static int encode(struct fec *fec, struct files *files)
{
    size_t count = 0;
    int code;
    do {
        if ((code = read_items(files, fec, files->bits, 1, files->blocks * fec->bytes, &count)))
            return code;
        size_t whole = count / fec->bytes, rest = count % fec->bytes;
        if (whole && (code = encode_blocks(files, fec, files->bits, whole)))
            return code;
        if (rest && !(code = set_bits(fec, 8 * rest)))
            return encode_blocks(files, fec, files->bits + count - rest, 1);
        progress_done((double)files->read, "%s", "");
    } while (!code && count && !interrupted());
    return code;
}

/* ---------------------------------------------------------------- decode ---------------------- */

/* The bits of a last, shorter block. */
static int find_rest(struct fec *fec, size_t soft)
{
    const size_t most = fec->desc.bits;
    for (size_t bits = 8; bits < most; bits += 8) {
        int code = set_bits(fec, bits);
        if (code || fec->sent == soft)
            return code;
    }
    return fail(EXIT_DATA, "%s: the last %zu soft bits are no block of %s, of whole bytes", fec->input, soft,
                fec->code);
}

static int decode_blocks(struct files *files, const struct fec *fec, penstock_context *context, const void *soft,
                         size_t blocks)
{
    penstock_plan *plan = NULL;
    progress_wait(PROGRESS_PLAN);
    int status = penstock_viterbi_plan(&plan, context, &fec->desc, fec->device);
    progress_arrived();
    if (!status)
        status = penstock_plan_run(plan, soft, files->bits, blocks);
    penstock_plan_free(plan);
    return status ? fail_status(status) : write_items(files, files->bits, 1, blocks * fec->bytes);
}

static int decode_all(struct fec *fec, struct files *files, penstock_context *context, penstock_plan *plan)
{
    const size_t bytes = soft_bytes(fec);
    size_t count = 0;
    int code;
    do {
        if ((code = read_items(files, fec, files->soft, bytes, files->blocks * fec->sent, &count)))
            return code;
        size_t whole = count / fec->sent, rest = count % fec->sent;
        int status = whole ? penstock_plan_run(plan, files->soft, files->bits, whole) : PENSTOCK_OK;
        if (status)
            return fail_status(status);
        if (whole && (code = write_items(files, files->bits, 1, whole * fec->bytes)))
            return code;
        if (rest && !(code = find_rest(fec, rest)))
            return decode_blocks(files, fec, context, (const char *)files->soft + (count - rest) * bytes, 1);
        progress_done((double)files->read, "%s", "");
    } while (!code && count && !interrupted());
    return code;
}

static int decode(struct fec *fec, struct files *files, penstock_context *context)
{
    penstock_plan *plan = NULL;
    progress_wait(PROGRESS_PLAN);
    int status = penstock_viterbi_plan(&plan, context, &fec->desc, fec->device);
    progress_arrived();
    int code = status ? fail_status(status) : decode_all(fec, files, context, plan);
    penstock_plan_free(plan);
    return code;
}

/* What has no blocks. */
static int decode_stream(struct fec *fec, struct files *files, penstock_context *context)
{
    penstock_stream *stream = NULL;
    size_t count = 0, given = 0;
    int code = EXIT_DONE, status;
    fec->desc.bits = 0;
    progress_wait(PROGRESS_PLAN);
    status = penstock_viterbi_stream_open(&stream, context, &fec->desc, fec->device);
    progress_arrived();
    while (!code && !status && !interrupted() &&
           !(code = read_items(files, fec, files->soft, soft_bytes(fec), READ_BITS, &count))) {
        for (size_t at = 0, taken; at < count && !code && !status; at += taken) {
            status = penstock_stream_push(stream, (const char *)files->soft + at * soft_bytes(fec), count - at, &taken);
            while (!code && !status &&
                   !(status = penstock_stream_pull(stream, files->bits, fec->bytes, false, &given)) && given)
                code = write_items(files, files->bits, 1, given);
        }
        progress_done((double)files->read, "%s", "");
        if (!count)
            break;
    }
    if (!code && !status)
        status = penstock_stream_finish(stream);
    while (!code && !status && !(status = penstock_stream_pull(stream, files->bits, fec->bytes, true, &given)) && given)
        code = write_items(files, files->bits, 1, given);
    penstock_stream_free(stream);
    return status ? fail_status(status) : code;
}

/* ---------------------------------------------------------------- the command ----------------- */

/* What there is, after an interrupt too. */
static int conclude(void *owner)
{
    struct files *files = owner;
    if (!files->written && interrupted())
        return fail(EXIT_DONE, "interrupted before a block was done: nothing is written");
    int code = outfile_close(files->out);
    files->out = NULL;
    if (!code && !(code = outfile_complete()) && strcmp(files->fec->output, "-"))
        printf("%s: %" PRIu64 " %s from %" PRIu64 " %s\n", files->fec->output, files->written,
               files->encodes ? "coded bits" : "bytes", files->read, files->encodes ? "bytes" : "soft bits");
    return interrupt_tell(code);
}

static int on_files(struct fec *fec, bool encodes, bool streams)
{
    penstock_context *context = NULL;
    struct files files = {.fec = fec, .encodes = encodes};
    int code = open_files(&files, fec);
    if (!code && !encodes)
        code = open_context(&context, 0);
    progress_begin(encodes ? "bytes" : "soft bits", 0);
    if (!code) {
        interrupt_conclude_by(conclude, &files, EXIT_DONE);
        code = encodes   ? encode(fec, &files)
               : streams ? decode_stream(fec, &files, context)
                         : decode(fec, &files, context);
        progress_clear();
        if (!code)
            code = interrupt_conclude(conclude, &files);
        interrupt_conclude_by(NULL, NULL, code);
    }
    if (files.in && files.in != stdin)
        fclose(files.in);
    free(files.bits);
    free(files.coded);
    free(files.soft);
    penstock_context_free(context);
    return code;
}

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
    if ((code = set_bits(fec, fec->bits ? fec->bits : streams && strcmp(action, "ber") ? MOST_BITS : USUAL_BITS)))
        return code;
    if (!fec->code && !(fec->code = strdup("wifi")))
        return fail(EXIT_DATA, "out of memory");
    return strcmp(action, "ber") ? on_files(fec, !strcmp(action, "encode"), streams) : fec_ber(fec);
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
        OPTION_WHOLE("bits", 'b', "N", &fec.bits, 1, MOST_BITS, "bits",
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
        OPTION_WHOLE("count", 'n', "N", &fec.count, 1, 1e15, "bits", "ber: bits of a point at most"),
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
    .notes = "A file's last block may be shorter. What is coded without --bits by dvb or ccsds is one block of up to\n"
             "131072 bytes; what is decoded without it is a stream of any length.\n",
    .run = run,
};
