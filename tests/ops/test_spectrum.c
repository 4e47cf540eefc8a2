/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The spectrum stream against what its header says, vector by vector in double precision, on each device; and the same
 * bits for any split into pushes and pulls, at any latency, after a reset.
 */
#include "fft_emulation.h"
#include "test.h"

static int executed, prepared;

struct setting {
    const char *name;
    penstock_spectrum_desc desc;
    size_t total; /* samples pushed */
};

#define DESC(...) PENSTOCK_SPECTRUM_DESC(__VA_ARGS__)

static const struct setting *settings(size_t *count)
{
    static struct setting all[40];
    const struct setting list[] = {
        {"plain", DESC(.n = 64), 64 * 5000 + 63},
        {"one short of a transform", DESC(.n = 64), 63},
        {"overlap 1", DESC(.n = 64, .hop = 1, .window = "hann"), 20000},
        {"overlap half, power", DESC(.n = 256, .hop = 128, .window = "blackman", .output = PENSTOCK_OUTPUT_POWER),
         99999},
        {"overlap odd, cs16", DESC(.n = 100, .hop = 37, .format = PENSTOCK_CS16, .centered = true), 30000},
        {"gap, cs8", DESC(.n = 32, .hop = 75, .format = PENSTOCK_CS8, .window = "hamming"), 32 * 75 * 80 + 33},
        {"gap 64 n", DESC(.n = 16, .hop = 1024, .scale = 0.25f), 1024 * 300 + 17},
        {"cu8, decibel", DESC(.n = 128, .hop = 100, .format = PENSTOCK_CU8, .output = PENSTOCK_OUTPUT_DECIBEL), 40000},
        {"planar", DESC(.n = 60, .hop = 45, .format = PENSTOCK_PLANAR), 20000},
        {"real", DESC(.n = 90, .hop = 30, .format = PENSTOCK_F32, .window = "kaiser:8"), 20000},
        {"real, odd, power", DESC(.n = 45, .format = PENSTOCK_F32, .output = PENSTOCK_OUTPUT_POWER), 20000},
        {"average", DESC(.n = 64, .hop = 48, .output = PENSTOCK_OUTPUT_POWER, .average = 7), 50000},
        {"average, overlap",
         DESC(.n = 512, .hop = 256, .window = "hann", .output = PENSTOCK_OUTPUT_DECIBEL, .average = 16), 60000},
        {"average, no overlap", DESC(.n = 64, .output = PENSTOCK_OUTPUT_POWER, .average = 7), 30000},
        {"average, overlap of many",
         DESC(.n = 64, .hop = 8, .window = "hann", .output = PENSTOCK_OUTPUT_POWER, .average = 4), 9999},
        {"average of many", DESC(.n = 16, .hop = 4, .output = PENSTOCK_OUTPUT_DECIBEL, .average = 300000), 1300000},
        {"one sample", DESC(.n = 1, .hop = 3), 1000},
        {"large", DESC(.n = 1 << 20, .hop = 1 << 19, .window = "nuttall"), 5 << 19},
        {"flush", DESC(.n = 64, .flush_partial = true), 64 * 10 + 1},
        {"flush, short", DESC(.n = 64, .hop = 16, .flush_partial = true), 5},
        {"flush, nothing left", DESC(.n = 64, .hop = 16, .flush_partial = true), 64 + 16 * 9},
        {"flush, overlap", DESC(.n = 64, .hop = 16, .flush_partial = true, .window = "hann"), 64 + 16 * 9 + 1},
        {"flush, end in a gap", DESC(.n = 64, .hop = 100, .flush_partial = true), 100 * 9 + 80},
        {"flush, end behind a gap", DESC(.n = 64, .hop = 100, .flush_partial = true), 100 * 9 + 3},
        {"flush, cu8", DESC(.n = 64, .format = PENSTOCK_CU8, .flush_partial = true), 64 * 3 + 9},
        {"flush, average",
         DESC(.n = 32, .hop = 20, .flush_partial = true, .average = 5, .output = PENSTOCK_OUTPUT_DECIBEL), 20 * 22 + 1},
        {"flush, average, whole", DESC(.n = 32, .flush_partial = true, .average = 4, .output = PENSTOCK_OUTPUT_POWER),
         32 * 16},
        {"decay", DESC(.n = 64, .hop = 48, .output = PENSTOCK_OUTPUT_POWER, .decay = 0.1), 20000},
        {"decay, average, decibel",
         DESC(.n = 64, .hop = 32, .window = "hann", .output = PENSTOCK_OUTPUT_DECIBEL, .average = 3, .decay = 0.003),
         40000},
        {"decay, gap", DESC(.n = 32, .hop = 75, .format = PENSTOCK_CS8, .output = PENSTOCK_OUTPUT_DECIBEL, .decay = 1),
         9000},
        {"decay, flush, average",
         DESC(.n = 32, .hop = 20, .flush_partial = true, .average = 5, .decay = 0.5, .output = PENSTOCK_OUTPUT_DECIBEL),
         20 * 22 + 1},
        {"decay, average of many",
         DESC(.n = 16, .hop = 4, .output = PENSTOCK_OUTPUT_POWER, .average = 300000, .decay = 0.25), 3700000},
        {"two-sided, decay",
         DESC(.n = 90, .hop = 30, .format = PENSTOCK_F32, .two_sided = true, .centered = true,
              .output = PENSTOCK_OUTPUT_POWER, .decay = 0.2),
         20000},
        {"two-sided", DESC(.n = 45, .format = PENSTOCK_F32, .two_sided = true), 20000},
        {"channels", DESC(.n = 64, .hop = 40, .window = "hann", .centered = true, .channels = 5), 3000},
        {"channels, average, cs16",
         DESC(.n = 32, .hop = 20, .window = "blackman", .format = PENSTOCK_CS16, .output = PENSTOCK_OUTPUT_POWER,
              .average = 3, .centered = true, .channels = 64),
         2000},
        {"channels, decay", DESC(.n = 45, .output = PENSTOCK_OUTPUT_DECIBEL, .decay = 0.25, .channels = 8), 4000},
        {"flush, empty", DESC(.n = 32, .flush_partial = true, .average = 4, .output = PENSTOCK_OUTPUT_POWER), 0},
    };
    memcpy(all, list, sizeof list);
    *count = sizeof list / sizeof list[0];
    return all;
}

