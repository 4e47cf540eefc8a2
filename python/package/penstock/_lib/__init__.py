# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""The compiled part of the package. It looks for its helper programs in libexec/penstock beside this folder."""
