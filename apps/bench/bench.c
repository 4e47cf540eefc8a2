/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* penstock bench: times the same cases that check verifies. */
#include "bench_chart.h"
#include "bench_table.h"
#include "cases/cases.h"
#include "peers/peers.h"
#include "picture/canvas.h"
#include "shared/interrupt.h"
#include "shared/mpdu.h"
#include "shared/options.h"
#include "shared/outfile.h"
#include "shared/progress.h"
#include "shared/targets.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ONE_THREAD_MOST = 256 };

struct measurement {
    char **cases, *png, *against, *study;
    bool csv;
    uint64_t count, length, most;
    double cfo_hz, sfo_ppm;
    const struct peer *peer;
    struct case_target target;
    struct bench_chart chart;
    size_t begun, timed, failed,
        beside; /* cases: all so far, with a row, told as failed, and with a row that has the peer's rate */
    struct one_thread {
        char name[CASE_TEXT];
        double rate_msps;
    } one_thread[ONE_THREAD_MOST];
    size_t one_thread_count;
};

/* Of the CPU, which is timed with one thread before it is with all. */
static void remember_one_thread(struct measurement *m, struct bench_row *row)
{
    if (strcmp(row->device, "cpu"))
        return;
    if (row->threads == 1 && m->one_thread_count < ONE_THREAD_MOST) {
        struct one_thread *kept = &m->one_thread[m->one_thread_count++];
        snprintf(kept->name, sizeof kept->name, "%s", row->name);
        kept->rate_msps = bench_rate_msps(row);
    }
    for (size_t i = 0; i < m->one_thread_count && row->threads > 1; i++)
        if (!strcmp(m->one_thread[i].name, row->name))
            row->one_thread_msps = m->one_thread[i].rate_msps;
}

static int bench_case(void *argument, const char *text)
{
    struct measurement *m = argument;
    struct test_case test;
    struct bench_row row = {.name = test.text,
                            .device = m->target.device,
                            .threads = m->target.threads,
                            .peer = m->peer,
                            .rate_with_transfers_msps = NAN,
                            .bus_msps = NAN,
                            .copy_gbps = NAN,
                            .copies_msps = NAN,
                            .one_thread_msps = NAN,
                            .plan_cold_ms = NAN,
                            .plan_warm_ms = NAN};
    int code = case_parse(&test, text);
    if (code || interrupted())
        return code;
    progress_done((double)m->begun++, "%s on %s", text, m->target.device);
    code = test.kind->bench(&test, &m->target, &row);
    progress_clear();
    if (code && *row.skipped) {
        fprintf(m->csv ? stderr : stdout, "%-32s %-10s SKIPPED: %s\n", text, m->target.device, row.skipped);
        return EXIT_DONE;
    }
    m->failed += code != EXIT_DONE;
    if (code)
        return EXIT_DONE; /* told; the others go on */
    remember_one_thread(m, &row);
    interrupt_hold();
    m->timed++;
    bench_table_row(&row, m->csv);
    m->beside += row.has_peer;
    bench_chart_add(&m->chart, &row);
    code = outfile_flush_stdout();
    interrupt_release();
    return code;
}

/* The picture of what was timed. */
static int draw_chart(void *owner)
{
    struct measurement *m = owner;
    return m->png && m->timed ? bench_chart_write(&m->chart, m->png) : EXIT_DONE;
}

/* Within a case. */
static int conclude(void *owner)
{
    const struct measurement *m = owner;
    progress_clear();
    int code = draw_chart(owner);
    return interrupt_tell(code || !m->failed ? code : EXIT_DATA);
}

/* One device with a number of threads, in a context of its own. */
static int bench_device(struct measurement *m, const char *device, unsigned threads)
{
    m->target = (struct case_target){.device = device, .threads = threads};
    bench_counters_open();
    int code = open_context(&m->target.context, threads);
    for (size_t i = 0; !code && m->cases && m->cases[i]; i++)
        code = bench_case(m, m->cases[i]);
    if (!code && !m->cases)
        code = case_list_bench(bench_case, m);
    penstock_context_free(m->target.context);
    bench_counters_close();
    return code;
}

