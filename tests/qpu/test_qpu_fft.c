/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The QPU's transforms give the right numbers, on the strict emulator: against a transform in double precision, by the
 * test that GPU_FFT publishes errors of, and by going forward and back.
 */
#include "qpu_fft_rig.h"

/* log2 of the lengths, the longest in the full test only, and GPU_FFT 3.0's published errors in ppm (64 and 128, which
 * it has not: as bounds). */
enum { FIRST = 6, LAST = 16, LAST_FULL = 22 };
static const double published[] = {
    [6] = .30,  [7] = .30,  [8] = .33,  [9] = .46,  [10] = .52, [11] = .59, [12] = .78, [13] = .83, [14] = .92,
    [15] = .98, [16] = 1.0, [17] = 1.3, [18] = 1.3, [19] = 1.4, [20] = 1.5, [21] = 1.5, [22] = 1.5};

static const struct qpu_emulator_options strict = {0};

static double noise_bound(int log_points)
{
    return 0.49 * pow(log_points / 8.0, 1.4);
}

struct sums {
    double error, power;
};

/* From two spectral lines of 0.5, at k and N - k, to a cosine, for the bins `first` .. `first` + batch of `count` that
 * are spread over all. */
static void cosines(struct rig *rig, uint32_t n, uint32_t batch, uint32_t first, uint32_t count, struct sums *sums)
{
    float *in = rig_input(rig), *out = rig_output(rig);
    uint32_t bins = n / 2 - 1;
    memset(in, 0, (size_t)8 * n * batch);
    for (uint32_t b = 0; b < batch; b++) {
        uint32_t k = 1 + (uint32_t)((uint64_t)(first + b) * bins / count);
        in[2 * (n * b + k)] = in[2 * (n * b + n - k)] = 0.5f;
    }
    if (!rig_run(rig, strict))
        return;
    for (uint32_t b = 0; b < batch; b++)
        for (uint32_t i = 0; i < n; i++) {
            uint64_t k = 1 + (uint64_t)(first + b) * bins / count;
            double right = cos(6.283185307179586476925286766559 * (double)(i * k % n) / n);
            double re = out[2 * (n * b + i)] - right, im = out[2 * (n * b + i) + 1];
            sums->error += re * re + im * im;
            sums->power += right * right;
        }
}

/* The error of all bins tried together, as GPU_FFT reports it; the long lengths' one transform at a time. */
static void cosine(int log_points)
{
    enum { FEWEST = 5 };
    uint32_t n = UINT32_C(1) << log_points, bins = n / 2 - 1;
    uint32_t most = (getenv("PENSTOCK_TEST_FULL") ? UINT32_C(1) << 20 : UINT32_C(1) << 16) / n + 1;
    uint32_t batch = bins > most ? most : bins, rounds = getenv("PENSTOCK_TEST_FULL") && batch < FEWEST ? FEWEST : 1;
    struct qpu_fft_description description = {.points = n, .reverse = true, .batch = batch, .qpus = 12};
    struct rig rig = rig_open(&description);
    struct sums sums = {0, 0};
    for (uint32_t r = 0; r < rounds; r++)
        cosines(&rig, n, batch, r * batch, rounds * batch, &sums);
    double ppm = sqrt(sums.error / sums.power) * 1e6;
    printf("%5u points: cosine %.3f ppm of %u bins, published %.2f\n", n, ppm, rounds * batch, published[log_points]);
    CHECK(sums.power > 0 && ppm <= published[log_points], "%u points: %.3f ppm", n, ppm);
    rig_close(&rig);
}

static void fill(float *to, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)test_uniform(&seed);
}

static double *doubles(const float *from, size_t count)
{
    double *to = malloc(count * sizeof *to);
    for (size_t i = 0; to && i < count; i++)
        to[i] = from[i];
    return to;
}

/* White noise, each transform of a batch that fills the QPUs unevenly. */
static void noise(int log_points, bool reverse, unsigned qpus)
{
    uint32_t n = UINT32_C(1) << log_points, batch = log_points <= 12 ? 14 : log_points <= 16 ? 2 : 1;
    struct qpu_fft_description description = {.points = n, .reverse = reverse, .batch = batch, .qpus = qpus};
    struct rig rig = rig_open(&description);
    double *in, *right = malloc(sizeof *right * 2 * n * batch), ppm = 1e9;
    fill(rig_input(&rig), (size_t)2 * n * batch, n + reverse);
    in = doubles(rig_input(&rig), (size_t)2 * n * batch);
    if (in && right && rig_run(&rig, strict)) {
        for (uint32_t b = 0; b < batch; b++)
            rig_dft(in + (size_t)2 * n * b, right + (size_t)2 * n * b, n, 1, reverse ? 1 : -1);
        ppm = rig_ppm(rig_output(&rig), right, (size_t)n * batch);
    }
    printf("%5u points: noise %.3f ppm, at most %.3f\n", n, ppm, noise_bound(log_points));
    CHECK(ppm <= noise_bound(log_points), "%u points, reverse %d, %u QPUs: %.3f ppm", n, reverse, qpus, ppm);
    free(in);
    free(right);
    rig_close(&rig);
}

/* Rounded to a float: GCC 12 with -fno-math-errno leaves a cast of cos() and back out. */
static double as_float(double value)
{
    volatile float rounded = (float)value;
    return rounded;
}

/* In place of `values`: their transform in double precision, but for twiddles that are floats, one for each bit of the
 * length. */
