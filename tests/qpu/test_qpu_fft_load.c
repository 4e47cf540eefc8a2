/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * What the QPU's transforms do while they load: other sample formats, window, scale, guard intervals and overlap, and
 * the product with a spectrum. Against the same in double precision; every routine of the program that loads samples
 * is used, strictly and in all modes at once.
 */
#include "qpu_fft_rig.h"

static const uint32_t lengths[] = {64, 128, 256, 512, 1024, 2048, 4096}; /* every way to begin */
enum { LENGTHS = sizeof lengths / sizeof *lengths, BATCH = 7 };

struct variant {
    const char *name;
    enum qpu_fft_format format;
    bool window, product, reverse;
    float scale;
    uint32_t skip;
    int more_spacing; /* than points + skip */
};

static const struct variant variants[] = {
    {"cf32, skip", QPU_FFT_CF32, false, false, false, 0, 16, 0},
    {"cf32, overlap", QPU_FFT_CF32, false, false, false, 0, 0, -31},
    {"cf32, reverse, apart", QPU_FFT_CF32, false, false, true, 0, 3, 5},
    {"cf32, window", QPU_FFT_CF32, true, false, false, 0, 0, -17},
    {"cf32, window, reverse", QPU_FFT_CF32, true, false, true, 0.25f, 1, 0},
    {"cf32, scale", QPU_FFT_CF32, false, false, false, 3, 0, 0},
    {"cf32, product", QPU_FFT_CF32, false, true, false, 0, 0, 0},
    {"cf32, product, reverse", QPU_FFT_CF32, false, true, true, 1.0f / 1024, 0, 0},
    {"cs16", QPU_FFT_CS16, false, false, false, 0, 0, 0},
    {"cs16, window, skip", QPU_FFT_CS16, true, false, false, 0, 17, 0},
    {"cu8", QPU_FFT_CU8, false, false, false, 0, 0, 0},
    {"cu8, window, odd", QPU_FFT_CU8, true, false, false, 2, 5, 2},
    {"cs8", QPU_FFT_CS8, false, false, false, 0, 0, 0},
    {"cs8, window, odd", QPU_FFT_CS8, true, false, false, 0.5f, 7, -1},
};

static void fill_input(void *to, size_t samples, enum qpu_fft_format format, uint64_t seed)
{
    for (size_t i = 0; i < 2 * samples; i++) {
        uint64_t random = test_random(&seed);
        if (format == QPU_FFT_CS16)
            ((int16_t *)to)[i] = (int16_t)random;
        else if (format == QPU_FFT_CU8 || format == QPU_FFT_CS8)
            ((uint8_t *)to)[i] = (uint8_t)random;
        else
            ((float *)to)[i] = (float)((double)(random >> 11) * 0x1p-52 - 1);
    }
    if (format == QPU_FFT_CS16)
        ((int16_t *)to)[0] = INT16_MIN;
    if (format == QPU_FFT_CS8)
        ((int8_t *)to)[0] = INT8_MIN;
}

static size_t bytes_of(enum qpu_fft_format format)
{
    return format == QPU_FFT_CF32 ? 8 : format == QPU_FFT_CS16 ? 4 : 2;
}

static double part_of(const void *from, enum qpu_fft_format format, size_t i)
{
    if (format == QPU_FFT_CS16)
        return ((const int16_t *)from)[i] / 32768.0;
    if (format == QPU_FFT_CU8)
        return (((const uint8_t *)from)[i] - 127.5) / 128;
    if (format == QPU_FFT_CS8)
        return ((const int8_t *)from)[i] / 128.0;
    return ((const float *)from)[i];
}

/* Transform `number` of the batch, by definition. */
static void right_result(const struct qpu_fft_description *d, const void *input, uint32_t number, double *in,
                         double *out)
{
    uint32_t spacing = d->spacing ? d->spacing : d->points + d->skip;
    for (uint32_t i = 0; i < d->points; i++) {
        size_t sample = (size_t)number * spacing + d->skip + i;
        double factor = (d->scale != 0 ? d->scale : 1) * (d->window ? (double)d->window[i] : 1);
        double re = factor * part_of(input, d->format, 2 * sample), a = d->product ? d->product[2 * i] : 1;
        double im = factor * part_of(input, d->format, 2 * sample + 1), b = d->product ? d->product[2 * i + 1] : 0;
        in[2 * i] = re * a - im * b;
        in[2 * i + 1] = re * b + im * a;
    }
    rig_dft(in, out, d->points, 1, d->reverse ? 1 : -1);
}

