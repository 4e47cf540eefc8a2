/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Good values for the calls that tests/interface/hostile_calls.py writes, and the checks behind each of them. */
#ifndef PENSTOCK_TEST_HOSTILE_H
#define PENSTOCK_TEST_HOSTILE_H

#include "test.h"

#include <limits.h>
#include <penstock/bench.h>
#include <penstock/cache.h>
#include <penstock/choice.h>
#include <penstock/penstock.h>

#define HOSTILE_MARK ((void *)(uintptr_t)64) /* in a place for a new object */

extern const char *hostile_device;
extern penstock_context *hostile_context;
extern char hostile_long_text[], hostile_input[], hostile_output[];
extern void *hostile_arrays_in[16], *hostile_arrays_out[16];

/* What is told of a crash; and afterwards: an error has a text of one line. Objects of the call are freed. */
void hostile_begin(const char *what);
void hostile_end(int status);

/* Whether the call has made an object, which the caller frees: after an error its place holds NULL or is as it was. */
bool hostile_is_made(int status, const void *made);
void hostile_made_file(void);

/* Behind a call with nothing hostile, which shows that the others are reached. */
void hostile_good(int status);

/* 1 MiB each: 0 to be written, 1 and 2 finite floats, 3 band edges, 4 zeros. */
char *hostile_memory(int place);

penstock_stream *hostile_stream(const char *kind);
penstock_plan *hostile_plan(const char *kind);
penstock_buffer *hostile_buffer(void);
penstock_queue *hostile_queue(void);
penstock_channel *hostile_channel(void);
penstock_ofdm *hostile_ofdm(void);
penstock_ofdm_estimator *hostile_ofdm_estimator(void);
penstock_source *hostile_source(void);
penstock_sink *hostile_sink(void);
penstock_files *hostile_files(void);
penstock_file *hostile_file(void);
penstock_bench *hostile_bench(void);

/* clang-format off */
#define HOSTILE_FILLS(FILL) \
    FILL(penstock_bench_desc) \
    FILL(penstock_channel_desc) \
    FILL(penstock_channelizer_desc) \
    FILL(penstock_context_desc) \
    FILL(penstock_fft_desc) \
    FILL(penstock_fft_stream_desc) \
    FILL(penstock_filter_desc) \
    FILL(penstock_ldpc_desc) \
    FILL(penstock_ofdm_batch) \
    FILL(penstock_ofdm_desc) \
    FILL(penstock_ofdm_estimator_desc) \
    FILL(penstock_ofdm_frame) \
    FILL(penstock_ofdm_result) \
    FILL(penstock_ofdm_stream_desc) \
    FILL(penstock_resampler_desc) \
    FILL(penstock_sink_desc) \
    FILL(penstock_source_desc) \
    FILL(penstock_spectrum_desc) \
    FILL(penstock_synthesizer_desc) \
    FILL(penstock_viterbi_batch) \
    FILL(penstock_viterbi_desc) \
    FILL(penstock_wifi_receiver_desc) \
    FILL(penstock_wifi_transmit_desc)
/* clang-format on */
#define HOSTILE_FILL(type) void hostile_fill_##type(type *to);
HOSTILE_FILLS(HOSTILE_FILL)
#undef HOSTILE_FILL

int hostile_main(int argc, char **argv, void (*const *calls)(void), size_t count, size_t functions);

#endif
