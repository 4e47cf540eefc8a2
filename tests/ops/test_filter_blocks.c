/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * The filter on any device, whether its blocks go through one kernel or through transforms, and whether a transform
 * takes all taps or a part of them: values against their definition in double precision, the same bits in any chunks
 * and after a change to the same taps, and nothing spoiled but what is near a NaN or infinity.
 *
 * Arguments: a device; "fused" where each filter must go through one kernel.
 */
#include "device.h"
#include "filter_direct.h"
#include "one_kernel.h"

#define SAMPLES  9000
#define MOST     700 /* taps */
#define CHOSEN   300 /* values that are compared with their sums */
#define CHANNELS 2

static penstock_context *context;
static const char *device;
static bool fused;
static double worst; /* error over the bound */
static unsigned cases;

static float samples[2 * SAMPLES], spoiled[2 * SAMPLES];
static penstock_cf32 taps[MOST];
static float real_taps[MOST];
static char good[SAMPLES * 8], got[SAMPLES * 8];

/* The whole stream in chunks of up to `most` samples, with the same taps set anew before sample `change`. */
static size_t run(penstock_stream *filter, const penstock_filter_desc *desc, const void *in, size_t most, size_t change,
                  char *to)
{
    size_t bytes = penstock_format_bytes(desc->format), made = 0;
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    uint64_t seed = most;
    CHECK_OK(penstock_stream_reset(filter));
    CHECK_OK(penstock_filter_get_info(filter, &info));
    CHECK_OK(stream_push(filter, in, bytes, change, most, to, info.value_bytes, &made, &seed));
    if (change < SAMPLES)
        CHECK_OK(penstock_filter_set_taps(filter, desc->taps, desc->real_taps, desc->tap_count, change));
    CHECK_OK(stream_push(filter, (const char *)in + change * bytes, bytes, SAMPLES - change, most, to, info.value_bytes,
                         &made, &seed));
    CHECK_OK(stream_end(filter, to, info.value_bytes, &made));
    return made;
}

static void check_values(const penstock_filter_desc *desc, const penstock_filter_info *info, size_t count)
{
    double error = 0, norm = 0, bound = 2e-7 * sqrt(log2((double)info->n)) * (strcmp(device, "reference") ? 1 : 6);
    uint64_t seed = 4;
    for (size_t i = 0; i < CHOSEN; i++) {
        size_t m = (size_t)(test_random(&seed) % count);
        double y[2];
        direct_value(y, samples, SAMPLES, desc, m * (desc->decimation ? desc->decimation : 1));
        const float *value = (const void *)(good + m * info->value_bytes);
        error += pow((double)value[0] - y[0], 2) + (info->real ? 0 : pow((double)value[1] - y[1], 2));
        norm += y[0] * y[0] + (info->real ? 0 : y[1] * y[1]);
    }
    CHECK(sqrt(error / norm) <= bound, "%zu taps, n %zu: error %.3g, allowed %.3g", desc->tap_count, info->n,
          sqrt(error / norm), bound);
    worst = fmax(worst, sqrt(error / norm) / bound);
}

/* Values whose frames do not contain the sample are the same to the bit; some of the others are not finite. */
static void check_spoiled(penstock_stream *filter, const penstock_filter_desc *desc, const penstock_filter_info *info,
                          float value, size_t count)
{
    const size_t at = 4000, parts = (desc->tap_count + info->block - 1) / info->block;
    size_t step = desc->decimation ? desc->decimation : 1, last = at + info->n + parts * info->block, bad = 0,
           other = 0;
    memcpy(spoiled, samples, sizeof samples);
    spoiled[(desc->format == PENSTOCK_F32 ? 1 : 2) * at] = value;
    CHECK_EQ(run(filter, desc, spoiled, 999, SAMPLES, got), count);
    for (size_t m = 0; m < count; m++) {
        const char *a = good + m * info->value_bytes, *b = got + m * info->value_bytes;
        if (m * step + info->block < at || m * step > last)
            other += memcmp(a, b, info->value_bytes) != 0;
        else
            bad += !isfinite(*(const float *)(const void *)b);
    }
    CHECK(!other && bad, "%zu taps, n %zu, %g in the stream: %zu values differ far from it, %zu near it are spoiled",
          desc->tap_count, info->n, (double)value, other, bad);
}

