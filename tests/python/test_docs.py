# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""The examples of docs/python.md, one after the other, with what they say of their results."""

import pathlib
import re

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def test_examples(tmp_path, monkeypatch):
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(examples) == 4 and all("assert " in example for example in examples)
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, example in enumerate(examples):
        exec(compile(example, f"{PAGE}, example {number}", "exec"), names)
