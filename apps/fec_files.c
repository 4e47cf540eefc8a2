/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Convolutional codes of files and pipes: what has come is coded or decoded, and written, before more is waited for. */
#include "fec.h"
#include "shared/interrupt.h"
#include "shared/outfile.h"
#include "shared/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BITS = 1 << 20, LEVEL = 64 };

struct files {
    const struct fec *fec;
    bool encodes, ended;
    int in;
    FILE *out;
    size_t blocks;    /* that are done at once */
    uint8_t *bits;    /* of these, and */
    uint8_t *coded;   /* what is sent of them, */
    void *soft;       /* as soft bits */
    char *buffer;     /* what is read: `bits` or `soft` */
    size_t have;      /* bytes there, */
    size_t used;      /* of which so many are done */
    uint64_t written; /* items */
    uint64_t read;    /* items that are done */
};

static size_t soft_bytes(const struct fec *fec)
{
    return fec->desc.soft == PENSTOCK_SOFT_F32 ? sizeof(float) : 1;
}

/* ---------------------------------------------------------------- files ----------------------- */

static int open_files(struct files *files, const struct fec *fec)
{
    const bool from_stdin = fec->input && !strcmp(fec->input, "-");
    int code = EXIT_DONE;
    if (!fec->input || !fec->output)
        return fail(EXIT_USAGE, "fec: --%s is missing: a file, or - for standard %s", fec->input ? "output" : "input",
                    fec->input ? "output" : "input");
    files->in = from_stdin ? STDIN_FILENO : open(fec->input, O_RDONLY | O_CLOEXEC);
    if (files->in < 0)
        return fail(EXIT_DATA, "%s: %s", fec->input, strerror(errno));
    files->blocks = (READ_BITS + fec->desc.bits - 1) / fec->desc.bits;
    files->bits = calloc(files->blocks, fec->bytes);
    files->coded = calloc(files->blocks, fec->sent);
    files->soft = calloc(files->blocks * fec->sent, soft_bytes(fec));
    if (!files->bits || !files->coded || !files->soft)
        return fail(EXIT_DATA, "out of memory");
    files->buffer = files->encodes ? (char *)files->bits : files->soft;
    if (!from_stdin && (code = outfile_protect(fec->input)))
        return code;
    interrupt_hold();
    code = outfile_open(&files->out, fec->output);
    interrupt_release();
    return code;
}

static void close_files(struct files *files)
{
    if (files->in > STDIN_FILENO)
        close(files->in);
    free(files->bits);
    free(files->coded);
    free(files->soft);
}

/* Of `read` items, which are done with these. */
static int write_items(struct files *files, const void *items, size_t bytes, size_t count, size_t read)
{
    interrupt_hold();
    fwrite(items, bytes, count, files->out);
    int code = outfile_check(files->out);
    files->written += count;
    files->read += read;
    interrupt_release();
    return code;
}

static bool is_there(int in)
{
    return poll(&(struct pollfd){.fd = in, .events = POLLIN}, 1, 0) > 0;
}

/* Bytes up to `room`; once there are `least`, no more than have come. */
static int read_bytes(struct files *files, size_t least, size_t room)
{
    while (files->have < room && !files->ended && (files->have < least || is_there(files->in))) {
        ssize_t got = read(files->in, files->buffer + files->have, room - files->have);
        if (got < 0 && errno != EINTR)
            return fail(EXIT_DATA, "%s: %s", files->fec->input, strerror(errno));
        files->ended = got == 0;
        files->have += got > 0 ? (size_t)got : 0;
    }
    return EXIT_DONE;
}

/* The next whole units, as many as `most`, at buffer[0], but for the first `before` bytes, which stay; without one the
 * input has ended with files->have bytes there. */
static int read_units(struct files *files, size_t before, size_t unit, size_t most, size_t *units)
{
    memmove(files->buffer + before, files->buffer + files->used, files->have - files->used);
    files->have = before + files->have - files->used;
    int code = read_bytes(files, before + unit, before + most * unit);
    *units = (files->have - before) / unit;
    files->used = before + *units * unit;
    return code;
}

/* ---------------------------------------------------------------- encode ---------------------- */

