/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/*
 * Penstock: a radio's samples on whatever processor the machine has.
 *
 *     #include <penstock/penstock.h>
 *
 *     penstock_context *context = NULL;
 *     penstock_plan *plan = NULL;
 *     penstock_cf32 in[64 * 1024], out[64 * 1024];
 *     ... fill in ...
 *     if (penstock_context_new(&context, NULL) ||
 *         penstock_fft_plan(&plan, context, &PENSTOCK_FFT_DESC(.n = 1024), "auto") ||
 *         penstock_plan_run(plan, in, out, 64))
 *         fprintf(stderr, "%s\n", penstock_error_text());
 *     penstock_plan_free(plan);
 *     penstock_context_free(context);
 *
 * Reading order: context.h (contexts, devices), samples.h (how they lie in memory), plan.h and fft.h (the batched FFT,
 * windows), stream.h (the life that all streams have), then the one that you need; each can also be included alone:
 *     fft_options.h how a GPU is to transform, for comparisons
 *     half.h       numbers of 16 bits
 *     spectrum.h   streaming windowed FFT
 *     fft_stream.h transforms of a stream of vectors
 *     filter.h     streaming FIR filter by FFT
 *     resampler.h  streaming resampler for any ratio of rates
 *     channelizer.h polyphase filter bank: samples to channels and back
 *     ofdm.h       OFDM symbol demodulation
 *     ofdm_stream.h the same for frames of a stream
 *     fec.h        convolutional codes: Viterbi decoders and encoders
 *     wifi.h       IEEE 802.11 receiver and transmitter
 *     channel.h    noise, offsets and multipath for test signals
 *     source.h     where samples come from and go to: files, SigMF, SoapySDR
 *     files.h      files that are replaced when they are whole
 *     buffer.h     memory of devices and queues of work there, the library's and the caller's
 *     host_memory.h  memory that devices copy from and to by themselves
 *     cache.h      the size of the cache folder, and clearing it
 *     description.h how descriptions are made, in C and in C++
 *
 * Said once, true everywhere
 * - A function that can fail returns 0 (PENSTOCK_OK) or a negative penstock_status. After a failure
 *   penstock_error_text() gives one line about it, kept per thread until that thread's next failure.
 * - `*_new`, `*_plan` and `*_open` store a new object in their first argument, or NULL and an error.
 *   `*_free` takes NULL. Free what was made from a context before the context.
 * - Descriptions are structs in which zero means the default. Make them with their macro
 *   (PENSTOCK_FFT_DESC(.n = 1024); description.h has what to write in C++), which also sets `size`; a later
 *   library then reads an earlier caller's struct rightly. What a description points to is copied.
 * - A context may be used by several threads at once; any other object by one thread at a time, but for buffers.
 * - After fork() the child has copies of all objects and may use and free them: on processors they go on as they were,
 *   with threads of the child's own. Devices whose driver has been loaded ("opencl", "cuda", "qpu") stay with the
 *   parent: each call that needs one is an error at once, and "auto" and "prefer:" go on with the CPU. (Not a stream
 *   whose samples are in such a device's own memory, as with CUDA; nor may that memory of penstock_host_memory_new() be
 *   touched.) So do sources, sinks and sets of files, whose calls are errors in the child; freeing them there leaves
 *   files and radios as they are. A driver that no process before has loaded works in the child. An object that another
 *   thread was using during the fork is not to be touched in the child, but for the context. fork() waits for a plan
 *   that another thread has FFTW or liquid-dsp make.
 * - The library never prints, never exits, and keeps the caller's locale and signal handlers alone.
 *
 * Devices are named by text: "auto" is the fastest by measurement and always runs, at worst on the
 * CPU; "NAME" ("cpu", "opencl:1", or a piece of a product name) is that device or an error;
 * "prefer:NAME" is that device or, with one log line, the CPU. NULL and "" mean "auto".
 *
 * "cuda:*" (or "opencl:*") and a list, "cuda:0,cuda:1" or for short "cuda:0+1", are several devices of one kind:
 * batches of a plan and blocks of a stream go to them in turns and come back in order, with the bits of one where they
 * are of one product. A stream keeps three batches on their way to each. One that fails is left out from then on, with
 * one log line, and what it had is done again by the others; all of them failing is as one device's failure. The same
 * one twice, kinds mixed, or one that the machine has not are errors. Of one device "cuda:*" is that device. "opencl:*"
 * leaves out processors beside which there is a GPU. Buffers and queues are on one device, and a plan of several takes
 * those of any of them.
 */
#ifndef PENSTOCK_PENSTOCK_H
#define PENSTOCK_PENSTOCK_H

#include <penstock/base.h>
#include <penstock/buffer.h>
#include <penstock/cache.h>
#include <penstock/channel.h>
#include <penstock/channelizer.h>
#include <penstock/context.h>
#include <penstock/description.h>
#include <penstock/fec.h>
#include <penstock/fft.h>
#include <penstock/fft_options.h>
#include <penstock/fft_stream.h>
#include <penstock/files.h>
#include <penstock/filter.h>
#include <penstock/half.h>
#include <penstock/host_memory.h>
#include <penstock/ofdm.h>
#include <penstock/ofdm_stream.h>
#include <penstock/plan.h>
#include <penstock/resampler.h>
#include <penstock/samples.h>
#include <penstock/source.h>
#include <penstock/spectrum.h>
#include <penstock/stream.h>
#include <penstock/wifi.h>

#endif