/* With the samples on the device, beside the stream and in two chunks: the stream's bits, of as many whole blocks. */
static void check_enqueued(penstock_stream *filter, const penstock_filter_desc *desc, const penstock_filter_info *info)
{
    static char padded[sizeof samples * 2];
    const size_t sample = penstock_format_bytes(desc->format), step = desc->decimation ? desc->decimation : 1;
    const size_t blocks = SAMPLES / info->block - 2, values = info->block / step * info->value_bytes;
    const size_t bytes = ((blocks - 1) * info->block + info->reads) * sample;
    penstock_queue *queue = NULL;
    penstock_buffer *in = NULL, *out = NULL;
    CHECK(info->before * sample + sizeof samples <= sizeof padded && bytes <= sizeof padded, "%zu bytes", bytes);
    memset(padded, 0, sizeof padded);
    memcpy(padded + info->before * sample, samples, SAMPLES * sample);
    memset(got, 1, sizeof got);
    CHECK_OK(penstock_queue_new(&queue, context, device));
    CHECK_OK(penstock_buffer_new(&in, context, device, bytes));
    CHECK_OK(penstock_buffer_new(&out, context, device, blocks * values));
    CHECK_OK(penstock_buffer_upload(in, padded, bytes, queue));
    CHECK_OK(penstock_filter_enqueue(filter, in, out, 0, blocks, queue));
    CHECK_OK(penstock_buffer_download(out, got, blocks * values, queue));
    CHECK(!memcmp(good, got, blocks * values), "%zu taps, n %zu: other bits on the device", desc->tap_count, info->n);
    CHECK_EQ(penstock_filter_enqueue(filter, in, out, 0, blocks + 1, queue), PENSTOCK_ERR_ARGUMENT);
    CHECK_EQ(penstock_filter_enqueue(filter, in, out, 0, SIZE_MAX / 4, queue), PENSTOCK_ERR_ARGUMENT);
    CHECK_OK(penstock_filter_enqueue(filter, in, out, 0, 0, queue));
    CHECK_OK(penstock_buffer_upload(in, padded + 2 * info->block * sample, bytes - 2 * info->block * sample, queue));
    CHECK_OK(penstock_filter_enqueue(filter, in, out, 2, blocks - 2, queue));
    CHECK_OK(penstock_buffer_download(out, got, (blocks - 2) * values, queue));
    CHECK(!memcmp(good + 2 * values, got, (blocks - 2) * values), "%zu taps, n %zu: other bits from block 2 on",
          desc->tap_count, info->n);
    penstock_buffer_free(in);
    penstock_buffer_free(out);
    penstock_queue_free(queue);
}

static void check(penstock_filter_desc desc)
{
    penstock_filter_info info = PENSTOCK_FILTER_INFO;
    penstock_stream *filter = NULL;
    if (!desc.real_taps)
        desc.taps = taps;
    CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
    if (!filter)
        return;
    CHECK_OK(penstock_filter_get_info(filter, &info));
    CHECK_EQ(info.n, desc.n);
    size_t step = desc.decimation ? desc.decimation : 1, count = run(filter, &desc, samples, SAMPLES, SAMPLES, good);
    CHECK_EQ(count, (SAMPLES + step - 1) / step);
    check_values(&desc, &info, count);
    for (size_t most = 10; most <= 3000; most *= 300) {
        CHECK_EQ(run(filter, &desc, samples, most, 3001, got), count);
        CHECK(!memcmp(good, got, count * info.value_bytes), "%zu taps, n %zu: other bits in chunks of %zu",
              desc.tap_count, info.n, most);
    }
    if (fused && SAMPLES / info.block > 6)
        check_enqueued(filter, &desc, &info);
    check_spoiled(filter, &desc, &info, NAN, count);
    check_spoiled(filter, &desc, &info, INFINITY, count);
    int status = fused ? one_kernel(filter, context) : PENSTOCK_OK;
    CHECK(!status, "%zu taps, n %zu: %s", desc.tap_count, info.n, penstock_error_text());
    penstock_stream_free(filter);
    cases++;
}