/* `count` coded bits from `first` on, of `bytes` that were read. */
static int write_coded(struct files *files, const struct fec *fec, size_t first, size_t count, size_t bytes)
{
    const uint8_t *coded = files->coded + first;
    for (size_t i = 0; i < count; i++)
        if (fec->desc.soft == PENSTOCK_SOFT_F32)
            ((float *)files->soft)[i] = coded[i] ? -1.0F : 1.0F;
        else if (fec->desc.soft == PENSTOCK_SOFT_S8)
            ((int8_t *)files->soft)[i] = coded[i] ? -LEVEL : LEVEL;
        else
            ((uint8_t *)files->soft)[i] = coded[i];
    return write_items(files, files->soft, soft_bytes(fec), count, bytes);
}

static int encode_blocks(struct files *files, const struct fec *fec, size_t blocks)
{
    int status = penstock_viterbi_encode(&fec->desc, files->coded, files->bits, blocks);
    return status ? fail_status(status) : write_coded(files, fec, 0, blocks * fec->sent, blocks * fec->bytes);
}

/* The last block may be a shorter one, of whole bytes. */
static int encode(struct fec *fec, struct files *files)
{
    size_t blocks = 0;
    int code;
    while (!(code = read_units(files, 0, fec->bytes, files->blocks, &blocks)) && blocks && !interrupted()) {
        if ((code = encode_blocks(files, fec, blocks)))
            return code;
        progress_done((double)files->read, "%s", "");
    }
    if (!code && !blocks && files->have && !(code = fec_set_bits(fec, 8 * files->have)))
        code = encode_blocks(files, fec, 1);
    return code;
}

/* `bytes` of a stream behind `before` that are coded already. */
static int encode_behind(struct files *files, const struct fec *fec, size_t before, size_t bytes)
{
    penstock_viterbi_desc desc = fec->desc;
    size_t first = 0, end = 0;
    int status = PENSTOCK_OK;
    if ((desc.bits = 8 * before))
        status = penstock_viterbi_sent(&first, &desc);
    desc.bits = 8 * (before + bytes);
    if (!status && !(status = penstock_viterbi_sent(&end, &desc)))
        status = penstock_viterbi_encode(&desc, files->coded, files->bits, 1);
    return status ? fail_status(status) : write_coded(files, fec, first, end - first, bytes);
}

/* Piece by piece, each behind as many bytes of the one before it as bring the puncturing pattern to its beginning: more
 * bits than the code remembers. */
static int encode_stream(const struct fec *fec, struct files *files)
{
    size_t generators = 0, units = 0, before = 0;
    int code;
    while (generators < PENSTOCK_MAX_GENERATORS && fec->desc.generators[generators])
        generators++;
    const size_t unit = fec->desc.puncture ? strlen(fec->desc.puncture) / generators : 1;
    const size_t most = FEC_MOST_BITS / 8 / unit - 1;
    while (!(code = read_units(files, before, unit, most, &units)) && units && !interrupted()) {
        if ((code = encode_behind(files, fec, before, units * unit)))
            return code;
        before = unit;
        memmove(files->bits, files->bits + files->used - unit, unit);
        progress_done((double)files->read, "%s", "");
    }
    return !code && !units && files->have > before ? encode_behind(files, fec, before, files->have - before) : code;
}

/* ---------------------------------------------------------------- decode ---------------------- */

/* The bits of a last, shorter block. */
static int find_rest(struct fec *fec, size_t bytes)
{
    const size_t most = fec->desc.bits, soft = bytes / soft_bytes(fec);
    for (size_t bits = 8; bits < most && bytes % soft_bytes(fec) == 0; bits += 8) {
        int code = fec_set_bits(fec, bits);
        if (code || fec->sent == soft)
            return code;
    }
    return fail(EXIT_DATA, "%s: the last %zu soft bits are no block of %s, of whole bytes", fec->input, soft,
                fec->code);
}

static int decode_blocks(struct files *files, const struct fec *fec, penstock_plan *plan, size_t blocks)
{
    int status = penstock_plan_run(plan, files->soft, files->bits, blocks);
    return status ? fail_status(status) : write_items(files, files->bits, 1, blocks * fec->bytes, blocks * fec->sent);
}

static int make_plan(penstock_plan **plan, penstock_context *context, const struct fec *fec)
{
    progress_wait(PROGRESS_PLAN);
    int status = penstock_viterbi_plan(plan, context, &fec->desc, fec->device);
    progress_arrived();
    return status ? fail_status(status) : EXIT_DONE;
}