/* ---------------------------------------------------------------- what the header says -------- */

static size_t hop_of(const struct setting *s)
{
    return s->desc.hop ? s->desc.hop : s->desc.n;
}

/* Counted one by one. */
static size_t expected_transforms(const struct setting *s)
{
    size_t transforms = 0, covered = 0;
    while (transforms * hop_of(s) + s->desc.n <= s->total)
        covered = transforms++ * hop_of(s) + s->desc.n;
    size_t next = transforms * hop_of(s);
    if (s->desc.flush_partial && s->total > covered && s->total > next)
        transforms++;
    return transforms;
}

static size_t expected_vectors(const struct setting *s)
{
    size_t transforms = expected_transforms(s), average = s->desc.average ? s->desc.average : 1;
    return transforms / average + (s->desc.flush_partial && transforms % average);
}

static size_t channels_of(const struct setting *s)
{
    return s->desc.channels ? s->desc.channels : 1;
}

/* Of channel c, whose values are every so many of the samples, and of the vector. */
static void emulate_channel(double *want, const struct setting *s, const float *window, const void *samples,
                            size_t vector, size_t length, size_t c)
{
    const penstock_spectrum_desc *d = &s->desc;
    size_t average = d->average ? d->average : 1, transforms = expected_transforms(s), n = d->n,
           first = vector * average, channels = channels_of(s);
    size_t count = transforms - first < average ? transforms - first : average;
    double complex *bins = malloc(n * sizeof *bins);
    for (size_t t = first; t < first + count; t++) {
        for (size_t j = 0; j < n; j++) {
            size_t at = t * hop_of(s) + j;
            bins[j] = at < s->total ? emulated_sample(samples, d->format, at * channels + c, s->total * channels) *
                                          (double)window[j]
                                    : 0;
        }
        CHECK_OK(penstock__dft((double *)(void *)bins, n, PENSTOCK_FORWARD));
        for (size_t k = 0; k < length / channels; k++) {
            double complex x = bins[d->centered ? (k + n - n / 2) % n : k] * (d->scale != 0 ? (double)d->scale : 1);
            const size_t to = k * channels + c;
            if (d->output == PENSTOCK_OUTPUT_COMPLEX) {
                want[2 * to] = creal(x);
                want[2 * to + 1] = cimag(x);
            } else {
                want[to] += (creal(x) * creal(x) + cimag(x) * cimag(x)) / (double)count;
            }
        }
    }
    free(bins);
}