static void dft_with_float_twiddles(double *values, uint32_t n)
{
    for (uint32_t half = n / 2; half; half /= 2)
        for (uint32_t i = 0; i < n; i += i % half == half - 1 ? half + 1 : 1) {
            double angle = -3.1415926535897932384626433832795 * (i % half) / half, *a = values + 2 * i,
                   *b = a + 2 * half;
            double c = as_float(cos(angle)), s = as_float(sin(angle)), re = a[0] - b[0], im = a[1] - b[1];
            a[0] += b[0];
            a[1] += b[1];
            b[0] = re * c - im * s;
            b[1] = re * s + im * c;
        }
}

/* What tables of single precision, rounded from double, have to do with the error: little, even with a twiddle for each
 * bit where the passes have one for four to six. Errors that do not depend on each other add as squares, so tables of
 * twice the precision would change a fiftieth of the allowed square at most. */
static void twiddles(int log_points)
{
    uint32_t n = UINT32_C(1) << log_points;
    double *values = malloc(sizeof *values * 2 * n), *right = malloc(sizeof *right * 2 * n), error = 0, power = 0, ppm;
    uint64_t seed = n;
    if (!values || !right)
        exit(1);
    for (uint32_t i = 0; i < 2 * n; i++)
        values[i] = test_uniform(&seed);
    rig_dft(values, right, n, 1, -1);
    dft_with_float_twiddles(values, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        for (int bit = 0; bit < log_points; bit++)
            k |= (i >> bit & 1) << (log_points - 1 - bit);
        error += pow(values[2 * i] - right[2 * k], 2) + pow(values[2 * i + 1] - right[2 * k + 1], 2);
        power += pow(right[2 * k], 2) + pow(right[2 * k + 1], 2);
    }
    ppm = sqrt(error / power) * 1e6;
    printf("%5u points: %.3f ppm by the tables' rounding\n", n, ppm);
    CHECK(ppm > 0.001 && ppm <= 0.14 * noise_bound(log_points), "%u points: %.3f ppm by twiddles", n, ppm);
    free(right);
    free(values);
}

static void forward_and_back(int log_points)
{
    uint32_t n = UINT32_C(1) << log_points, batch = log_points <= 16 ? 2 : 1;
    struct qpu_fft_description description = {.points = n, .batch = batch, .qpus = 12};
    struct rig there = rig_open(&description), back;
    double *right, ppm = 1e9;
    description.reverse = true;
    back = rig_open(&description);
    fill(rig_input(&there), (size_t)2 * n * batch, 99 + n);
    right = doubles(rig_input(&there), (size_t)2 * n * batch);
    if (right && rig_run(&there, strict)) {
        memcpy(rig_input(&back), rig_output(&there), (size_t)8 * n * batch);
        if (rig_run(&back, strict)) {
            for (size_t i = 0; i < (size_t)2 * n * batch; i++)
                rig_output(&back)[i] /= (float)n;
            ppm = rig_ppm(rig_output(&back), right, (size_t)n * batch);
        }
    }
    CHECK(ppm <= 1.5 * noise_bound(log_points), "%u points: %.3f ppm", n, ppm);
    free(right);
    rig_close(&there);
    rig_close(&back);
}

/* Only the transforms asked for are made, and each one's bits do not depend on how many there are. */
static void counts(int log_points)
{
    uint32_t n = UINT32_C(1) << log_points, batch = log_points <= 10 ? 13 : 5;
    struct qpu_fft_description description = {.points = n, .batch = batch, .qpus = 12};
    struct rig rig = rig_open(&description);
    size_t bytes = (size_t)8 * n;
    uint8_t *all = malloc(bytes * batch);
    fill(rig_input(&rig), (size_t)2 * n * batch, n);
    if (all && rig_run(&rig, strict)) {
        memcpy(all, rig_output(&rig), bytes * batch);
        for (uint32_t count = 1; count <= batch; count += 4) {
            memset(rig_output(&rig), 0x77, bytes * batch);
            qpu_fft_plan_set_count(rig.plan, rig.memory, RIG_ADDRESS, count);
            if (!rig_run(&rig, strict))
                continue;
            CHECK(!memcmp(rig_output(&rig), all, bytes * count), "%u of %u transforms", count, batch);
            for (size_t i = bytes * count; i < bytes * batch; i++)
                if (((uint8_t *)rig_output(&rig))[i] != 0x77) {
                    CHECK(false, "byte %zu behind %u transforms was written", i, count);
                    break;
                }
        }
    }
    free(all);
    rig_close(&rig);
}

static void arguments(void)
{
    static const struct qpu_fft_description wrong[] = {
        {.points = 0, .batch = 1, .qpus = 1},   {.points = 32, .batch = 1, .qpus = 1},
        {.points = 100, .batch = 1, .qpus = 1}, {.points = UINT32_C(1) << 23, .batch = 1, .qpus = 1},
        {.points = 64, .batch = 0, .qpus = 1},  {.points = 64, .batch = 1, .qpus = 0},
        {.points = 64, .batch = 1, .qpus = 13}, {.points = 1024, .batch = UINT32_MAX, .qpus = 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct qpu_fft_plan *plan = (struct qpu_fft_plan *)&plan;
        CHECK_EQ(qpu_fft_plan_new(&plan, &wrong[i]), QPU_FFT_INVALID);
        CHECK(!plan, "case %zu left something", i);
    }
    qpu_fft_plan_free(NULL);
}

int main(void)
{
    int last = getenv("PENSTOCK_TEST_FULL") ? LAST_FULL : LAST;
    arguments();
    for (int log_points = FIRST; log_points <= last; log_points++) {
        cosine(log_points);
        twiddles(log_points);
        for (unsigned qpus = log_points <= 14 ? 1 : 12; qpus <= 12; qpus += 11)
            for (int reverse = 0; reverse < 2; reverse++)
                noise(log_points, reverse, qpus);
        if (log_points <= 14 || last == LAST_FULL)
            forward_and_back(log_points);
        if (log_points <= 13)
            counts(log_points);
    }
    return test_finish();
}
