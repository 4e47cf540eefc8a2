# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright The Penstock authors.
"""Blocks that bring samples to whatever processor the machine has."""

from .penstock_python import *
from . import pfb
