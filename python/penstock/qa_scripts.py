#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Scripts of examples/ and apps/ run as the documentation calls them,
and say in one line what is wrong with arguments."""

import os
import pathlib
import re
import subprocess

from gnuradio import gr_unittest

try:
    from gnuradio import soapy
except ImportError:
    soapy = None

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DOCS = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]

# Arguments, the exit status, and a piece of the line.
WRONG = {
    "examples/demo.sh": [(["--nope"], 2, "unknown option --nope")],
    "examples/qpu_report.sh": [(["--nope"], 2, "no command '--nope'")],
    "apps/peers/gnuradio.py": [
        (["--rounds", "0"], 2, "--rounds: 0 is not a number above 0"),
        (["--seconds", "nan"], 2, "--seconds: nan is not"),
        (["--sizes", "16", "x"], 2, "--sizes: invalid int value: 'x'"),
        (["--sizes", "16", "--rounds", "1", "--seconds", "0.001", "--device", "warp"], 1, "no device 'warp'"),
        (["--sizes", "16", "--rounds", "1", "--endless", "--device", "warp"], 1, "no device 'warp'"),
    ],
    "examples/ofdm_receiver.py": [
        (["--args", "driver=none", "--seconds", "1e300"], 2, "--seconds: 1e300 is more than"),
        (["--args", "driver=none", "--gain", "nan"], 2, "--gain: nan is not a number"),
    ],
}


class QaScripts(gr_unittest.TestCase):
    def test_wrong_arguments(self):
        for script, cases in WRONG.items():
            if script.endswith("ofdm_receiver.py") and soapy is None:  # which is what it says then
                continue
            for arguments, status, text in cases:
                with self.subTest(script, arguments=arguments):
                    answer = subprocess.run([str(SOURCE / script), *arguments], stdin=subprocess.DEVNULL,
                                            capture_output=True, text=True,
                                            env=dict(os.environ, PATH="/usr/bin:/bin:/usr/sbin:/sbin"), timeout=1200)
                    self.assertEqual(answer.returncode, status, answer.stderr)
                    lines = re.sub(r"(?m)^usage: .*(\n[ ].*)*\n", "", answer.stderr).splitlines()
                    self.assertEqual(len(lines), 1, answer.stderr)
                    self.assertIn(text, lines[0])
                    self.assertTrue(lines[0].startswith(os.path.basename(script) + ": "), lines[0])

    def test_commands_of_the_documentation_can_be_run(self):
        text = "\n".join(path.read_text(encoding="utf-8") for path in DOCS)
        named = set(re.findall(r"\b(?:examples|apps|tests|debian|tools)/[\w./-]+\.(?:py|sh)\b", text))
        named = {name for name in named if (SOURCE / name).is_file()}
        self.assertGreaterEqual(named, set(WRONG))
        self.assertEqual([name for name in sorted(named) if not os.access(SOURCE / name, os.X_OK)], [])


if __name__ == "__main__":
    gr_unittest.run(QaScripts)
