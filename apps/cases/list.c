/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Which cases check and bench go through when none is named. */
#include "cases.h"
#include "shared/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The same for every device; what one cannot do is told as SKIPPED. */
static const char *const quick_cases[] = {
    "fft:1",
    "fft:2",
    "fft:3",
    "fft:4",
    "fft:5",
    "fft:7",
    "fft:8",
    "fft:12",
    "fft:16",
    "fft:32",
    "fft:60",
    "fft:64",
    "fft:97",
    "fft:128",
    "fft:256",
    "fft:512",
    "fft:1000",
    "fft:1024",
    "fft:2048",
    "fft:4096",
    "fft:8192",
    "fft:65536",
    "fft:64:x1",
    "fft:64:x63",
    "fft:64:x1000",
    "fft:256:reverse",
    "fft:1024:hann:x64",
    "fft:1024:blackman-harris:centered",
    "fft:512:kaiser=8.6:decibel",
    "fft:256:power",
    "fft:1024:hann:power:avg4:x8",
    "fft:64:skip16:x80",
    "fft:128:cs16",
    "fft:128:cs8:hamming",
    "fft:128:cu8",
    "fft:128:planar",
    "fft:256:cf16",
    "fft:1024:half",
    "fft:600:cf16:half:reverse",
    "fft:256:hann:power:half",
    "fft:1024:real",
    "fft:1024:real:reverse",
    "fft:100:real",
    "fft:8x16",
    "fft:64x60:reverse",
    "fft:17x24:cs16:power:centered",
    "fft:128x32:transposed",
    "fft:32x64:cf16:half",
    "fft:64:columns24:hann",
    "fft:19:columns3",
    "fft:512:radix2",
    "fft:512:radix4",
    "fft:512:radix8",
    "fft:512:radix16",
    "fft:1024:global",
    "fft:100:global:reverse",
    "fft:1024:local:items64:group2",
    "fft:1024:cf16:half:fp16",
    "fft:64x60:cf16:half:fp16",
    "fft:1000:images",
    "fft:64x24:images:reverse",
    "fft:64:tuned",
    "spectrum:1024",
    "spectrum:256:hann:hop64",
    "spectrum:512:hamming:hop1000:power",
    "spectrum:1024:hann:decibel:avg3",
    "spectrum:64:hop1:cs16",
    "spectrum:128:blackman:cu8:hop96:power",
    "spectrum:1024:acquire",
    "spectrum:256:hann:vectors",
    "filter:ccf:1",
    "filter:ccf:65",
    "filter:ccc:257",
    "filter:fff:1025",
    "filter:ccf:129:d4",
    "filter:ccc:715:d5:shift:cs16",
    "filter:fff:100:d3",
    "filter:ccc:3000:n1024",
    "filter:ccc:100:i3:c2",
    "filter:ccf:129:i4",
    "filter:ccc:65:i3:d2:shift:cs16",
    "filter:fff:100:i2",
    "channelizer:2",
    "channelizer:16",
    "channelizer:60:hop45",
    "channelizer:64:hop32:cs16",
    "channelizer:60:hop45:acquire",
    "channelizer:60:hop45:cs16:run",
    "channelizer:256:keep3:cu8",
    "channelizer:1024:streams",
    "channelizer:2048:hop1024:t8",
    "channelizer:64:acquire",
    "synthesizer:2",
    "synthesizer:64",
    "synthesizer:60:hop45",
    "synthesizer:60:hop45:acquire",
    "synthesizer:256:keep3",
    "synthesizer:1024:streams",
    "synthesizer:64:hop64:t8",
    "resampler:24/25",
    "resampler:160/147:att100",
    "resampler:0.7312",
    "resampler:2.3:f32",
    "resampler:0.11:cs16:att60",
    "resampler:3.14159:acquire",
    "resampler:0.01:acquire",
    "chain:filter:ccf:129:d4:cs16:x3000000+spectrum:256:hann:power:avg4",
    "chain:filter:ccc:65:acquire+spectrum:128:hop64",
    "chain:filter:ccf:33+spectrum:64:vectors",
    "chain:filter:ccf:129:i4+spectrum:256:hann:power",
    "chain:channelizer:64:cs16:x4000000+spectrum:64:hann:power:avg2",
    "chain:channelizer:60:hop45:acquire+spectrum:48:hop24",
    "chain:ofdm:256/16/100:qpsk:cs16:x34000+viterbi:wifi:94",
    "chain:ofdm:lte5:qam64:acquire+viterbi:wifi:3/4:500",
    "ofdm:wifi:bpsk",
    "ofdm:wifi:qpsk",
    "ofdm:wifi:qam16",
    "ofdm:wifi:qam64:x100",
    "ofdm:vht80:qam256",
    "ofdm:lte5:qam64",
    "ofdm:lte20:qam1024:x2",
    "ofdm:1536/108/1200:qam64:cs16",
    "ofdm:600/48/450:qam16:cs16",
    "ofdm:lte5:qam16:stream",
    "ofdm:wifi:qam64:acquire",
    "receive:wifi:6",
    "receive:wifi:9",
    "receive:wifi:12",
    "receive:wifi:18",
    "receive:wifi:24",
    "receive:wifi:36",
    "receive:wifi:48",
    "receive:wifi:54",
    "receive:wifi-10mhz:27",
    "receive:wifi-5mhz:13.5",
    "receive:wifi:mixed",
    "receive:wifi:chunk79",
    "receive:wifi:idle",
    "receive:wifi:recordings",
    "viterbi:wifi",
    "viterbi:wifi:2/3:hard",
    "viterbi:wifi:3/4:f32",
    "viterbi:wifi:5/6:700",
    "viterbi:dvb:1",
    "viterbi:dvb:7/8:x3",
    "viterbi:dab:3000:x5",
    "viterbi:lte:40:x300",
    "viterbi:ccsds:9001:x1",
    "ldpc:wifi:648:1/2",
    "ldpc:wifi:1296:3/4:early",
    "ldpc:wifi:1944:5/6:f32",
    "ldpc:nr:bg1:384:5",
    "ldpc:nr:bg1:20:46:x3",
    "ldpc:nr:bg2:52:9:early:x1",
    "ldpc:ccsds:1024:4/5:i20",
};

