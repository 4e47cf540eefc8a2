/* SPDX-License-Identifier: MIT */
/* Copyright The Penstock authors. */

/* IEEE 802.11a/g/p frames (IEEE 802.11-2020 clause 17) from samples to bytes, and back. */
#ifndef PENSTOCK_WIFI_H
#define PENSTOCK_WIFI_H

#include <penstock/context.h>
#include <penstock/samples.h>
#include <penstock/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum penstock_wifi_profile {
    PENSTOCK_WIFI,       /* "wifi": 20 MHz, 20 Msamples/s */
    PENSTOCK_WIFI_10MHZ, /* "wifi-10mhz": half clock, 802.11p */
    PENSTOCK_WIFI_5MHZ   /* "wifi-5mhz": quarter clock */
} penstock_wifi_profile;

PENSTOCK_API int penstock_wifi_profile_parse(penstock_wifi_profile *profile, const char *name);
PENSTOCK_API double penstock_wifi_rate_hz(penstock_wifi_profile profile);

#define PENSTOCK_WIFI_MAX_PSDU 4095
#define PENSTOCK_WIFI_BINS     64

/* Samples from a frame's first one to the first long training symbol, after its guard interval: what places it. */
#define PENSTOCK_WIFI_LONG_TRAINING 192

/* ---------------------------------------------------------------- receiver -------------------- */

typedef enum penstock_wifi_format {
    PENSTOCK_WIFI_LEGACY, /* clause 17: decoded */
    PENSTOCK_WIFI_HT,     /* clause 19: recognised, skipped for the right time */
    PENSTOCK_WIFI_VHT,    /* clause 21, or a later format with a legacy preamble: likewise */
    PENSTOCK_WIFI_UNKNOWN /* the SIGNAL field could not be read */
} penstock_wifi_format;

/* Pointers live until the next pull, reset or free. */
typedef struct penstock_wifi_frame {
    size_t size;
    uint64_t sample;  /* of the stream: first sample of the short training field */
    uint64_t samples; /* from there to the frame's end */
    penstock_wifi_format format;
    double bandwidth_hz;
    double rate_mbps; /* from SIGNAL; 0 if unknown */
    int mcs;          /* HT and later; -1 otherwise */
    unsigned length;  /* of the PSDU in bytes, FCS included */
    bool decoded;     /* the PSDU is there */
    bool fcs_ok;
    double snr_db; /* from the two long training symbols */
    double evm_db; /* of the data points about the nearest constellation points; NAN if not decoded */
    double cfo_hz, sfo_ppm;
    double raw_ber;              /* bit errors before decoding, by encoding the result again; NAN if not decoded */
    const uint8_t *psdu;         /* `length` bytes, or NULL */
    const penstock_cf32 *points; /* equalised data points, 48 a symbol, or NULL */
    size_t point_count;
    const char *reason;           /* why it was not decoded, or why the FCS may be wrong; NULL where fcs_ok */
    const penstock_cf32 *channel; /* estimate, PENSTOCK_WIFI_BINS values by FFT bin (carrier -k at bin 64 - k): what a
                                     bin of the unnormalised 64-point FFT has for each unit that was sent on its
                                     carrier, guard interval's end to FFT start; 0 where nothing is sent */
} penstock_wifi_frame;

#define PENSTOCK_WIFI_FRAME PENSTOCK_DESCRIPTION(penstock_wifi_frame, )

typedef struct penstock_wifi_counters {
    size_t size;
    uint64_t samples;      /* taken in */
    uint64_t triggers;     /* detector fired */
    uint64_t synchronised; /* long training field found */
    uint64_t signals;      /* SIGNAL field with good parity and a valid rate */
    uint64_t decoded;      /* PSDU decoded */
    uint64_t fcs_ok;
    uint64_t unsupported; /* HT and other formats */
    uint64_t truncated;   /* the stream ended within the frame */
    uint64_t clipped;     /* samples at the input format's limit */
    uint64_t not_finite;  /* NaN or infinity, read as zero */
    uint64_t fallbacks;   /* batches that the CPU did because the device failed */
} penstock_wifi_counters;

#define PENSTOCK_WIFI_COUNTERS PENSTOCK_DESCRIPTION(penstock_wifi_counters, )

typedef struct penstock_wifi_receiver_desc {
    size_t size;
    penstock_wifi_profile profile;
    penstock_format format; /* of the samples pushed; not PLANAR, not F32 */
    bool points;            /* give the equalised points with each frame; a GPU then decodes none, and the CPU does */
    double max_latency_s; /* a frame can be pulled at most so long after its last sample was pushed, whether more follow
                             or not, and at most so much of the stream later (20 us or more), unless it started within
                             another that goes on; 0: the library's choice, at most 10 ms, and as much of the
                             stream as makes work for all threads where it comes faster than the radio's rate */
} penstock_wifi_receiver_desc;

#define PENSTOCK_WIFI_RECEIVER_DESC(...) PENSTOCK_DESCRIPTION(penstock_wifi_receiver_desc, __VA_ARGS__)

/* Items in are samples, of which a push takes all (stream.h); after an error as many as penstock_stream_info.taken
 * says, a push of the rest goes on there, and nothing is lost. Items out are frames, given by
 * penstock_wifi_receiver_pull(). A frame's latency is from its last sample on, detection included. */
PENSTOCK_API int penstock_wifi_receiver_open(penstock_stream **stream, penstock_context *context,
                                             const penstock_wifi_receiver_desc *desc, const char *device);

/* The next frame in the order of their first samples: 1 with `frame` filled, 0 when none is ready, or an error, after
 * which the next call tries again. Samples that have waited for max_latency_s are looked through by this call, so that
 * a source which stalls holds up no frame whose samples are there; what comes is the same to the bit. */
PENSTOCK_API int penstock_wifi_receiver_pull(penstock_stream *stream, penstock_wifi_frame *frame);

PENSTOCK_API int penstock_wifi_receiver_get_counters(const penstock_stream *stream, penstock_wifi_counters *counters);

/* ---------------------------------------------------------------- transmitter ----------------- */

typedef struct penstock_wifi_transmit_desc {
    size_t size;
    penstock_wifi_profile profile; /* its clock scales `mbps` too: 3 .. 27 at 10 MHz, 1.5 .. 13.5 at 5 MHz */
    double mbps;                   /* 6, 9, 12, 18, 24, 36, 48, 54 at 20 MHz; 0: the lowest */
    unsigned scrambler_seed;       /* 1 .. 127; 0: 93 (the standard's example) */
} penstock_wifi_transmit_desc;

#define PENSTOCK_WIFI_TRANSMIT_DESC(...) PENSTOCK_DESCRIPTION(penstock_wifi_transmit_desc, __VA_ARGS__)

/* Samples of a frame of `length` bytes (FCS included), 1 .. PENSTOCK_WIFI_MAX_PSDU, plus the last one of its
 * trailing window edge; 0 if an argument is out of range. */
PENSTOCK_API size_t penstock_wifi_frame_samples(const penstock_wifi_transmit_desc *desc, size_t length);

/* The PSDU as it goes on air (append the FCS first, penstock_wifi_fcs()). Writes penstock_wifi_frame_samples()
 * samples of mean power one over the data symbols. */
PENSTOCK_API int penstock_wifi_modulate(const penstock_wifi_transmit_desc *desc, const uint8_t *psdu, size_t length,
                                        penstock_cf32 *samples);

/* CRC-32 of IEEE 802.11-2020 clause 9.2.4.8, in the value that is sent least significant byte first. */
PENSTOCK_API uint32_t penstock_wifi_fcs(const uint8_t *bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
