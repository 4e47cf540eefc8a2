#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""The Wi-Fi receiver behind the stock Soapy source, on a radio at a SoapySDR server: the frames of `penstock receive`.

tests/radio/soapy_remote.sh starts the server, whose address is the last argument; its radio is the replay device."""

import os
import subprocess
import sys
import tempfile

import qa_wifi_receiver as wifi
from gnuradio import blocks, gr, gr_unittest, penstock, soapy

URL = sys.argv.pop()  # unittest reads the others
RATE_HZ = 20e6


class QaSoapyRemote(gr_unittest.TestCase):
    def check(self, path, samples):
        """A recording of cs16 samples, played again and again by the server, for its length."""
        source = soapy.source(f"driver=remote,remote={URL},remote:prot=tcp,remote:driver=replay,path={path},"
                              f"format=cs16,rate={RATE_HZ:.0f},pace=fast,loop=1", "fc32", 1, "", "", [""], [""])
        source.set_sample_rate(0, RATE_HZ)
        head = blocks.head(gr.sizeof_gr_complex, samples)  # the stock source does not end with its radio
        receiver = penstock.wifi_receiver(device="cpu")
        top, collector = wifi.flowgraph(head, receiver)
        top.connect(source, head)
        top.run()
        expected = wifi.command_frames(path, "cpu", "--format", "cs16")
        self.assertEqual(receiver.stats()["samples"], samples)
        wifi.QaWifiReceiver.assert_same_frames(self, collector.frames(), expected)
        return sum(frame["fcs_ok"] for frame in expected)

    def test_made_frames(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "made.cs16")
            subprocess.run([wifi.COMMAND, "transmit", "--profile", "wifi", "--mbps", "all", "--count", "32",
                            "--snr", "30", "--format", "cs16", "--output", path], check=True, stdout=subprocess.DEVNULL)
            self.assertEqual(self.check(path, os.path.getsize(path) // 4), 32)

    def test_recording(self):
        paths = sorted(wifi.RECORDINGS.glob("wifi/conducted/*.dat"))
        if not paths:
            self.skipTest(f"no recordings in {wifi.RECORDINGS}")
        self.assertGreater(self.check(paths[0].resolve(), paths[0].stat().st_size // 4), 0)


if __name__ == "__main__":
    gr_unittest.run(QaSoapyRemote)
