# SPDX-License-Identifier: MIT
# Copyright The Penstock authors.
"""Streams in a row, of which each gives what the next one takes."""

from __future__ import annotations

import collections.abc
import os
import typing

from . import files
from ._lib.core import Source, Stream
from .errors import ArgumentError, UnsupportedError

if typing.TYPE_CHECKING:
    import typing_extensions

    from .typing import Array


class Chain:
    """Streams in a row: items go into the first, results come out of the last, and are those that the streams give one
    by one, to the bit. Between two that work on one device values stay in its memory where they can: from a filter to
    a spectrum or an FFT stream. Else they go by way of the host.

    streams: two or more, opened as usual, which belong to the chain from then on.
    """

    def __init__(self, *streams: Stream) -> None:
        if len(streams) < 2:
            raise ArgumentError(f"a chain of {len(streams)} streams, not 2 or more")
        for one, following in zip(streams[:-1], streams[1:]):
            one.link(following)
        self._streams = streams

    @property
    def streams(self) -> tuple[Stream, ...]:
        """From the first to the last."""
        return self._streams

    @property
    def first(self) -> Stream:
        """Which items go into."""
        return self._streams[0]

    @property
    def last(self) -> Stream:
        """Which results come out of."""
        return self._streams[-1]

    def push(self, x: Array) -> int:
        """As Stream.push(), of the first one."""
        return self.first.push(x)

    def pull(self, n: int | None = None, *, wait: bool = False, out: Array | None = None) -> typing.Any:
        """As Stream.pull(), of the last one."""
        return self.last.pull(n, wait=wait, out=out)

    def pull_frame(self) -> typing.Any:
        """As that of the last one, whose results are frames."""
        pull_frame: typing.Callable[[], typing.Any] | None = getattr(self.last, "pull_frame", None)
        if pull_frame is None:
            raise UnsupportedError("results of this chain are no frames; pull() gives them")
        return pull_frame()

    def __call__(self, x: Array) -> typing.Any:
        """Takes all of x and gives all results that are ready, in a new array."""
        return self.first._all_of(x, self.last)

    def over(
        self,
        source: str | os.PathLike[str] | Source | collections.abc.Iterable[typing.Any],
        block: int = 1 << 16,
    ) -> collections.abc.Iterator[typing.Any]:
        """As Stream.over(): the last one's results of all that a source has."""
        return files.over(self.first, source, block, self.last)

    def flush(self) -> None:
        """Makes the results of all items so far ready, as far as there are such."""
        self.first.flush()

    def finish(self) -> None:
        """No more items come: pull(wait=True) gives all that is left."""
        self.first.finish()

    def reset(self) -> None:
        """Back to the first item, in all of them."""
        self.first.reset()

    def close(self) -> None:
        """Frees the streams."""
        for stream in self._streams:
            stream.close()

    def stats(self) -> list[dict[str, typing.Any]]:
        """Stream.stats() of each."""
        return [stream.stats() for stream in self._streams]

    def __enter__(self) -> typing_extensions.Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()
