/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Recordings through POSIX files. Waiting is done in poll() with a time limit, so that a stop is noticed. */
#include "radio/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS     100
#define READ_BYTES  ((size_t)16 << 20) /* between two looks at `stop` */
#define LEAST_BYTES ((size_t)64 << 10) /* that one of several threads reads */
#define MOST_BYTES  ((size_t)512 << 10)
#define PAGE_BYTES  4096

static int system_error(const struct penstock__recording *recording, const char *what)
{
    char text[128];
    return penstock__error(PENSTOCK_ERR_FILE, "cannot %s '%s': %s", what, recording->name,
                           strerror_r(errno, text, sizeof text));
}

static int open_descriptor(struct penstock__recording *recording, const char *path)
{
    if (recording->standard_input) {
        recording->fd = STDIN_FILENO;
        return PENSTOCK_OK;
    }
    do
        recording->fd = open(path, O_RDONLY | O_CLOEXEC);
    while (recording->fd < 0 && errno == EINTR);
    return recording->fd < 0 ? system_error(recording, "open") : PENSTOCK_OK;
}

/* A regular file: where its samples begin and end. */
static int find_samples(struct penstock__recording *recording, uint64_t size, uint64_t skip, uint64_t trailing)
{
    off_t here = recording->standard_input ? lseek(recording->fd, 0, SEEK_CUR) : 0;
    if (here > 0)
        size = (uint64_t)here < size ? size - (uint64_t)here : 0;
    if (!size)
        return penstock__error(PENSTOCK_ERR_FILE, "'%s' is empty", recording->name);
    if (skip >= size || trailing >= size - skip)
        return penstock__error(PENSTOCK_ERR_FORMAT,
                               "'%s' has %llu bytes, but its metadata says that %llu in front and %llu at the end are "
                               "no samples",
                               recording->name, (unsigned long long)size, (unsigned long long)skip,
                               (unsigned long long)trailing);
    if (skip && lseek(recording->fd, (off_t)skip, SEEK_SET) < 0)
        return system_error(recording, "read");
    recording->bytes_left = size - skip - trailing;
    return PENSTOCK_OK;
}

int penstock__recording_open(struct penstock__recording *recording, const char *path, size_t sample_bytes,
                             uint64_t skip_bytes, uint64_t trailing_bytes, uint64_t *bytes)
{
    struct stat status;
    int result;
    *recording = (struct penstock__recording){.fd = -1, .sample_bytes = sample_bytes, .bytes_left = UINT64_MAX};
    recording->standard_input = !strcmp(path, "-");
    snprintf(recording->name, sizeof recording->name, "%s", recording->standard_input ? "standard input" : path);
    *bytes = 0;
    if ((result = open_descriptor(recording, path)))
        return result;
    if (fstat(recording->fd, &status))
        result = system_error(recording, "read");
    else if (S_ISDIR(status.st_mode))
        result = penstock__error(PENSTOCK_ERR_FILE, "'%s' is a directory, not a recording", recording->name);
    else if (!S_ISREG(status.st_mode))
        recording->stream = true;
    else
        result = find_samples(recording, (uint64_t)status.st_size, skip_bytes, trailing_bytes);
    if (!result && recording->stream && (skip_bytes || trailing_bytes))
        result =
            penstock__error(PENSTOCK_ERR_FORMAT, "'%s' is not a file in which bytes can be left out", recording->name);
    if (result)
        penstock__recording_close(recording);
    else if (!recording->stream)
        *bytes = recording->bytes_left;
    return result;
}

/* Waits until a stream has something to read: 1, or 0 when the time is over. */
static bool readable(const struct penstock__recording *recording)
{
    struct pollfd wait = {.fd = recording->fd, .events = POLLIN};
    return !recording->stream || poll(&wait, 1, WAIT_MS) > 0;
}

/* A part of a file, piece by piece. */
struct reading {
    int fd;
    uint8_t *to;
    off_t from;
    size_t bytes, piece;
    atomic_size_t good; /* pieces before the first one that did not come whole */
};

