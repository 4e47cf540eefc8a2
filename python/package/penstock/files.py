# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Streams over what a file, a radio or a program brings, array by array."""

from __future__ import annotations

import collections.abc
import os
import typing

from ._lib.core import Source, Stream
from .errors import ArgumentError

Frames = collections.abc.Iterator[typing.Any]


def blocks(source: Source, block: int) -> collections.abc.Iterator[typing.Any]:
    """Arrays of up to `block` samples each, until the source's end."""
    while len(samples := source.read(block)):
        yield samples


def _results(stream: Stream, wait: bool) -> collections.abc.Iterator[typing.Any]:
    """What is ready: an array, or frame by frame."""
    pull_frame: typing.Callable[[], typing.Any] | None = getattr(stream, "pull_frame", None)
    if pull_frame is None:
        results = stream.pull(wait=wait)
        if 0 not in results.shape:
            yield results
        return
    while (frame := pull_frame()) is not None:
        yield frame


def _check_format(stream: Stream, source: Source) -> None:
    """In words of formats, which an array that was read has no more."""
    if source._dtype == stream._dtype:
        return
    format = source.info()["format"]
    raise ArgumentError(f"source: its samples are {format}, not what the stream takes; make the stream with "
                        f'format="{format}", or open the source with resample_hz=, which gives complex64')


def _pushed(first: Stream, items: typing.Any, last: Stream) -> collections.abc.Iterator[typing.Any]:
    if not hasattr(last, "pull_frame"):
        results = first(items) if first is last else first._all_of(items, last)
        if 0 not in results.shape:
            yield results
        return
    while len(items):
        taken = first.push(items)
        if taken:
            items = items[:0] if first._planar else items[taken:]
        yield from _results(last, False)


def over(
    stream: Stream,
    source: str | os.PathLike[str] | Source | collections.abc.Iterable[typing.Any],
    block: int = 1 << 16,
    last: Stream | None = None,
) -> collections.abc.Iterator[typing.Any]:
    """What Stream.over() gives, or with the last stream of a chain Chain.over(): the stream goes on where it is, and is
    finished after the last items. After that, and after a loop that was left, its reset() begins anew."""
    last = last or stream
    if isinstance(source, (str, os.PathLike)):
        with Source(os.fspath(source)) as opened:
            yield from over(stream, opened, block, last)
        return
    if isinstance(source, Source):
        _check_format(stream, source)
    there = None
    for items in blocks(source, block) if isinstance(source, Source) else source:
        yield from _pushed(stream, items, last)
        there = items if hasattr(items, "__cuda_array_interface__") else None
    stream.finish()
    if there is not None:  # on a GPU, where the last results are, too
        yield from _pushed(stream, there[:0], last)
        return
    yield from _results(last, True)
