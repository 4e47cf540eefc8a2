# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""CUDA's compiler NVRTC where PyPI's packages put it, which the linker does not look into."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re

VARIABLE = "PENSTOCK_NVRTC_LIBRARY"


def found() -> pathlib.Path | None:
    """The newest libnvrtc of the packages nvidia-cuda-nvrtc-cu12, nvidia-cuda-nvrtc and the like: in the folders
    nvidia/cuda_nvrtc/lib or nvidia/cu13/lib."""
    try:
        package = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return None
    newest: tuple[int, pathlib.Path] | None = None
    for folder in (package.submodule_search_locations or []) if package else []:
        for library in pathlib.Path(folder).glob("*/lib/libnvrtc.so.*"):
            version = re.fullmatch(r"libnvrtc\.so\.(\d+)(\.\d+)*", library.name)
            if version and (newest is None or int(version[1]) > newest[0]):
                newest = (int(version[1]), library)
    return newest[1] if newest else None


def tell_library() -> None:
    """Where it is, unless somebody has said so: for this process and the helpers that it starts."""
    if not os.environ.get(VARIABLE) and (library := found()):
        os.environ[VARIABLE] = str(library)