/* Lengths beyond what --full goes through one by one: powers of two and their neighbours, squares of primes, products
 * of small and of large primes, primes, and those of DVB and DAB. */
static const size_t long_lengths[] = {
    4097,    4489,    4913,    5000,    5041,    5329,    6144,    6241,   6561,   6816,   6817,    6889,
    7919,    7921,    8000,    8191,    8192,    8193,    9409,    9973,   10000,  10007,  10201,   12288,
    15625,   16383,   16384,   16385,   19683,   24576,   27841,   30030,  32767,  32768,  32769,   40320,
    44100,   65521,   65535,   65536,   65537,   96000,   100000,  131071, 131072, 131073, 177147,  200000,
    262143,  262144,  262145,  390625,  524287,  524288,  524289,  720720, 994009, 999983, 1000000, 1048573,
    1048575, 1048576, 1048577, 2097152, 4194301, 4194304, 8388593, 8388608};

static const char *const bench_cases[] = {
    "fft:16",
    "fft:64",
    "fft:256",
    "fft:1000",
    "fft:1024",
    "fft:4096",
    "fft:16384",
    "fft:65536",
    "fft:256x256",
    "fft:1024:hann:power",
    "spectrum:1024",
    "spectrum:1024:acquire",
    "spectrum:1024:vectors",
    "spectrum:1024:vectors:acquire",
    "spectrum:2048:cs16:hann:power:avg16",
    "spectrum:2048:cs16:hann:power:avg16:acquire",
    "spectrum:1024:hann:power",
    "spectrum:1024:hann:hop256:power",
    "filter:ccf:65",
    "filter:ccf:257",
    "filter:ccf:1025",
    "filter:ccf:129:d4",
    "filter:ccc:129:stream",
    "filter:ccc:129:push",
    "filter:ccc:129:acquire",
    "filter:ccc:1025:push",
    "filter:ccc:1025:acquire",
    "filter:ccf:129:d4:cs16:enqueue",
    "filter:ccf:129:i4",
    "filter:ccf:129:i4:acquire",
    "channelizer:16",
    "channelizer:64",
    "channelizer:64:acquire",
    "channelizer:64:run",
    "channelizer:64:hop32",
    "channelizer:64:streams",
    "channelizer:1024",
    "channelizer:4096:hop2048",
    "synthesizer:64",
    "synthesizer:64:acquire",
    "synthesizer:64:streams",
    "synthesizer:60:hop45",
    "synthesizer:1024",
    "resampler:24/25",
    "resampler:0.73",
    "resampler:2.3",
    "resampler:0.11",
    "resampler:24/25:acquire",
    "resampler:0.73:acquire",
    "resampler:2.3:acquire",
    "resampler:0.11:acquire",
    "chain:filter:ccf:129:d4:cs16+spectrum:2048:hann:power:avg16",
    "chain:filter:ccf:129:d4:cs16:acquire+spectrum:2048:hann:power:avg16",
    "chain:filter:ccf:129:d4:cs16:enqueue+spectrum:2048:hann:power:avg16",
    "chain:channelizer:64:cs16+spectrum:1024:hann:power:avg4",
    "chain:channelizer:64:cs16:acquire+spectrum:1024:hann:power:avg4",
    "chain:channelizer:64:cs16:enqueue+spectrum:1024:hann:power:avg4",
    "chain:ofdm:2048/144/1200:qam64:cs16+viterbi:wifi:1794",
    "chain:ofdm:2048/144/1200:qam64:cs16:acquire+viterbi:wifi:1794",
    "chain:ofdm:2048/144/1200:qam64:cs16:enqueue+viterbi:wifi:1794",
    "channelizer:64:cs16:enqueue",
    "ofdm:wifi:qam64",
    "ofdm:lte20:qam64",
    "ofdm:lte20:qam64:stream",
    "ofdm:lte20:qam64:acquire",
    "receive:wifi:idle",
    "receive:wifi:6",
    "receive:wifi:54",
    "receive:wifi:mixed",
    "viterbi:wifi",
    "viterbi:wifi:x1",
    "viterbi:dvb:3/4:8192",
    "viterbi:lte:40",
    "ldpc:wifi:1944:1/2",
    "ldpc:wifi:1944:1/2:early",
    "ldpc:wifi:1944:5/6",
    "ldpc:nr:bg1:384:5",
    "ldpc:nr:bg1:384:9",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int visit_all(const char *const *cases, size_t count, int (*visit)(void *argument, const char *text),
                     void *argument)
{
    int code = 0;
    for (size_t i = 0; i < count && !code; i++)
        code = visit(argument, cases[i]);
    return code;
}

/* Both ways. */
static int visit_length(size_t n, int (*visit)(void *argument, const char *text), void *argument)
{
    char text[CASE_TEXT];
    snprintf(text, sizeof text, "fft:%zu", n);
    int code = visit(argument, text);
    snprintf(text, sizeof text, "fft:%zu:reverse", n);
    return code ? code : visit(argument, text);
}

/* The i-th of some lengths from 2^12 to 2^23, as many in each octave. */
static size_t drawn_length(size_t i)
{
    uint64_t seed = i;
    return (size_t)exp2(12 + 11 * random_uniform(&seed));
}

/* Every length that the device must do, the longer ones first: they are few. */
static int visit_lengths(const char *device, int (*visit)(void *argument, const char *text), void *argument)
{
    enum { DRAWN = 44 };
    bool all = !strcmp(device, "cpu") || !strncmp(device, "opencl", 6) || !strncmp(device, "cuda", 4);
    size_t most = all ? 4096 : 1024;
    int code = 0;
    for (size_t i = 0; i < COUNT(long_lengths) && all && !code; i++)
        code = visit_length(long_lengths[i], visit, argument);
    for (size_t i = 0; i < DRAWN && all && !code; i++)
        code = visit_length(drawn_length(i), visit, argument);
    for (size_t n = 1; n <= most && !code; n++)
        code = visit_length(n, visit, argument);
    return code;
}

int case_list_check(const char *device, bool full, int (*visit)(void *argument, const char *text), void *argument)
{
    int code = visit_all(quick_cases, COUNT(quick_cases), visit, argument);
    return code || !full ? code : visit_lengths(device, visit, argument);
}

int case_list_bench(int (*visit)(void *argument, const char *text), void *argument)
{
    return visit_all(bench_cases, COUNT(bench_cases), visit, argument);
}
