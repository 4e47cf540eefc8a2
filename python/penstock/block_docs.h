/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What Python's help() says of each block, in the order of its parameters; include/gnuradio/penstock has more. */
#ifndef INCLUDED_PENSTOCK_BLOCK_DOCS_H
#define INCLUDED_PENSTOCK_BLOCK_DOCS_H

namespace block_docs
{

#define DEVICE  "\n    device: 'auto' (the fastest by measurement), a name ('cpu', 'opencl:0', ...), or 'prefer:NAME'"
#define LATENCY "\n    max_latency_ms: no item waits longer than this for others to fill a batch; 0: until it is full"

constexpr const char *STATS = "Counters, rates and times, as in the message port `stats`";

constexpr const char *FFT =
    "Fourier transforms of vectors, any number of streams. The stock block's parameters, then our own.\n\nArgs:"
    "\n    fft_size: values in a vector, 1 .. 2^23"
    "\n    forward: forward or reverse, neither divided by fft_size"
    "\n    window: fft_size factors, [] for none, or a name such as 'hann' or 'kaiser:8'"
    "\n    shift: zero frequency in the middle, of the output forward, of a complex input in reverse"
    "\n    nthreads: kept and given back; all blocks share the library's threads" DEVICE LATENCY;

constexpr const char *FILTER =
    "FIR filter by FFT: N items make ceil(N / decimation). The stock block's parameters, then our own.\n\nArgs:"
    "\n    decimation: 1 or more"
    "\n    taps: one or more"
    "\n    nthreads: kept and given back; all blocks share the library's threads"
    "\n    center_freq: what is there moves to zero before it is filtered; 0 with float samples"
    "\n    sampling_freq: of the input, in the unit of center_freq" DEVICE LATENCY;

constexpr const char *XLATING_FILTER =
    "Frequency translation, FIR filter and decimation. The stock block's parameters, then our own.\n\nArgs:"
    "\n    decimation: 1 or more"
    "\n    taps: one or more"
    "\n    center_freq: what is there moves to zero"
    "\n    sampling_freq: of the input, in the unit of center_freq" DEVICE LATENCY;

constexpr const char *CHANNELIZER =
    "Polyphase channelizer: a stream to streams of its channels. The stock block's parameters, then our own.\n\nArgs:"
    "\n    numchans: channels, 2 .. 65536"
    "\n    taps: the prototype; None or []: one that is made for atten"
    "\n    oversample_rate: numchans / i for an i of 1 .. numchans"
    "\n    atten: of the prototype that is made, in dB" DEVICE LATENCY;

constexpr const char *ARB_RESAMPLER =
    "Polyphase resampler for any rate. The stock block's parameters, then our own.\n\nArgs:"
    "\n    rate: output items per input item, 1/1024 .. 1024"
    "\n    taps: the prototype at filter_size times the input's rate"
    "\n    filter_size: arms, 1 .. 65536; between two of them lie straight lines"
    "\n    device: 'auto', 'cpu', or 'prefer:NAME'";

constexpr const char *RATIONAL_RESAMPLER =
    "Polyphase resampler: N items make ceil(N interpolation / decimation). The stock block's parameters, then our own."
    "\n\nArgs:"
    "\n    interpolation: 1 .. 65536"
    "\n    decimation: 1 .. 2^20"
    "\n    taps: the prototype at interpolation times the input's rate; []: one that is made for fractional_bw"
    "\n    fractional_bw: what is passed, in parts of the lower rate, below 0.5; 0: 0.4"
    "\n    device: 'auto', 'cpu', or 'prefer:NAME'";

constexpr const char *OFDM_DEMOD =
    "OFDM symbols to vectors of carriers (cvc) or soft bits (cb), one a byte; the grid as of the stock OFDM blocks. A\n"
    "frame starts, with its sync words, where a sample has the trigger tag, whose value is the number of data "
    "symbols,\n"
    "a dictionary with symbols and cfo (turns per sample), or anything else for frame_len symbols.\n\nArgs:"
    "\n    fft_len: 2 .. 8192"
    "\n    cp_len: samples of the guard interval"
    "\n    occupied_carriers: one list of carriers, 0 the middle one; those below it negative, or from fft_len / 2 on"
    "\n    pilot_carriers: one list, or none"
    "\n    pilot_symbols: lists of as many values; symbol i of a frame has list i modulo their number"
    "\n    sync_word1, sync_word2: fft_len values each, carrier 0 in the middle, or none; the last one gives the "
    "channel\n"
    "        and has a value on each carrier and pilot"
    "\n    frame_len: data symbols of a frame whose trigger does not say it"
    "\n    trigger_tag_name: the tag of a frame's first sample; '': symbols follow each other from the first sample on"
    "\n    len_tag_name: the tag of a frame's first output item, whose value is the number of items"
    "\n    track: take phase and slope of each symbol, from its pilots, out"
    "\n    bits: bits a carrier of ofdm_demod_cb, 1, 2, 4, 6, 8 or 10, as in IEEE 802.11" DEVICE;

constexpr const char *SPECTRUM =
    "Power spectra of complex samples. Messages: freq, the pair (freq . Hz) for every tag rx_freq; stats.\n\nArgs:"
    "\n    fft_size: samples of a transform, bins of a vector, 1 .. 2^23"
    "\n    hop: samples from one transform to the next; 0: fft_size"
    "\n    window: fft_size factors, [] for none, or a name such as 'hann' or 'kaiser:8'"
    "\n    average: transforms averaged into one vector"
    "\n    decibel: 10 log10 of the power instead of the power"
    "\n    centered: zero frequency in the middle, at index fft_size / 2" DEVICE LATENCY;

constexpr const char *WIFI_RECEIVER =
    "Receives IEEE 802.11a/g/p frames. Messages: pdus, frames with a good FCS; rejected, the others; channel, "
    "estimates\n"
    "by FFT bin; stats. The output, equalised points, need not be connected.\n\nArgs:"
    "\n    profile: 'wifi' (20 MHz), 'wifi-10mhz' or 'wifi-5mhz'" DEVICE
    "\n    max_latency_ms: a frame comes at most so long after its last sample, although the source stalls there; 0: "
    "the\n        library's choice, at most 10 ms";

constexpr const char *WIFI_TRANSMITTER =
    "Makes IEEE 802.11a/g/p frames from messages pdus; rate_mbps and scrambler_seed in a PDU's dictionary hold for "
    "its\n"
    "frame.\n\nArgs:"
    "\n    profile: 'wifi' (20 MHz), 'wifi-10mhz' or 'wifi-5mhz'"
    "\n    rate_mbps: 6, 9, 12, 18, 24, 36, 48 or 54, half or a quarter of it at 10 or 5 MHz; 0: the lowest"
    "\n    append_fcs: the bytes come without FCS"
    "\n    gap_us: zeros after each frame, a part of its tagged stream, 0 .. 1e6"
    "\n    scrambler_seed: 1 .. 127; 0: the standard's example, 93"
    "\n    length_tag_name: the tag of a frame's first sample, whose value is the number of samples";

#undef DEVICE
#undef LATENCY

} // namespace block_docs

#endif