static int count_case(void *count, const char *text)
{
    (void)text;
    ++*(size_t *)count;
    return EXIT_DONE;
}

/* With the CPU's with one thread. */
static double count_cases(const struct measurement *m, const struct targets *targets)
{
    size_t cases = 0, devices = targets->count;
    for (size_t i = 0; m->cases && m->cases[i]; i++)
        cases++;
    if (!m->cases)
        case_list_bench(count_case, &cases);
    for (size_t i = 0; i < targets->count; i++)
        devices += !strcmp(targets->names[i], "cpu") && usable_cpus() > 1;
    return (double)(cases * devices);
}

/* On the CPU each thread's rate tells as much as all together. */
static int bench_all(struct measurement *m, const struct targets *targets)
{
    unsigned cpus = usable_cpus();
    int code = EXIT_DONE;
    progress_begin("cases", count_cases(m, targets));
    for (size_t i = 0; i < targets->count && !code && !interrupted(); i++) {
        if (!strcmp(targets->names[i], "cpu") && cpus > 1)
            code = bench_device(m, targets->names[i], 1);
        if (!code)
            code = bench_device(m, targets->names[i], cpus);
    }
    code = code || !m->failed ? code : EXIT_DATA;
    if (interrupted())
        return interrupt_tell(code);
    if (code)
        return code;
    if (!m->timed)
        return fail(EXIT_DATA, "no case could be timed");
    return m->peer && !m->beside ? fail(EXIT_DATA, "%s does none of these cases on these devices", m->peer->name)
                                 : EXIT_DONE;
}

static int choose_peer(struct measurement *m)
{
    static const struct peer *const peers[] = {&peer_fftw, &peer_liquid, &peer_cufft, &peer_vkfft, &peer_clfft};
    enum { PEERS = sizeof peers / sizeof *peers };
    const char *names[PEERS + 1] = {NULL};
    for (size_t i = 0; i < PEERS && m->against; i++) {
        names[i] = peers[i]->name;
        if (strcmp(m->against, peers[i]->name))
            continue;
        m->peer = peers[i];
        return m->peer->reason ? fail(EXIT_USAGE, "--against %s is not in this build: %s", m->against, m->peer->reason)
                               : EXIT_DONE;
    }
    return m->against ? fail_unknown("peer", m->against, names) : EXIT_DONE;
}

static const struct {
    const char *name;
    int (*run)(const struct study *study);
} studies[] = {{"per", study_packet_errors}, {"taps", study_taps}, {"radix", study_radix},    {"2d", study_planes},
               {"plans", study_plans},       {"auto", study_auto}, {"enqueue", study_enqueue}};
enum { STUDIES = sizeof studies / sizeof *studies };

static int (*find_study(const char *name))(const struct study *study)
{
    for (size_t i = 0; i < STUDIES; i++)
        if (!strcmp(studies[i].name, name))
            return studies[i].run;
    return NULL;
}

static int check_study_options(const struct measurement *m, const struct options *options)
{
    const char *study = m->study ? m->study : "";
    bool per = !strcmp(study, "per"), choice = !strcmp(study, "auto"),
         forms = !strcmp(study, "radix") || !strcmp(study, "2d");
    const struct option_place places[] = {{"case", !m->study || choice},
                                          {"against", !m->study},
                                          {"csv", !per},
                                          {"png", !choice && strcmp(study, "enqueue")},
                                          {"most", forms || !strcmp(study, "plans")},
                                          {"count", per},
                                          {"length", per},
                                          {"cfo", per},
                                          {"sfo", per},
                                          {NULL, true}};
    char where[80] = "without --study";
    if (m->study)
        snprintf(where, sizeof where, "with --study %s", study);
    return options_check_places(options, places, where);
}

