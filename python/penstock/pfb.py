# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""What gnuradio.filter.pfb has, by the same names and parameters: taps that are not given are those that it makes."""

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
