# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""What gnuradio.filter.pfb has, by the same names and parameters: taps that are not given are those that it makes."""

from gnuradio import gr  # type: ignore  # GNU Radio has no types

from . import penstock_python as _blocks


def _stock(name):
    """Imported where it is asked for: who has no gr-filter gives taps."""
    from gnuradio.filter import pfb
    return getattr(pfb, name)


def _arb_resampler(kind):
    block, name = getattr(_blocks, "pfb_arb_resampler_" + kind), "arb_resampler_" + kind

    def create_taps(rate, flt_size=32, atten=100):
        return _stock(name).create_taps(rate, flt_size, atten)

    def make(rate, taps=None, flt_size=32, atten=100, device="auto"):
        if taps is None or len(taps) == 0:
            block(rate, [1.0], flt_size, device)  # refuses in words what no taps can be made for
            taps = create_taps(rate, flt_size, atten)
        return block(rate, taps, flt_size, device)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = block.__doc__
    make.create_taps = create_taps
    return make


arb_resampler_ccf = _arb_resampler("ccf")
arb_resampler_ccc = _arb_resampler("ccc")
arb_resampler_fff = _arb_resampler("fff")


class _OverChannelizer(gr.hier_block2):
    """The channelizer `bank` of which the outputs `channels` are there."""

    def __init__(self, name, bank, channels):
        gr.hier_block2.__init__(self, name, gr.io_signature(1, 1, gr.sizeof_gr_complex),
                                gr.io_signature(len(channels), len(channels), gr.sizeof_gr_complex))
        self.pfb = bank
        self.pfb.set_channel_map(channels)
        self.message_port_register_hier_out("stats")
        self.msg_connect(self.pfb, "stats", self, "stats")
        self.connect(self, self.pfb)
        for port in range(len(channels)):
            self.connect((self.pfb, port), (self, port))

    def set_taps(self, taps):
        return self.pfb.set_taps(taps)

    def taps(self):
        return self.pfb.taps()

    def declare_sample_delay(self, delay):
        self.pfb.declare_sample_delay(delay)

    def device(self):
        return self.pfb.device()

    def stats(self):
        return self.pfb.stats()


class decimator_ccf(_OverChannelizer):
    """One channel of a filter bank; use_fft_rotators and use_fft_filters choose nothing."""

    def __init__(self, decim, taps=None, channel=0, atten=100, use_fft_rotators=True, use_fft_filters=True,
                 device="auto"):
        if not 2 <= decim <= 65536:
            raise RuntimeError(f"decimator: decim is {decim}, not 2 .. 65536")
        if taps is None or len(taps) == 0:
            if not 16 <= atten <= 200:
                raise RuntimeError(f"decimator: atten is {atten}, not 16 .. 200")
            taps = self.create_taps(decim, atten)
        super().__init__("pfb_decimator_ccf", _blocks.channelizer_cc(decim, taps, device=device), [channel])

    def set_channel(self, chan):
        self.pfb.set_channel_map([chan])

    @staticmethod
    def create_taps(decim, atten=100):
        return _stock("decimator_ccf").create_taps(decim, atten)


class channelizer_hier_ccf(_OverChannelizer):
    """A filter bank whose outputs are the channels `outchans`, none twice; n_filterbanks chooses nothing."""

    def __init__(self, n_chans, n_filterbanks=1, taps=None, outchans=None, atten=100, bw=1.0, tb=0.2, ripple=0.1,
                 device="auto"):
        if not 2 <= n_chans <= 65536:
            raise RuntimeError(f"channelizer: n_chans is {n_chans}, not 2 .. 65536")
        if taps is None:
            if not (16 <= atten <= 200 and bw > 0 and tb > 0 and bw + tb <= n_chans / 2 and 0 < ripple <= 10):
                raise RuntimeError(f"channelizer: atten is {atten}, bw {bw}, tb {tb} and ripple {ripple}, "
                                   "not 16 .. 200, above 0, above 0, "
                                   "together half of n_chans at most, and above 0 up to 10")
            taps = self.create_taps(n_chans, atten, bw, tb, ripple)
        self._n_chans = n_chans
        bank = _blocks._channelizer_hier(n_chans, self._from_last(taps), device, 10.0)
        super().__init__("pfb_channelizer_hier_ccf", bank, list(range(n_chans)) if outchans is None else list(outchans))

    def _from_last(self, taps):
        """The stock block's taps meet the samples in their order, a filter's in the reverse one."""
        taps = list(taps)
        return (taps + [0.0] * (-len(taps) % self._n_chans))[::-1]

    def set_taps(self, taps):
        return super().set_taps(self._from_last(taps))

    def taps(self):
        return super().taps()[::-1]

    @staticmethod
    def create_taps(n_chans, atten=100, bw=1.0, tb=0.2, ripple=0.1):
        return _stock("channelizer_hier_ccf").create_taps(n_chans, atten, bw, tb, ripple)
