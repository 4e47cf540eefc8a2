/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Good values, and what is checked behind a hostile call. */
#include "hostile.h"
#include "folder.h"

#include <signal.h>
#include <unistd.h>

enum { BYTES = 1 << 20, POINTS = 64, CHANNELS = 8, TAPS = 31, LIMIT_S = 120 };

const char *hostile_device;
penstock_context *hostile_context;
char hostile_long_text[2000], hostile_input[300], hostile_output[300];
void *hostile_arrays_in[16], *hostile_arrays_out[16];

static _Alignas(64) char memory[5][BYTES];
static int32_t carriers[] = {-3, -2, -1, 1, 2, 3};
static const char *now = "";
static int errors;
static const char mark[] = "hostile mark"; /* in the text of the last error before a call */

/* Objects of this call. */
static penstock_stream *stream;
static penstock_plan *plan;
static penstock_buffer *buffer;
static penstock_queue *queue;
static penstock_channel *channel;
static penstock_ofdm *ofdm;
static penstock_ofdm_estimator *estimator;
static penstock_source *source;
static penstock_sink *sink;
static penstock_files *files;
static penstock_bench *bench;

/* ---------------------------------------------------------------- descriptions ---------------- */

char *hostile_memory(int place)
{
    return memory[place];
}

static const float *floats(void)
{
    return (const float *)(const void *)memory[1];
}

static const penstock_cf32 *values(void)
{
    return (const penstock_cf32 *)(const void *)memory[1];
}

#define FILL(type, ...)                                \
    void hostile_fill_##type(type *to)                 \
    {                                                  \
        *to = (type){.size = sizeof *to, __VA_ARGS__}; \
    }
FILL(penstock_channel_desc, .rate_hz = 1e6)
FILL(penstock_channelizer_desc, .channels = CHANNELS, .taps = floats(), .tap_count = 64)
FILL(penstock_context_desc, .threads = 2, .cache_dir = "")
FILL(penstock_fft_desc, .n = POINTS)
FILL(penstock_fft_stream_desc, .n = POINTS)
FILL(penstock_filter_desc, .taps = values(), .tap_count = TAPS, .n = 128, .tunable = true)
FILL(penstock_ofdm_batch, .samples = memory[1], .sample_count = 200, .frame_count = 0)
FILL(penstock_ofdm_desc, .n = POINTS, .guard = 16, .carriers = carriers, .carrier_count = 6)
FILL(penstock_ofdm_estimator_desc, .n = POINTS, .training = values())
FILL(penstock_ofdm_result, .points = (penstock_cf32 *)(void *)memory[0])
FILL(penstock_ofdm_stream_desc, .n = POINTS, .guard = 16, .carriers = carriers, .carrier_count = 6,
     .training = values(), .training_symbols = 2)
FILL(penstock_resampler_desc, .real_taps = floats(), .tap_count = 64, .arms = 8)
FILL(penstock_sink_desc, .rate_hz = 1e6)
FILL(penstock_source_desc, .raw = true, .rate_hz = 1e6)
FILL(penstock_spectrum_desc, .n = POINTS, .window = "hann")
FILL(penstock_synthesizer_desc, .channels = CHANNELS, .taps = floats(), .tap_count = 64)
FILL(penstock_viterbi_batch, .soft = memory[1], .soft_count = 400, .out = memory[0])
FILL(penstock_viterbi_desc, .bits = 100)
FILL(penstock_wifi_receiver_desc, .points = true)
FILL(penstock_wifi_transmit_desc, .mbps = 6)

void hostile_fill_penstock_ldpc_desc(penstock_ldpc_desc *to)
{
    *to = (penstock_ldpc_desc){.size = sizeof *to};
    CHECK_OK(penstock_ldpc_code(to, "wifi:648:1/2"));
}

void hostile_fill_penstock_ofdm_frame(penstock_ofdm_frame *to)
{
    *to = (penstock_ofdm_frame){.channel = values(), .noise = 1};
}

/* ---------------------------------------------------------------- objects --------------------- */