/* Before hours of work, not after. */
static int check_picture(const char *path)
{
    int code = path ? png_available("--png") : EXIT_DONE;
    if (code || !path)
        return code;
    return outfile_is_stdout(path) ? fail(EXIT_USAGE, "--png %s is impossible: standard output has the table", path)
                                   : outfile_try(path);
}

static int check_options(struct measurement *m, const struct options *options)
{
    const char *names[STUDIES + 1] = {NULL};
    int code = EXIT_DONE;
    for (size_t i = 0; i < STUDIES; i++)
        names[i] = studies[i].name;
    if ((m->study && !find_study(m->study) && (code = fail_unknown("study", m->study, names))) ||
        (code = check_study_options(m, options)) || (code = choose_peer(m)) ||
        (!m->study && (code = case_parse_all(m->cases))) || (code = check_picture(m->png)))
        return code;
    if (m->study && options->arguments[0] && options->arguments[1])
        code = fail(EXIT_USAGE, "--study %s takes one device", m->study);
    return code;
}

static int bench(struct measurement *m, const struct options *options)
{
    penstock_context *context = NULL;
    struct targets targets = {.count = 0};
    int code = check_options(m, options);
    if (code)
        return code;
    if (m->study)
        return find_study(m->study)(&(struct study){.device = options->arguments[0],
                                                    .only = m->cases ? m->cases[0] : NULL,
                                                    .png = m->png,
                                                    .csv = m->csv,
                                                    .frames = (size_t)m->count,
                                                    .length = (size_t)m->length,
                                                    .most = (size_t)m->most,
                                                    .cfo_hz = m->cfo_hz,
                                                    .sfo_ppm = m->sfo_ppm});
    if (!(code = open_context(&context, 0)))
        code = targets_find(&targets, context, options->arguments);
    if (!code && !*options->arguments)
        targets_warn(context, "timed");
    penstock_context_free(context);
    if (code)
        return code;
    bench_table_header(m->csv, m->peer);
    interrupt_conclude_by(conclude, m, EXIT_DONE);
    code = bench_all(m, &targets);
    int picture = interrupt_conclude(draw_chart, m);
    interrupt_end(code ? code : picture);
    bench_chart_free(&m->chart);
    return code ? code : picture;
}

static int run(const struct command *command, int argc, const char **argv)
{
    struct measurement m = {.count = 400, .length = 138};
    const struct option_row table[] = {
        OPTION_LIST("case", 'c', "CASE", &m.cases, "Only this case (penstock check --help), or several"),
        OPTION_FLAG("csv", 0, &m.csv, "Comma-separated values"),
        OPTION_TEXT("png", 0, "OUT.png", &m.png, "A diagram"),
        OPTION_TEXT("against", 0, "PEER", &m.against, "Compare with fftw, liquid, cufft, vkfft or clfft"),
        OPTION_TEXT("study", 0, "NAME", &m.study,
                    "per: packet errors of Wi-Fi rates; taps: filter speed; radix, 2d: forms of transforms on a GPU; "
                    "plans: making and tuning them; auto: the choice of the device"),
        OPTION_WHOLE("count", 'n', "N", &m.count, 10, 1e6, "", "Frames a point of --study per"),
        OPTION_WHOLE("length", 0, "BYTES", &m.length, MPDU_LEAST, PENSTOCK_WIFI_MAX_PSDU, "bytes",
                     "Of a frame of --study per"),
        OPTION_WHOLE("most", 0, "N", &m.most, 1, 1 << 23, "",
                     "Largest length or side of --study radix, 2d (if not given all) or plans (65536)"),
        OPTION_NUMBER("cfo", 0, "HZ", &m.cfo_hz, -1e6, 1e6, "Hz", "Carrier offset of --study per"),
        OPTION_NUMBER("sfo", 0, "PPM", &m.sfo_ppm, -1000, 1000, "ppm", "Clock offset of --study per"),
        OPTIONS_END,
    };
    struct options options;
    int code = EXIT_DONE;
    if (options_parse(&options, command, table, argc, argv, &code))
        code = bench(&m, &options);
    options_free(&options);
    return code;
}