static void emulate_vector(double *want, const struct setting *s, const float *window, const void *samples,
                           size_t vector, size_t length)
{
    memset(want, 0, 2 * length * sizeof *want);
    for (size_t c = 0; c < channels_of(s); c++)
        emulate_channel(want, s, window, samples, vector, length, c);
}

/* The mean in the place of a vector of powers. */
static void emulate_decay(double *mean, double *want, size_t length, double decay)
{
    for (size_t k = 0; k < length; k++)
        want[k] = mean[k] = decay * want[k] + (1 - decay) * mean[k];
}

static double vector_error(const penstock_spectrum_desc *desc, const float *got, const double *want, size_t values)
{
    double error = 0, norm = 0;
    for (size_t i = 0; i < values; i++) {
        double value = desc->output == PENSTOCK_OUTPUT_DECIBEL ? pow(10, (double)got[i] / 10) : (double)got[i];
        error += (value - want[i]) * (value - want[i]);
        norm += want[i] * want[i];
    }
    return sqrt(error / norm);
}

/* ---------------------------------------------------------------- driving a stream ------------ */

struct drive {
    uint64_t seed;    /* of the sizes of pushes and pulls; 0: as large as they can be */
    size_t most;      /* samples of a push */
    bool wait, touch; /* wait in pulls; pull after every push */
    bool both;        /* push and pull in one call */
    bool ahead;       /* and transforms of a vector are done ahead, as long as it is not complete */
    bool mixed;       /* or not, by chance */
};

static const void *sample_at(const struct setting *s, const void *samples, size_t at, size_t count, float *planar)
{
    if (s->desc.format != PENSTOCK_PLANAR)
        return (const char *)samples + at * channels_of(s) * penstock_format_bytes(s->desc.format);
    memcpy(planar, (const float *)samples + at, count * sizeof *planar);
    memcpy(planar + count, (const float *)samples + s->total + at, count * sizeof *planar);
    return planar;
}

/* Transforms ahead with the `count` samples from `at` on, `got` vectors having come: how many were taken, and whether
 * the others are to be kept until there are more. */
static size_t run_ahead(penstock_stream *spectrum, const struct setting *s, const void *samples, size_t at,
                        size_t count, size_t got, bool *keep)
{
    size_t hop = hop_of(s), step = s->desc.average * hop, end = got * step + step - hop + s->desc.n;
    size_t taken = count + 1, wanted = 1;
    CHECK_OK(penstock_spectrum_prepare(spectrum, samples, count, &taken, &wanted));
    *keep = wanted && at + count < end && at + count < s->total;
    if (!wanted) {
        CHECK_EQ(taken, 0);
        return 0;
    }
    prepared += taken > 0;
    CHECK_EQ(wanted, s->desc.n);
    CHECK(taken <= count && (at + taken) % hop == 0 && at + taken < end, "%s: %zu taken at %zu", s->name, taken, at);
    CHECK(count - taken < wanted || at + taken + wanted >= end, "%s: %zu of %zu taken at %zu", s->name, taken, count,
          at);
    return taken;
}

static size_t length_of(const struct setting *s)
{
    return s->desc.format == PENSTOCK_F32 && !s->desc.two_sided ? s->desc.n / 2 + 1 : s->desc.n * channels_of(s);
}

static size_t value_bytes_of(const struct setting *s)
{
    return s->desc.output == PENSTOCK_OUTPUT_COMPLEX ? 8 : 4;
}