#define OPEN(kind)                                                                         \
    if (!strcmp(name, #kind)) {                                                            \
        penstock_##kind##_desc desc;                                                       \
        hostile_fill_penstock_##kind##_desc(&desc);                                        \
        CHECK_OK(penstock_##kind##_open(&stream, hostile_context, &desc, hostile_device)); \
    }

penstock_stream *hostile_stream(const char *name)
{
    OPEN(filter)
    OPEN(spectrum)
    OPEN(fft_stream)
    OPEN(channelizer)
    OPEN(synthesizer)
    OPEN(ofdm_stream)
    OPEN(wifi_receiver)
    if (!strcmp(name, "resampler")) {
        penstock_resampler_desc desc;
        hostile_fill_penstock_resampler_desc(&desc);
        CHECK_OK(penstock_resampler_open(&stream, hostile_context, &desc, "cpu"));
    }
    return stream;
}

penstock_plan *hostile_plan(const char *kind)
{
    penstock_fft_desc fft;
    penstock_viterbi_desc viterbi;
    hostile_fill_penstock_fft_desc(&fft);
    hostile_fill_penstock_viterbi_desc(&viterbi);
    if (!strcmp(kind, "fft"))
        CHECK_OK(penstock_fft_plan(&plan, hostile_context, &fft, hostile_device));
    else
        CHECK_OK(penstock_viterbi_plan(&plan, hostile_context, &viterbi,
                                       strcmp(hostile_device, "trace") ? hostile_device : "cpu"));
    return plan;
}

/* One for each call, which may be both of its buffers: a transform may be in place. */
penstock_buffer *hostile_buffer(void)
{
    if (!buffer)
        CHECK_OK(penstock_buffer_new(&buffer, hostile_context, hostile_device, (size_t)16 * POINTS * 8));
    return buffer;
}

penstock_queue *hostile_queue(void)
{
    if (!queue)
        CHECK_OK(penstock_queue_new(&queue, hostile_context, hostile_device));
    return queue;
}

penstock_channel *hostile_channel(void)
{
    penstock_channel_desc desc;
    hostile_fill_penstock_channel_desc(&desc);
    CHECK_OK(penstock_channel_new(&channel, &desc));
    return channel;
}

penstock_ofdm *hostile_ofdm(void)
{
    penstock_ofdm_desc desc;
    hostile_fill_penstock_ofdm_desc(&desc);
    CHECK_OK(penstock_ofdm_new(&ofdm, hostile_context, &desc, hostile_device));
    return ofdm;
}

penstock_ofdm_estimator *hostile_ofdm_estimator(void)
{
    penstock_ofdm_estimator_desc desc;
    hostile_fill_penstock_ofdm_estimator_desc(&desc);
    CHECK_OK(penstock_ofdm_estimator_new(&estimator, &desc));
    return estimator;
}

penstock_source *hostile_source(void)
{
    penstock_source_desc desc;
    hostile_fill_penstock_source_desc(&desc);
    CHECK_OK(penstock_source_open(&source, hostile_context, hostile_input, &desc));
    return source;
}

penstock_sink *hostile_sink(void)
{
    penstock_sink_desc desc;
    hostile_fill_penstock_sink_desc(&desc);
    CHECK_OK(penstock_sink_open(&sink, hostile_output, &desc));
    return sink;
}

penstock_files *hostile_files(void)
{
    CHECK_OK(penstock_files_new(&files));
    return files;
}

penstock_file *hostile_file(void)
{
    penstock_file *file;
    CHECK_OK(penstock_file_open(&file, hostile_files(), hostile_output));
    return file;
}

static int enqueue(void *user, const penstock_buffer *in, penstock_buffer *out, penstock_queue *queue_of_it)
{
    (void)user;
    return penstock_plan_enqueue(hostile_plan("fft"), in, out, 4, queue_of_it);
}

void hostile_fill_penstock_bench_desc(penstock_bench_desc *desc)
{
    *desc = PENSTOCK_BENCH_DESC(.device = hostile_device, .work = enqueue, .in_bytes = 4096, .out_bytes = 4096,
                                .block = memory[1], .block_bytes = 4096);
}

/* Processors have no clock of their own, and no such object. */
penstock_bench *hostile_bench(void)
{
    penstock_bench_desc desc;
    hostile_fill_penstock_bench_desc(&desc);
    if (penstock_bench_new(&bench, hostile_context, &desc))
        CHECK(!bench, "%s: an object after an error", now);
    return bench;
}

static void free_objects(void)
{
    penstock_queue_free(queue);
    penstock_buffer_free(buffer);
    penstock_bench_free(bench);
    penstock_stream_free(stream);
    penstock_plan_free(plan);
    penstock_channel_free(channel);
    penstock_ofdm_free(ofdm);
    penstock_ofdm_estimator_free(estimator);
    penstock_sink_free(sink);
    penstock_source_free(source);
    penstock_files_free(files);
    queue = NULL;
    buffer = NULL;
    bench = NULL;
    stream = NULL;
    plan = NULL;
    channel = NULL;
    ofdm = NULL;
    estimator = NULL;
    sink = NULL;
    source = NULL;
    files = NULL;
}

/* ---------------------------------------------------------------- calls ----------------------- */

static void tell(int signal)
{
    static const char text[] = " <- this call ended it\n";
    ssize_t written = write(STDERR_FILENO, now, strlen(now));
    written += write(STDERR_FILENO, text, sizeof text - 1);
    _exit(written > 0 ? 128 + signal : 1);
}

void hostile_begin(const char *what)
{
    now = what;
    memcpy(memory[1], memory[2], BYTES); /* a call may have written there */
    alarm(LIMIT_S);
    penstock_format format;
    CHECK(penstock_format_parse(&format, mark) && strstr(penstock_error_text(), mark), "the text has no mark");
}

bool hostile_is_made(int status, const void *made)
{
    if (status < 0)
        CHECK(!made || made == HOSTILE_MARK, "%s: %d, and an object is left", now, status);
    else
        CHECK(made && made != HOSTILE_MARK, "%s: no error and no object", now);
    return status >= 0;
}

void hostile_made_file(void)
{
}

void hostile_good(int status)
{
    CHECK(status >= 0, "%s: %d: %s", now, status, penstock_error_text());
}

void hostile_end(int status)
{
    const char *text = penstock_error_text();
    errors += status < 0;
    if (status < 0)
        CHECK(*text && !strchr(text, '\n') && !strstr(text, mark), "%s: %d without a text ('%s')", now, status, text);
    CHECK(status <= 1 && status >= PENSTOCK_ERR_STATE, "%s: %d is no status", now, status);
    free_objects();
}

static void fill_memory(void)
{
    static const double edges[] = {0.1, 0.2};
    uint64_t seed = 3;
    for (size_t i = 0; i < BYTES / sizeof(float); i++) {
        float value = (float)test_uniform(&seed);
        memcpy(memory[1] + i * sizeof value, &value, sizeof value);
    }
    memcpy(memory[2], memory[1], BYTES);
    memcpy(memory[3], edges, sizeof edges);
    memset(hostile_long_text, 'x', sizeof hostile_long_text - 1);
    for (size_t i = 0; i < 16; i++) {
        hostile_arrays_in[i] = memory[1];
        hostile_arrays_out[i] = memory[0] + i * (BYTES / 16);
    }
}

/* Usage: test_hostile DEVICE */
int hostile_main(int argc, char **argv, void (*const *calls)(void), size_t count, size_t functions)
{
#if defined(__SANITIZE_ADDRESS__)
    static const int ends[] = {SIGALRM, SIGFPE, SIGABRT};
#else
    static const int ends[] = {SIGALRM, SIGFPE, SIGABRT, SIGSEGV, SIGBUS};
#endif
    size_t made = 0;
    hostile_device = argc > 1 ? argv[1] : "cpu";
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        signal(ends[i], tell);
    fill_memory();
    CHECK(test_make_folder(), "no folder");
    snprintf(hostile_input, sizeof hostile_input, "%s", test_path("in.cf32"));
    snprintf(hostile_output, sizeof hostile_output, "%s", test_path("out.cf32"));
    FILE *file = fopen(hostile_input, "wb");
    CHECK(file && fwrite(memory[1], 1, 65536, file) == 65536 && !fclose(file), "no input");
    CHECK_OK(penstock_context_new(&hostile_context, &PENSTOCK_CONTEXT_DESC(.threads = 2, .cache_dir = "")));
    for (size_t i = 0; i < count; i++, made++)
        calls[i]();
    alarm(0);
    penstock_context_free(hostile_context);
    test_remove_folder();
    printf("%s: %zu hostile calls of %zu functions, %d errors, each with a text\n", hostile_device, made, functions,
           errors);
    CHECK(made >= 1656 && errors > 800, "%zu calls, %d errors", made, errors);
    return test_finish();
}