static void check(const struct variant *variant, uint32_t n)
{
    static const struct qpu_emulator_options all_modes = {.random_interleave = true,
                                                          .seed = 5,
                                                          .late_dma = true,
                                                          .hold_vpm = true,
                                                          .poison = true,
                                                          .cache = QPU_CACHE_NEVER_EVICT};
    struct qpu_fft_description d = {.points = n, .batch = BATCH, .qpus = 12, .format = variant->format};
    size_t values = (size_t)2 * n * BATCH;
    double *in = malloc(2 * n * sizeof *in), *right = malloc(values * sizeof *right), ppm;
    float *weights = malloc(2 * n * sizeof *weights), *first = malloc(values * sizeof *first);
    uint64_t seed = n;
    struct rig rig;
    for (uint32_t i = 0; i < 2 * n; i++)
        weights[i] = (float)test_uniform(&seed);
    d.reverse = variant->reverse;
    d.window = variant->window ? weights : NULL;
    d.product = variant->product ? weights : NULL;
    d.scale = variant->scale;
    d.skip = variant->skip;
    d.spacing = variant->more_spacing ? (uint32_t)((int)(n + d.skip) + variant->more_spacing) : 0;
    rig = rig_open(&d);
    fill_input(rig_input(&rig), qpu_fft_plan_input_bytes(rig.plan) / bytes_of(d.format), d.format, n);
    for (uint32_t t = 0; t < BATCH; t++)
        right_result(&d, rig_input(&rig), t, in, right + (size_t)2 * n * t);
    if (rig_run(&rig, (struct qpu_emulator_options){0})) {
        ppm = rig_ppm(rig_output(&rig), right, (size_t)n * BATCH);
        CHECK(ppm <= 0.49 * pow(log2(n) / 8, 1.4), "%s, %u points: %.3f ppm", variant->name, n, ppm);
        memcpy(first, rig_output(&rig), values * sizeof *first);
    }
    if (rig_run(&rig, all_modes))
        CHECK(!memcmp(first, rig_output(&rig), values * sizeof *first), "%s, %u points: other bits", variant->name, n);
    rig_close(&rig);
    free(first);
    free(weights);
    free(right);
    free(in);
}

/* Fast convolution: a forward plan's output is the input of a reverse one, which multiplies by the filter's spectrum
 * while it loads. Neither block has room for samples. Circular, against the sum by definition. */
static void convolution(uint32_t n)
{
    enum { COUNT = 3 };
    struct qpu_fft_description d = {.points = n, .batch = COUNT, .qpus = 12, .elsewhere = true};
    float *taps = calloc(2 * n, sizeof *taps), *spectrum = malloc(2 * n * sizeof *spectrum);
    double *right = calloc((size_t)2 * n * COUNT, sizeof *right), *wide = malloc(4 * n * sizeof *wide);
    size_t bytes = (size_t)8 * n * COUNT;
    struct rig forward = rig_open(&d), back;
    uint64_t seed = n;
    for (uint32_t i = 0; i < 10; i++)
        taps[2 * i] = (float)test_uniform(&seed);
    for (uint32_t i = 0; i < 2 * n; i++)
        wide[i] = taps[i];
    rig_dft(wide, wide + 2 * n, n, 1, -1);
    for (uint32_t i = 0; i < 2 * n; i++)
        spectrum[i] = (float)wide[2 * n + i];
    d.reverse = true;
    d.product = spectrum;
    d.scale = 1 / (float)n;
    back = rig_open(&d);
    /* samples, spectra and results lie behind the two blocks */
    rig_room(&forward, 3 * bytes);
    for (size_t i = 0; i < (size_t)2 * n * COUNT; i++)
        ((float *)rig_room_at(&forward, 0))[i] = (float)test_uniform(&seed);
    for (size_t i = 0; i < (size_t)n * COUNT; i++)
        for (uint32_t k = 0; k < 10; k++) {
            size_t from = i / n * n + (i % n + n - k) % n;
            for (int part = 0; part < 2; part++)
                right[2 * i + part] += (double)taps[2 * k] * ((float *)rig_room_at(&forward, 0))[2 * from + part];
        }
    qpu_fft_plan_set_data(forward.plan, forward.memory, RIG_ADDRESS, COUNT, rig_room_address(0),
                          rig_room_address(bytes));
    qpu_fft_plan_set_data(back.plan, back.memory, RIG_ADDRESS, COUNT, rig_room_address(bytes),
                          rig_room_address(2 * bytes));
    if (rig_run(&forward, (struct qpu_emulator_options){0})) {
        back.room = forward.room;
        back.room_bytes = forward.room_bytes;
        if (rig_run(&back, (struct qpu_emulator_options){0})) {
            double ppm = rig_ppm(rig_room_at(&forward, 2 * bytes), right, (size_t)n * COUNT);
            CHECK(ppm < 1.5, "%u points: %.3f ppm", n, ppm);
        }
        back.room = NULL;
    }
    rig_close(&back);
    rig_close(&forward);
    free(wide);
    free(right);
    free(spectrum);
    free(taps);
}

static void arguments(void)
{
    static const float some[128];
    static const struct qpu_fft_description wrong[] = {
        {.points = 64, .batch = 1, .qpus = 1, .format = QPU_FFT_CS16, .reverse = true},
        {.points = 64, .batch = 1, .qpus = 1, .format = QPU_FFT_CU8, .reverse = true},
        {.points = 64, .batch = 1, .qpus = 1, .format = QPU_FFT_CS16, .product = some},
        {.points = 64, .batch = 1, .qpus = 1, .window = some, .product = some},
        {.points = 64, .batch = 1, .qpus = 1, .format = QPU_FFT_CS8, .product = some},
        {.points = 64, .batch = 1, .qpus = 1, .format = (enum qpu_fft_format)4},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qpu_fft_plan *plan;
        CHECK_EQ(qpu_fft_plan_new(&plan, &wrong[i]), QPU_FFT_INVALID);
        qpu_fft_plan_free(plan);
    }
}

int main(void)
{
    arguments();
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        for (int i = 0; i < LENGTHS; i++)
            check(&variants[v], lengths[i]);
    for (int i = 0; i < LENGTHS; i++)
        convolution(lengths[i]);
    return test_finish();
}
