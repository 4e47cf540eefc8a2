# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""The examples of docs/python.md, one after the other, with what they say of their results."""

import pathlib
import re

import pytest
from test_files import sigmf

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def test_examples(tmp_path, monkeypatch):
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(examples) == 6 and all("assert " in example for example in examples)
    monkeypatch.chdir(tmp_path)
    names = {}
    can_run = [example for example in examples if "sigmf" not in example or sigmf()]
    for example in can_run:
        exec(compile(example, str(PAGE), "exec"), names)
    if can_run != examples:
        pytest.skip("the example of files alone, as the library was built without jansson: no SigMF")
