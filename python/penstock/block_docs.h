/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copyright The Penstock authors. */

/* What Python's help() says of each block, in the order of its parameters; include/gnuradio/penstock has more. */
#ifndef INCLUDED_PENSTOCK_BLOCK_DOCS_H
#define INCLUDED_PENSTOCK_BLOCK_DOCS_H

namespace block_docs
{

#define DEVICE "\n    device: 'auto' (the fastest by measurement), a name ('cpu', 'opencl:0', ...), or 'prefer:NAME'"
#define DECODER                                       \
    "\n    soft: 'float', or 'byte' for signed bytes" \
    "\n    packed: eight bits an item, the first one highest, in place of one"
#define PACKETS \
    "\n    length_tag_name: the tag of a packet of whole blocks, whose value is its number of soft bits; '': none"
#define LATENCY "\n    max_latency_ms: no item waits longer than this for others to fill a batch; 0: until it is full"

constexpr const char *STATS = "Counters, rates and times, as in the message port `stats`";

constexpr const char *FFT =
    "Fourier transforms of vectors, up to 1024 streams. The stock block's parameters, then our own.\n\nArgs:"
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

constexpr const char *SYNTHESIZER =
    "Polyphase synthesizer: streams of channels to one stream. The stock block's parameters, then our own.\n\nArgs:"
    "\n    numchans: channels, 2 .. 65536; with twox even, up to 32768"
    "\n    taps: the prototype, at the rate of the output"
    "\n    twox: channels come at twice the rate of their distance" DEVICE LATENCY;

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

constexpr const char *LOGPWRFFT =
    "Decibels of a stream's spectrum, by vectors. The stock chain's parameters, then our own.\n\nArgs:"
    "\n    sample_rate: of the input, in Hz"
    "\n    fft_size: samples of a transform, values of a vector, 1 .. 2^23"
    "\n    ref_scale: twice the amplitude of 0 dB"
    "\n    frame_rate: vectors a second"
    "\n    avg_alpha: weight of a vector in the decaying mean, above 0 up to 1"
    "\n    average: whether the mean is given, or each vector by itself"
    "\n    win: a function that makes the factors, or what the FFT block takes; None: blackmanharris"
    "\n    shift: zero frequency in the middle" DEVICE LATENCY;

constexpr const char *VITERBI_DECODER =
    "Decodes convolutional codes: soft bits, positive where 0 is likelier, to bits. Messages: pdus, in and out; stats."
    "\n\nArgs:"
    "\n    code: 'wifi', 'wifi:3/4', 'dvb:7/8', 'dab', 'lte', 'ccsds', ..."
    "\n    bits: data bits of a block, 1 .. 2^20; 0: a stream without blocks (dvb, ccsds)" DECODER PACKETS DEVICE
        LATENCY;

constexpr const char *LDPC_DECODER =
    "Decodes low-density parity-check codes: soft bits, positive where 0 is likelier, to bits. Messages: pdus, in and\n"
    "out; stats.\n\nArgs:"
    "\n    code: 'wifi:1944:1/2', 'nr:bg1:384', 'ccsds:1024:1/2', ..." DECODER
    "\n    iterations: the most of a block; 0: 10"
    "\n    stop_early: when all checks hold"
    "\n    filler, punctured_end: data bits that are 0 and not sent, and bits at the end that are not sent (NR)"
    "\n    scale: of floats before they are rounded; 0: of each block its own, which GPUs do not have" PACKETS DEVICE
        LATENCY;

constexpr const char *VITERBI_DECODER_MAKE =
    "A decoder for gr-fec's blocks, such as fec.extended_decoder; soft bits are positive where 1 is likelier.\n\nArgs:"
    "\n    code: as of viterbi_decoder, its puncturing included"
    "\n    bits: data bits of a frame, 1 .. 2^20" DEVICE;

constexpr const char *LDPC_DECODER_MAKE =
    "A decoder for gr-fec's blocks, such as fec.extended_decoder; soft bits are positive where 1 is likelier.\n\nArgs:"
    "\n    code: as of ldpc_decoder"
    "\n    iterations: the most of a frame, 1 or more" DEVICE;

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

#undef DECODER
#undef DEVICE
#undef LATENCY

} // namespace block_docs

#endif