static int decode(struct fec *fec, struct files *files, penstock_context *context)
{
    penstock_plan *plan = NULL;
    size_t blocks = 0;
    int code = make_plan(&plan, context, fec);
    while (!code && !(code = read_units(files, 0, fec->sent * soft_bytes(fec), files->blocks, &blocks)) && blocks &&
           !interrupted()) {
        code = decode_blocks(files, fec, plan, blocks);
        progress_done((double)files->read, "%s", "");
    }
    penstock_plan_free(plan);
    plan = NULL;
    if (!code && !blocks && files->have && !(code = find_rest(fec, files->have)) &&
        !(code = make_plan(&plan, context, fec)))
        code = decode_blocks(files, fec, plan, 1);
    penstock_plan_free(plan);
    return code;
}

/* What is ready, of `read` soft bits. */
static int pull(struct files *files, penstock_stream *stream, bool wait, size_t read)
{
    size_t given = 1;
    int code = EXIT_DONE, status = PENSTOCK_OK;
    while (!code && given) {
        if ((status = penstock_stream_pull(stream, files->bits, files->fec->bytes, wait, &given)))
            return fail_status(status);
        code = write_items(files, files->bits, 1, given, read);
        read = 0;
    }
    return code;
}

static int push(struct files *files, penstock_stream *stream, size_t count)
{
    const size_t bytes = soft_bytes(files->fec);
    int code = EXIT_DONE;
    for (size_t at = 0, taken = 0; at < count && !code; at += taken) {
        int status = penstock_stream_push(stream, (const char *)files->soft + at * bytes, count - at, &taken);
        code = status ? fail_status(status) : pull(files, stream, false, taken);
    }
    return code;
}

/* What has no blocks. A decoder's window of bits is given as soon as it can be, where they come slowly. */
static int decode_stream(struct fec *fec, struct files *files, penstock_context *context)
{
    const double latency_s = 0.1;
    penstock_stream *stream = NULL;
    size_t count = 0;
    fec->desc.bits = 0;
    progress_wait(PROGRESS_PLAN);
    int status = penstock_viterbi_stream_open(&stream, context, &fec->desc, fec->device), code = EXIT_DONE;
    progress_arrived();
    if (!status)
        status = penstock_stream_set_max_latency(stream, latency_s);
    while (!status && !code && !(code = read_units(files, 0, soft_bytes(fec), READ_BITS, &count)) && count &&
           !interrupted()) {
        code = push(files, stream, count);
        progress_done((double)files->read, "%s", "");
    }
    if (!status && !code && !(status = penstock_stream_finish(stream)))
        code = pull(files, stream, true, 0);
    penstock_stream_free(stream);
    return status ? fail_status(status) : code;
}

/* ---------------------------------------------------------------- both ------------------------ */

/* What there is, after an interrupt too. */
static int conclude(void *owner)
{
    struct files *files = owner;
    if (!files->written && interrupted())
        return fail(EXIT_DONE, "interrupted before a block was done: nothing is written");
    int code = outfile_close(files->out);
    files->out = NULL;
    if (!code && !(code = outfile_complete()) && !outfile_is_stdout(files->fec->output))
        printf("%s: %" PRIu64 " %s from %" PRIu64 " %s\n", files->fec->output, files->written,
               files->encodes ? "coded bits" : "bytes", files->read, files->encodes ? "bytes" : "soft bits");
    return interrupt_tell(code);
}

static int run_files(struct files *files, struct fec *fec, bool streams, penstock_context *context)
{
    if (files->encodes)
        return streams ? encode_stream(fec, files) : encode(fec, files);
    return streams ? decode_stream(fec, files, context) : decode(fec, files, context);
}

int fec_files(struct fec *fec, bool encodes, bool streams)
{
    penstock_context *context = NULL;
    struct files files = {.fec = fec, .encodes = encodes, .in = -1};
    int code = open_files(&files, fec);
    if (!code && !encodes)
        code = open_context(&context, 0);
    progress_begin(encodes ? "bytes" : "soft bits", 0);
    if (!code) {
        interrupt_conclude_by(conclude, &files, EXIT_DONE);
        code = run_files(&files, fec, streams, context);
        progress_clear();
        if (!code)
            code = interrupt_conclude(conclude, &files);
        interrupt_conclude_by(NULL, NULL, code);
    }
    close_files(&files);
    penstock_context_free(context);
    return code;
}
