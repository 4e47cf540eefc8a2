/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* Frames from samples to bits on a device: what that takes, and when it is there. */
#include "rx/device.h"
#include "core/choice/cpu_while_compiling.h"
#include "core/choice/side_by_side.h"
#include "core/device/device_group.h"
#include "core/device/devices.h"
#include "core/plan/problem.h"
#include "ops/coding/viterbi.h"
#include "ops/ofdm/ofdm.h"

#define PART_ALIGNMENT 4096 /* a multiple of every device's */
#define FLYING         3    /* batches on their way to each device */

/* ---------------------------------------------------------------- life ------------------------ */

static int describe_rates(struct penstock__rx_device *device, const struct penstock__rx_code *code)
{
    const size_t row = PENSTOCK__CODED_MAP + 2 * (size_t)code->most_steps;
    if (!(device->rates = penstock__alloc(code->rates * row * sizeof *device->rates)))
        return PENSTOCK_ERR_MEMORY;
    for (size_t i = 0; i < code->rates * row; i++)
        device->rates[i] = -1;
    for (unsigned r = 0; r < code->rates; r++)
        code->rate(r, device->rates + r * row);
    return PENSTOCK_OK;
}

static struct penstock_problem coded_problem(const struct penstock__rx_device *device, size_t block_bytes)
{
    const struct penstock__rx_standard *standard = device->rx->standard;
    const struct penstock__rx_code *code = standard->code;
    const size_t row = PENSTOCK__CODED_MAP + 2 * (size_t)code->most_steps;
    return (struct penstock_problem){.kind = PENSTOCK_PROBLEM_CODED,
                                     .in_bytes = penstock__ofdm_row(&device->points),
                                     .out_bytes = (size_t)2 * code->most_steps,
                                     .batch = PENSTOCK__RX_SYMBOLS,
                                     .coded = {.carriers = standard->carriers,
                                               .pitch = standard->carriers * standard->bits,
                                               .generators = {code->generators[0], code->generators[1]},
                                               .constraint = code->constraint,
                                               .rate_count = code->rates,
                                               .row = (unsigned)row,
                                               .rates = device->rates,
                                               .block_bytes = block_bytes,
                                               .tally = block_bytes > 0}};
}

static int describe(struct penstock__rx_device *device)
{
    const struct penstock__rx_standard *standard = device->rx->standard;
    const struct penstock__rx_code *code = standard->code;
    int status = describe_rates(device, code);
    device->points = (struct penstock_ofdm_problem){.n = standard->fft,
                                                    .carrier_count = standard->carriers,
                                                    .bits = standard->bits,
                                                    .pilot_count = standard->pilots,
                                                    .complete = true};
    if (status ||
        (status = penstock__viterbi_problem(
             &device->problems[1], NULL,
             &PENSTOCK_VITERBI_DESC(.generators = {code->generators[0], code->generators[1]},
                                    .constraint = code->constraint, .bits = code->most_bits, .soft = PENSTOCK_SOFT_S8,
                                    .result = PENSTOCK_BITS_LSB_FIRST, .batch = PENSTOCK__RX_FRAMES / 2))))
        return status;
    device->problems[0] = coded_problem(device, 0);
    device->problems[2] = coded_problem(device, device->problems[1].out_bytes);
    return PENSTOCK_OK;
}