static void read_piece(void *argument, size_t index, unsigned worker)
{
    struct reading *reading = argument;
    const size_t at = index * reading->piece, left = reading->bytes - at,
                 bytes = left < reading->piece ? left : reading->piece;
    size_t good;
    (void)worker;
    if (pread(reading->fd, reading->to + at, bytes, reading->from + (off_t)at) == (ssize_t)bytes)
        return;
    good = atomic_load(&reading->good);
    while (index < good && !atomic_compare_exchange_weak(&reading->good, &good, index))
        ;
}

/* What the system has in memory takes a copy, and that is for all threads; what it has not, it may fetch in any order.
 * How many bytes have come: 0 where there are few, or one read() is to tell what is wrong. */
static size_t read_together(const struct penstock__recording *recording, penstock_context *context, uint8_t *to,
                            size_t bytes)
{
    struct reading reading = {.fd = recording->fd, .to = to, .bytes = bytes};
    if (recording->stream || !context || penstock__threads(context) == 1 || bytes < 2 * LEAST_BYTES ||
        (reading.from = lseek(recording->fd, 0, SEEK_CUR)) < 0)
        return 0;
    reading.piece = penstock__round_up(penstock__fair_share(context, bytes, LEAST_BYTES, MOST_BYTES), PAGE_BYTES);
    const size_t pieces = (bytes + reading.piece - 1) / reading.piece;
    atomic_init(&reading.good, pieces);
    penstock__parallel(context, pieces, read_piece, &reading);
    const size_t good = atomic_load(&reading.good), whole = good < pieces ? good * reading.piece : bytes;
    return lseek(recording->fd, reading.from + (off_t)whole, SEEK_SET) < 0 ? 0 : whole;
}

static ssize_t read_some(const struct penstock__recording *recording, penstock_context *context, uint8_t *to,
                         size_t bytes)
{
    const size_t together = read_together(recording, context, to, bytes);
    return together || !bytes ? (ssize_t)together : read(recording->fd, to, bytes);
}

/* Bytes of a sample whose others are still to come. */
static void keep_partial(struct penstock__recording *recording, const uint8_t *from, size_t bytes)
{
    memcpy(recording->partial, from, bytes);
    recording->partial_bytes = bytes;
}

int penstock__recording_read(struct penstock__recording *recording, penstock_context *context, void *samples,
                             size_t capacity, size_t *count, const atomic_bool *stop)
{
    const size_t sample_bytes = recording->sample_bytes;
    size_t wanted =
        capacity > SIZE_MAX / sample_bytes ? SIZE_MAX / sample_bytes * sample_bytes : capacity * sample_bytes;
    size_t have = recording->partial_bytes;
    uint8_t *to = samples;

    *count = 0;
    memcpy(to, recording->partial, have);
    while (have < wanted && !recording->ended && !atomic_load(stop)) {
        size_t chunk = wanted - have < READ_BYTES ? wanted - have : READ_BYTES;
        ssize_t got;
        if (chunk > recording->bytes_left)
            chunk = (size_t)recording->bytes_left;
        if (!readable(recording))
            continue;
        got = read_some(recording, context, to + have, chunk);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0 && have < sample_bytes) {
            keep_partial(recording, to, have);
            return system_error(recording, "read");
        }
        if (got < 0)
            break; /* what came before the error goes out; the next read meets the error again */
        recording->ended = got == 0;
        recording->bytes_left -= (uint64_t)got;
        have += (size_t)got;
        if (recording->stream && have >= sample_bytes)
            break;
    }
    if (!have && recording->ended && recording->bytes_left == UINT64_MAX)
        return penstock__error(PENSTOCK_ERR_FILE, "'%s' is empty", recording->name);
    *count = have / sample_bytes;
    keep_partial(recording, to + *count * sample_bytes, have % sample_bytes);
    return PENSTOCK_OK;
}

uint64_t penstock__recording_missing(const struct penstock__recording *recording)
{
    return recording->stream ? 0 : (recording->bytes_left + recording->partial_bytes) / recording->sample_bytes;
}

void penstock__recording_close(struct penstock__recording *recording)
{
    if (recording->fd >= 0 && !recording->standard_input)
        close(recording->fd);
    recording->fd = -1;
}