/* Two channels, of which one is turned: each as alone. */
static void check_channels(void)
{
    const penstock_filter_channel channels[CHANNELS] = {{.taps = taps, .tap_count = 100, .shift = 0.3},
                                                        {.real_taps = real_taps, .tap_count = 37}};
    static penstock_cf32 both[CHANNELS][SAMPLES];
    penstock_stream *filter = NULL;
    size_t taken = 0, made = 0, more = 0;
    void *values[CHANNELS] = {both[0], both[1]}, *rest[CHANNELS];
    CHECK_OK(penstock_filter_open(
        &filter, context, &PENSTOCK_FILTER_DESC(.channels = channels, .channel_count = CHANNELS, .n = 64), device));
    CHECK_OK(penstock_stream_run_channels(filter, samples, SAMPLES, &taken, values, SAMPLES, &made));
    CHECK_EQ(taken, SAMPLES);
    CHECK_OK(penstock_stream_finish(filter));
    for (size_t c = 0; c < CHANNELS; c++)
        rest[c] = both[c] + made;
    CHECK_OK(penstock_stream_pull_channels(filter, rest, SAMPLES - made, true, &more));
    CHECK_EQ(made + more, SAMPLES);
    penstock_stream_free(filter);
    for (size_t c = 0; c < CHANNELS; c++) {
        penstock_filter_desc desc =
            PENSTOCK_FILTER_DESC(.taps = channels[c].taps, .real_taps = channels[c].real_taps,
                                 .tap_count = channels[c].tap_count, .shift = channels[c].shift, .n = 64);
        penstock_filter_info info = PENSTOCK_FILTER_INFO;
        CHECK_OK(penstock_filter_open(&filter, context, &desc, device));
        CHECK_OK(penstock_filter_get_info(filter, &info));
        memcpy(good, both[c], sizeof both[c]);
        check_values(&desc, &info, SAMPLES);
        penstock_stream_free(filter);
    }
    cases++;
}

int main(int count, char **arguments)
{
    uint64_t seed = 2;
    device = count > 1 ? arguments[1] : "cpu";
    fused = count > 2 && !strcmp(arguments[2], "fused");
    int exits = test_device(&context, device);
    if (exits)
        return exits;
    for (size_t i = 0; i < 2 * SAMPLES; i++)
        samples[i] = (float)test_uniform(&seed);
    for (size_t k = 0; k < MOST; k++) {
        taps[k] = (penstock_cf32){(float)test_uniform(&seed), (float)test_uniform(&seed)};
        real_taps[k] = (float)test_uniform(&seed);
    }
    const penstock_filter_desc descs[] = {
        PENSTOCK_FILTER_DESC(.tap_count = 20, .n = 64),
        PENSTOCK_FILTER_DESC(.tap_count = 20, .n = 64, .decimation = 3, .shift = -0.123),
        PENSTOCK_FILTER_DESC(.tap_count = MOST, .n = 64),
        PENSTOCK_FILTER_DESC(.tap_count = 333, .n = 128, .decimation = 4, .shift = 0.271),
        PENSTOCK_FILTER_DESC(.format = PENSTOCK_F32, .real_taps = real_taps, .tap_count = 40, .n = 128),
        PENSTOCK_FILTER_DESC(.format = PENSTOCK_F32, .real_taps = real_taps, .tap_count = 500, .n = 64,
                             .decimation = 2),
    };
    /* PoCL compiles three kernels for each. */
    bool few = !strcmp(device, "opencl") && !getenv("PENSTOCK_TEST_FULL");
    unsigned chosen = !few ? 0x7f : fused ? 0x66 : 0x0c, expected = !few ? 7 : fused ? 4 : 2;
    for (size_t i = 0; i < sizeof descs / sizeof descs[0]; i++)
        if (chosen >> i & 1)
            check(descs[i]);
    if (chosen >> 6)
        check_channels();
    printf("%s: %u cases, at most %.2f of the allowed error\n", device, cases, worst);
    CHECK_EQ(cases, expected);
    penstock_context_free(context);
    return test_finish();
}
