# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""The library's errors as exceptions. Each has the library's text, and its status as `code`."""

from __future__ import annotations

import builtins


class Error(Exception):
    """What the library reports. `code` is its penstock_status, a negative number."""

    code: int = 0


class ArgumentError(Error, ValueError):
    """An argument is outside its range, or an array is not as it has to be."""

    code = -1


class OutOfMemoryError(Error, MemoryError):
    """Out of memory."""

    code = -2


class NoDeviceError(Error):
    """No such device, or it is absent."""

    code = -3


class UnsupportedError(Error):
    """The device or this build cannot do that."""

    code = -4


class DeviceError(Error):
    """The device or its driver failed."""

    code = -5


class CheckError(Error):
    """A plan gave wrong results when it was tested."""

    code = -6


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""

    code = -7


class FormatError(Error, ValueError):
    """A file or description is not of the form that it should have."""

    code = -8


class RadioError(Error):
    """A radio failed or disappeared."""

    code = -9


class TimeoutError(Error, builtins.TimeoutError):  # noqa: A001
    """Nothing came in time."""

    code = -10


class StateError(Error, RuntimeError):
    """The call does not fit the object's state."""

    code = -11


_KINDS: dict[int, type[Error]] = {
    kind.code: kind
    for kind in (
        ArgumentError,
        OutOfMemoryError,
        NoDeviceError,
        UnsupportedError,
        DeviceError,
        CheckError,
        FileError,
        FormatError,
        RadioError,
        TimeoutError,
        StateError,
    )
}


def of_status(status: int) -> type[Error]:
    """The class that stands for a status."""
    return _KINDS.get(status, Error)