static void place_parts(struct penstock__rx_device *device)
{
    const struct penstock__rx_standard *standard = device->rx->standard;
    const size_t frames = PENSTOCK__RX_FRAMES, symbols = PENSTOCK__RX_SYMBOLS;
    const size_t samples = symbols * standard->symbol + frames * (standard->head + standard->margin);
    const size_t bytes[PENSTOCK__RX_PARTS] = {
        [PENSTOCK__RX_DESCRIPTORS] = symbols * sizeof(struct penstock_ofdm_descriptor),
        [PENSTOCK__RX_COEFFICIENTS] = frames * penstock__ofdm_coefficients(&device->points) * sizeof(penstock_cf32),
        [PENSTOCK__RX_BLOCKS] = frames * sizeof(penstock_viterbi_block),
        [PENSTOCK__RX_CODED] = symbols * sizeof(struct penstock_coded_symbol),
        [PENSTOCK__RX_SAMPLES] = samples * sizeof(penstock_cf32)};
    size_t at = 0;
    for (unsigned i = 0; i < PENSTOCK__RX_PARTS; i++) {
        device->part_at[i] = at;
        device->part_bytes[i] = bytes[i];
        at += (bytes[i] + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
    }
}

static void free_device(void *made)
{
    struct penstock__rx_device *device = made;
    if (device) {
        penstock__rx_batches_free(device->batches);
        penstock__executor_free(device->deinterleave);
        penstock__executor_free(device->viterbi);
        penstock__executor_free(device->tally);
        penstock__free(device->rates);
    }
    penstock__free(device);
}

static int make_executor(void *owner, unsigned which)
{
    struct penstock__rx_device *device = owner;
    struct penstock__executor **const executors[] = {&device->deinterleave, &device->viterbi, &device->tally};
    int status = penstock__problem_supported(device->there, &device->problems[which]);
    return status < 0 ? status : penstock__executor_new(executors[which], device->there, &device->problems[which], 1);
}

static int open_device(struct penstock__rx_device *device, const char *name)
{
    int status = penstock__devices_open_named(&device->there, device->rx->stream.context, name);
    if (!status && !penstock__ofdm_lists(device->there))
        status = penstock__error(PENSTOCK_ERR_UNSUPPORTED, "%s: no kernel demodulates there", name);
    return status;
}

/* The maker's, of a receiver. */
static int make(void **made, void *owner, const char *name)
{
    struct penstock__rx *rx = owner;
    struct penstock__rx_device *device = penstock__calloc(1, sizeof *device);
    int status = device ? PENSTOCK_OK : PENSTOCK_ERR_MEMORY;
    *made = NULL;
    if (!status) {
        device->rx = rx;
        status = open_device(device, name);
    }
    if (!status && !(status = describe(device))) {
        place_parts(device);
        status = penstock__side_by_side(make_executor, device, 3, device->there);
    }
    if (!status)
        status = penstock__rx_batches_new(&device->batches, rx, &penstock__rx_device_way, device,
                                          FLYING * penstock__device_members(device->there));
    if (status) {
        free_device(device);
        return status;
    }
    *made = device;
    return PENSTOCK_OK;
}

static const char *device_of(const void *made)
{
    return ((const struct penstock__rx_device *)made)->there->name;
}

/* Why a device does not decode. */
static void tell(const struct penstock__rx *rx, const char *name, int status)
{
    penstock__log(rx->stream.context, status == PENSTOCK_ERR_UNSUPPORTED ? PENSTOCK_LOG_DEBUG : PENSTOCK_LOG_WARNING,
                  "%s does not decode, and the CPU decodes: %s", name, penstock_error_text());
}

static void begin(struct penstock__rx *rx, const char *name)
{
    static const struct penstock__maker maker = {.make = make, .free = free_device, .device = device_of};
    void *made = NULL;
    int status;
    if (rx->device_tried || !rx->standard->code)
        return;
    rx->device_tried = true;
    status = rx->waits ? penstock__async_build_new(&rx->build, &maker, rx, name, 0) : make(&made, rx, name);
    rx->device = made;
    if (status)
        tell(rx, name, status);
}

/* Where the demodulator is, if that is known only by now. */
static void begin_there(struct penstock__rx *rx)
{
    if (penstock__ofdm_listed(rx->ofdm))
        begin(rx, penstock_ofdm_device(rx->ofdm));
}

/* What is made side by side. */
struct parts {
    struct penstock__rx *rx;
    const char *name; /* of the device */
    int (*demodulator)(struct penstock__rx *rx, const void *owner);
    const void *owner;
};

static int make_part(void *owner, unsigned which)
{
    const struct parts *parts = owner;
    if (!which)
        return parts->demodulator(parts->rx, parts->owner);
    begin(parts->rx, parts->name);
    return PENSTOCK_OK;
}

int penstock__rx_device_new(struct penstock__rx *rx, const char *device,
                            int (*demodulator)(struct penstock__rx *rx, const void *owner), const void *owner)
{
    struct parts parts = {.rx = rx, .demodulator = demodulator, .owner = owner};
    struct penstock_device *there = NULL;
    enum penstock_preference preference;
    int status = penstock__device_parse(&preference, &parts.name, device);
    if (status)
        return status;
    if (rx->waits && preference != PENSTOCK_DEVICE_AUTO &&
        !penstock__device_find(rx->stream.context, parts.name, &there)) {
        if (penstock__ofdm_lists(there))
            begin(rx, parts.name);
        return demodulator(rx, owner);
    }
    if (!rx->waits && (status = penstock__compiled_for(&there, rx->stream.context, device)))
        return status;
    status = penstock__side_by_side(make_part, &parts, there && penstock__ofdm_lists(there) ? 2 : 1, there);
    if (!status && !rx->waits)
        begin_there(rx);
    return status;
}

/* Takes what was waited for. */
static void collect(struct penstock__rx *rx)
{
    void *made = NULL;
    if (!rx->build || !penstock__async_build_done(rx->build, 0))
        return;
    int status = penstock__async_build_take(rx->build, &made);
    if (status)
        tell(rx, penstock__async_build_name(rx->build), status);
    penstock__async_build_free(rx->build);
    rx->build = NULL;
    rx->device = made;
}

void penstock__rx_device_free(struct penstock__rx *rx)
{
    penstock__async_build_free(rx->build);
    free_device(rx->device);
    rx->build = NULL;
    rx->device = NULL;
}

static void give_up(struct penstock__rx *rx)
{
    penstock__log(rx->stream.context, PENSTOCK_LOG_WARNING, "%s decodes no more, and the CPU does, since: %s",
                  penstock_ofdm_device(rx->ofdm), penstock_error_text());
    rx->device->failed = true;
}

/* Once the demodulator is on the same device. */
static bool is_ready(const struct penstock__rx *rx)
{
    struct penstock__rx_device *device = rx->device;
    if (!device || device->failed)
        return false;
    device->ofdm = penstock__ofdm_listed(rx->ofdm);
    return device->ofdm && device->ofdm->state.device == device->there;
}

void penstock__rx_decode_there(struct penstock__rx *rx, bool all)
{
    begin_there(rx);
    collect(rx);
    if (is_ready(rx) && penstock__rx_batches_run(rx->device->batches, all) < 0)
        give_up(rx);
}

void penstock__rx_finish_there(struct penstock__rx *rx)
{
    if (penstock__rx_device_flying(rx) && penstock__rx_batches_finish(rx->device->batches) < 0)
        give_up(rx);
}

bool penstock__rx_device_flying(const struct penstock__rx *rx)
{
    return rx->device && penstock__rx_batches_flying(rx->device->batches);
}

void penstock__rx_device_drop(struct penstock__rx *rx)
{
    if (penstock__rx_device_flying(rx) && penstock__rx_batches_drop(rx->device->batches))
        give_up(rx);
    penstock__rx_device_release(rx);
}

void penstock__rx_device_release(struct penstock__rx *rx)
{
    if (rx->device && rx->device->failed)
        penstock__rx_device_free(rx);
}