/* All vectors of the stream to `vectors`, which has room for `capacity`; how many came. */
static size_t run(penstock_stream *spectrum, const struct setting *s, const void *samples, char *vectors,
                  size_t capacity, struct drive drive)
{
    size_t bytes = length_of(s) * value_bytes_of(s), at = 0, got = 0, count;
    float *planar = malloc((2 * s->total + 1) * sizeof *planar);
    size_t kept = 0;
    bool emptied = true;
    while (at < s->total) {
        size_t push = drive.seed ? test_random(&drive.seed) % drive.most : s->total, taken;
        size_t pull = drive.seed ? test_random(&drive.seed) % 9 : capacity;
        push += kept;
        push = push < s->total - at ? push : s->total - at;
        kept = 0;
        if (drive.ahead && !(drive.mixed && test_random(&drive.seed) % 16 == 0)) {
            bool keep;
            size_t done = run_ahead(spectrum, s, sample_at(s, samples, at, push, planar), at, push, got, &keep);
            at += done;
            push -= done;
            if (keep) {
                kept = push;
                continue;
            }
        }
        if (drive.both) {
            pull = pull < capacity - got ? pull : capacity - got;
            CHECK_OK(penstock_stream_run(spectrum, sample_at(s, samples, at, push, planar), push, &taken,
                                         vectors + got * bytes, pull, &count));
            at += taken;
            got += count;
            continue;
        }
        CHECK_OK(penstock_stream_push(spectrum, sample_at(s, samples, at, push, planar), push, &taken));
        at += taken;
        bool full = taken < push;
        if (full && !pull)
            pull = 1;
        CHECK(taken || !full || !emptied, "%s: no room after pulling", s->name);
        if (!taken && full && emptied)
            break;
        do {
            pull = pull < capacity - got ? pull : capacity - got;
            count = 0;
            if (full || drive.touch)
                CHECK_OK(penstock_stream_pull(spectrum, vectors + got * bytes, pull, drive.wait, &count));
            got += count;
        } while (full && count);
        emptied = full;
    }
    CHECK_OK(penstock_stream_finish(spectrum));
    do {
        size_t pull = drive.seed ? 1 + test_random(&drive.seed) % 5 : capacity;
        pull = pull < capacity - got ? pull : capacity - got;
        CHECK_OK(penstock_stream_pull(spectrum, vectors + got * bytes, pull, false, &count));
        got += count;
    } while (count);
    free(planar);
    return got;
}

static void *make_samples(const struct setting *s)
{
    size_t bytes = (s->total + 1) * channels_of(s) * penstock_format_bytes(s->desc.format);
    bool floats =
        s->desc.format == PENSTOCK_CF32 || s->desc.format == PENSTOCK_PLANAR || s->desc.format == PENSTOCK_F32;
    void *samples = calloc(1, bytes);
    uint64_t seed = s->total;
    for (size_t i = 0; i < (floats ? bytes / sizeof(float) : bytes); i++)
        if (floats)
            ((float *)samples)[i] = (float)test_uniform(&seed);
        else
            ((unsigned char *)samples)[i] = (unsigned char)test_random(&seed);
    return samples;
}

static void check_values(const struct setting *s, const char *device, const void *samples, const char *vectors,
                         size_t count, size_t length, size_t value_bytes)
{
    size_t values = s->desc.output == PENSTOCK_OUTPUT_COMPLEX ? 2 * length : length;
    float *window = malloc(s->desc.n * sizeof *window);
    double *want = malloc(2 * length * sizeof *want), *mean = calloc(length, sizeof *mean),
           bound = 1e-7 * sqrt(log2((double)s->desc.n) + 1);
    CHECK_OK(penstock_window_fill(window, s->desc.n, s->desc.window ? s->desc.window : "rectangular"));
    bound *= strcmp(device, "reference") ? 1 : 6;
    bound *= s->desc.output == PENSTOCK_OUTPUT_COMPLEX ? 1 : 2; /* a square */
    if (s->desc.output == PENSTOCK_OUTPUT_DECIBEL)
        bound += 2e-5; /* a float of 100 dB is good to 1e-5 dB */
    for (size_t i = 0; i < count; i++) {
        if (count > 60 && i > 2 && i + 3 < count && i % 37 && s->desc.decay == 0)
            continue; /* a sample of them */
        emulate_vector(want, s, window, samples, i, length);
        if (s->desc.decay != 0)
            emulate_decay(mean, want, length, s->desc.decay);
        double error =
            vector_error(&s->desc, (const float *)(const void *)(vectors + i * length * value_bytes), want, values);
        CHECK(error < bound, "%s on %s: vector %zu of %zu is off by %.3g", s->name, device, i, count, error);
    }
    free(window);
    free(want);
    free(mean);
}