const struct command command_bench = {
    .name = "bench",
    .synopsis = "[DEVICE...] [OPTION...]",
    .summary = "Time devices, alone or against other libraries",
    .notes = "Method: 3 runs to warm up, then runs for at least 0.5 s (0.3 s with the samples on a GPU, 1 s for\n"
             "receivers) and at least 5; the median counts. With --against ours and the peer's runs alternate on\n"
             "the same data and number of threads, and the ratio is the median of the pairs' ratios.\n"
             "On the CPU samples start and end in host memory; 'of copy' compares bytes read plus written with the\n"
             "better of memcpy() and a plain loop on buffers of the same size. On a GPU fft cases, and ofdm and\n"
             "filter cases in one kernel, have their samples there (1 GiB where memory allows) and the device's\n"
             "clock counts; 'of copy' compares with the better of its own copy and our copy kernel, and the rate\n"
             "from host to host is told besides.\n"
             "Peers: fftw and liquid plan one transform and call it in a loop (FFTW_MEASURE), on the host. cufft,\n"
             "vkfft and clfft compute where ours does, on the same samples, cufft with separate kernels for what\n"
             "is not a transform: in brackets, in --csv as peer_parts, is what each of its kernels reaches of the\n"
             "copy.\n"
             "receive:*:idle is white noise; receive:*:MBPS is frames of 1500 bytes, 16 us apart at 20 MHz, at 35\n"
             "dB, receive:*:mixed the same of all rates and lengths, and every frame must come out. In --csv\n"
             "energy_nj (processor package), cycles and instructions are per sample, and empty where the system\n"
             "does not let them be read.\n"
             "--study per: frames in white noise of the profile's whole bandwidth, detection included; recorded\n"
             "ones where they are at hand (138 bytes at 6, 12, 18, 24, 48 Mb/s), the transmitter's elsewhere.\n"
             "--study taps: the filter's rate from 16 to 65536 complex taps on one thread, the best of 30 runs (on\n"
             "the CPU by the thread's own time), and how far it is below its envelope, the best rate with as many\n"
             "taps or more.\n"
             "--study radix, --study 2d: a transform in the forms that a GPU's plan can have, on DEVICE (opencl):\n"
             "stages of radix 2, 4, 8 and 16 from 8 to 2^20 points; 2-D ones of 16 to 2048 a side with global or\n"
             "local scratch memory and with columns in place or transposed. Time and energy of one of a batch (256\n"
             "MiB on the device, 8 MiB on a CPU), energy from NVML or powercap where the device reports it.\n"
             "--study plans: times to make plans of transforms on DEVICE (opencl) from 64 to 65536 points: cold,\n"
             "with an empty cache folder; warm; tuned (fft:N:tuned), cold, with all kernels kept, and with the\n"
             "answer kept; and the time of a transform in the shape that tuning chose over that of the usual one\n"
             "(median of 15 pairs).\n"
             "--study enqueue: microseconds that penstock_plan_enqueue takes on the host, on DEVICE (cuda), beside\n"
             "cuFFT's call where that is at hand, in turns.\n"
             "--study auto: the rate of auto, from 2 s after its start on, over that of the best device by name,\n"
             "in 40 turns of 50 ms, of which four give a ratio and the median counts, in five processes each, one\n"
             "after the other: with an empty cache folder and with a kept one, on an idle machine and beside a busy\n"
             "process on every second processor; and how long the first result takes, on auto and on the CPU.\n"
             "--case TEXT: only those whose names have TEXT in them.\n",
    .run = run,
};
