# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""What functions of this package take for an array."""

from __future__ import annotations

import typing


@typing.runtime_checkable
class SupportsDLPack(typing.Protocol):
    """An array by its __dlpack__(): NumPy's, CuPy's, PyTorch's, JAX's."""

    def __dlpack__(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any: ...


@typing.runtime_checkable
class SupportsCudaArrayInterface(typing.Protocol):
    """An array by its __cuda_array_interface__: Numba's, and those of other CUDA libraries."""

    @property
    def __cuda_array_interface__(self) -> dict[str, typing.Any]: ...


Array = typing.Union[SupportsDLPack, SupportsCudaArrayInterface]