static void check_setting(penstock_context *context, const struct setting *s, const char *device)
{
    static const struct drive drives[] = {{.seed = 0},
                                          {.seed = 1, .most = 50, .wait = true, .touch = true},
                                          {.seed = 2, .most = 3000, .touch = true},
                                          {.seed = 3, .most = 100000},
                                          {.seed = 4, .most = 2, .touch = true},
                                          {.seed = 0, .both = true},
                                          {.seed = 5, .most = 50, .both = true},
                                          {.seed = 6, .most = 3000, .both = true},
                                          {.seed = 7, .most = 100000, .both = true},
                                          {.seed = 8, .most = 50, .both = true, .ahead = true},
                                          {.seed = 9, .most = 1000, .both = true, .ahead = true},
                                          {.seed = 10, .most = 50, .both = true, .ahead = true, .mixed = true},
                                          {.seed = 11, .most = 1000, .both = true, .ahead = true, .mixed = true}};
    penstock_stream *spectrum = NULL;
    void *samples = make_samples(s);
    size_t expected = expected_vectors(s), capacity = expected + 3;
    int status = penstock_spectrum_open(&spectrum, context, &s->desc, device);
    if (status == PENSTOCK_ERR_UNSUPPORTED || status == PENSTOCK_ERR_NO_DEVICE) {
        free(samples);
        return;
    }
    CHECK(!status, "%s on %s: %s", s->name, device, penstock_error_text());
    if (status) {
        free(samples);
        return;
    }
    executed++;
    size_t length = length_of(s), value_bytes = value_bytes_of(s);
    penstock_stream_info info = PENSTOCK_STREAM_INFO;
    CHECK_OK(penstock_stream_get_info(spectrum, &info));
    CHECK_EQ(info.out_bytes, length * value_bytes);
    char *first = calloc(capacity, length * value_bytes), *again = calloc(capacity, length * value_bytes);
    for (size_t d = 0; d < sizeof drives / sizeof drives[0]; d++) {
        if (s->total > 100000 && drives[d].most && drives[d].most < 100)
            continue;
        size_t got = run(spectrum, s, samples, d ? again : first, capacity, drives[d]);
        CHECK(got == expected, "%s on %s: %zu vectors, expected %zu", s->name, device, got, expected);
        if (d)
            CHECK(!memcmp(first, again, expected * length * value_bytes), "%s on %s: drive %zu gives other bits",
                  s->name, device, d);
        else
            check_values(s, device, samples, first, expected, length, value_bytes);
        CHECK_OK(penstock_stream_reset(spectrum));
    }
    penstock_stream_free(spectrum);
    free(first);
    free(again);
    free(samples);
}

/* The devices are the arguments; "cpu", "reference" and "trace" without any. On OpenCL each third setting. */
int main(int argc, char **argv)
{
    static const char *const usual[] = {"cpu", "reference", "trace"};
    penstock_context *context = NULL;
    size_t count;
    const struct setting *list = settings(&count);
    CHECK_OK(penstock_context_new(&context, NULL));
    for (int d = 0; d < (argc > 1 ? argc - 1 : 3); d++) {
        const char *device = argc > 1 ? argv[d + 1] : usual[d];
        executed = prepared = 0;
        for (size_t i = 0; i < count; i++)
            if ((list[i].desc.n < 4096 || !strcmp(device, "cpu")) && test_drawn(i, strcmp(device, "opencl") ? 1 : 3))
                check_setting(context, &list[i], device);
        printf("%s: %d of %zu settings, %d times ahead\n", device, executed, count, prepared);
        CHECK(strcmp(device, "cpu") ? !prepared : prepared > 100, "%s: %d times ahead", device, prepared);
        CHECK(strcmp(device, "cpu") || executed == (int)count, "settings are left out on the CPU");
    }
    penstock_context_free(context);
    return argc == 2 && !executed ? test_skip("the device is absent") : test_finish();
}
