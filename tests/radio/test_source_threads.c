/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Files that all threads of a context read, piece by piece: the same samples, whatever does not come at first. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <unistd.h>

#define SAMPLES 400000
#define SIZE    8 /* of a sample, in bytes */
#define NEVER   -1

static uint8_t bytes[SAMPLES * SIZE], out[SAMPLES * SIZE];
static atomic_int pieces, failing = NEVER; /* calls so far, and which of them fails */

/* In place of the C library's: fails once, or gives less than what is asked for. */
ssize_t pread(int fd, void *to, size_t count, off_t from)
{
    const int call = atomic_fetch_add(&pieces, 1);
    if (call == atomic_load(&failing) && call % 2) {
        errno = EIO;
        return -1;
    }
    return preadv(fd, &(struct iovec){to, call == atomic_load(&failing) ? count / 2 : count}, 1, from);
}

static penstock_source *open_source(penstock_context *context, const char *path)
{
    penstock_source *source = NULL;
    CHECK_OK(penstock_source_open(&source, context, path,
                                  &PENSTOCK_SOURCE_DESC(.raw = true, .format = PENSTOCK_CF32, .rate_hz = 1e6)));
    atomic_store(&pieces, 0);
    memset(out, 0xa5, sizeof out);
    return source;
}

/* Random bytes are not finite here and there. */
static uint64_t count_not_finite(void)
{
    uint64_t count = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        float parts[2];
        memcpy(parts, bytes + i * SIZE, SIZE);
        count += !isfinite(parts[0]) || !isfinite(parts[1]);
    }
    return count;
}

static void any_chunks(penstock_context *context, unsigned threads)
{
    const uint64_t not_finite = count_not_finite();
    static const size_t largest[] = {1, 5000, 16383, 100000, SAMPLES};
    test_write_file("in", bytes, sizeof bytes);
    for (size_t i = threads == 1 ? 1 : 0; i < sizeof largest / sizeof *largest; i++) {
        penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
        penstock_source *source = open_source(context, test_path("in"));
        CHECK_EQ(test_read_source(source, out, SIZE, SAMPLES, largest[i], i), SAMPLES);
        CHECK_OK(penstock_source_get_counters(source, &counters));
        CHECK(counters.not_finite == not_finite && not_finite > 1000, "%llu not finite, not %llu",
              (unsigned long long)counters.not_finite, (unsigned long long)not_finite);
        CHECK(!memcmp(out, bytes, sizeof bytes), "chunks up to %zu, %u threads", largest[i], threads);
        CHECK((pieces > 0) == (threads > 1 && largest[i] > 16383), "%d pieces of chunks up to %zu, %u threads",
              (int)pieces, largest[i], threads);
        penstock_source_free(source);
    }
}

/* What a piece leaves is read again, with all behind it. */
static void pieces_that_fail(penstock_context *context)
{
    int most = 1;
    for (int i = 0; i < most; i++) {
        penstock_source *source = open_source(context, test_path("in"));
        atomic_store(&failing, i);
        CHECK_EQ(test_read_source(source, out, SIZE, SAMPLES, SAMPLES, 1), SAMPLES);
        CHECK(!memcmp(out, bytes, sizeof bytes), "piece %d failed", i);
        most = i ? most : (int)pieces;
        penstock_source_free(source);
    }
    CHECK(most > 4, "%d pieces", most);
    atomic_store(&failing, NEVER);
}

static void shrinking(penstock_context *context)
{
    static const size_t left[] = {0, SIZE * 1000, SIZE * 123456 + 5, SIZE * (SAMPLES - 1) + 7, SIZE * SAMPLES};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        penstock_source_counters counters = PENSTOCK_SOURCE_COUNTERS;
        const size_t samples = left[i] / SIZE > 1000 ? left[i] / SIZE : 1000;
        size_t count;
        test_write_file("in", bytes, sizeof bytes);
        penstock_source *source = open_source(context, test_path("in"));
        CHECK_OK(penstock_source_read(source, out, 1000, &count));
        CHECK(!truncate(test_path("in"), (off_t)left[i]), "truncate");
        CHECK_EQ(count + (size_t)test_read_source(source, out + SIZE * count, SIZE, SAMPLES - count, SAMPLES, i),
                 samples);
        CHECK(!memcmp(out, bytes, samples * SIZE), "%zu bytes left", left[i]);
        CHECK_OK(penstock_source_get_counters(source, &counters));
        CHECK_EQ(counters.missing_samples, SAMPLES - samples);
        CHECK_EQ(counters.trailing_bytes, left[i] % SIZE);
        penstock_source_free(source);
    }
}

/* A file as standard input begins where it is, and who has it next goes on where this one stopped. */
static void standard_input(penstock_context *context)
{
    const size_t skipped = 13, samples = 300000;
    size_t count = 0;
    test_write_file("in", bytes, sizeof bytes);
    int kept = dup(STDIN_FILENO), file = open(test_path("in"), O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO && lseek(file, (off_t)skipped, SEEK_SET) > 0, "input");
    penstock_source *source = open_source(context, "-");
    CHECK_OK(penstock_source_read(source, out, samples, &count));
    CHECK_EQ(count, samples);
    CHECK(!memcmp(out, bytes + skipped, samples * SIZE) && pieces > 4, "standard input in %d pieces", (int)pieces);
    CHECK_EQ(lseek(file, 0, SEEK_CUR), (long long)(skipped + samples * SIZE));
    penstock_source_free(source);
    close(file);
    if (kept >= 0)
        dup2(kept, STDIN_FILENO);
    close(kept);
}

int main(void)
{
    uint64_t seed = 1;
    if (!test_make_folder())
        return test_skip("no folder for temporary files");
    test_random_bytes(bytes, sizeof bytes, &seed);
    for (unsigned threads = 1; threads <= 4; threads++) {
        penstock_context *context;
        CHECK_OK(penstock_context_new(&context, &PENSTOCK_CONTEXT_DESC(.cache_dir = "", .threads = threads)));
        any_chunks(context, threads);
        if (threads > 1)
            pieces_that_fail(context);
        shrinking(context);
        if (threads > 1)
            standard_input(context);
        penstock_context_free(context);
    }
    test_remove_folder();
    return test_finish();
}
