"""Checkpoint storage: files that are written at a rate, each on its own or all sharing one limit.

A limited file system lets each chunk wait its share; the limiter waits in steps of at least
`limiter_step_ns` and each step overshoots a little, so the rate reached is below the nominal one.
Streams that share a limit get equal shares of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sim.dataflow.kinds import Kind

if TYPE_CHECKING:
    from scenarios.dataflow import StorageTable
    from sim.dataflow.constants import Constants
    from sim.kernel import Environment

_SECOND_NS = 1_000_000_000


def ns_per_byte(rate: int | None, constants: Constants) -> float:
    """Return the time that one byte takes at a nominal rate in bytes per second, None for none."""
    copy = _SECOND_NS / constants.copy_bytes_per_s
    if rate is None:
        return copy
    chunk = constants.chunk_bytes
    chunk_ns = chunk * _SECOND_NS / rate
    chunks = max(1, -(-constants.limiter_step_ns // max(1, int(chunk_ns))))
    return copy + (chunks * chunk_ns + constants.limiter_overshoot_ns) / (chunks * chunk)


class _Stream:
    """A file under way: bytes still to be written, and what happens then."""

    __slots__ = ("arguments", "done", "left")

    def __init__(self, size: int, done: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        self.left = float(size)
        self.done = done
        self.arguments = arguments


class Storage:
    """Where a job's checkpoints are written."""

    def __init__(self, env: Environment, table: StorageTable, constants: Constants) -> None:
        self._env = env
        self._entity = env.entity("storage")
        self._create_ns = table.create_latency_ns
        self._tail_ratio = table.tail_ratio
        self._tail_ns = table.tail_latency_ns
        self._draws = env.stream("storage")
        self._ns_per_byte = ns_per_byte(table.write_bytes_per_s, constants)
        self._shared = table.shared_limit and table.write_bytes_per_s is not None
        self._streams: list[_Stream] = []
        self._updated_ns = 0
        self._timer = env.timer(Kind.STORAGE, self._entity, self._advance)

    def write(self, size: int, done: Callable[..., object], *arguments: Any) -> None:
        """Create a file of `size` bytes and call `done(*arguments)` when it is whole."""
        delay = self._create_ns
        if self._tail_ratio and self._draws.chance(self._tail_ratio):
            delay += self._draws.exponential_ns(self._tail_ns)
        if self._shared:
            self._env.call_in(delay, Kind.STORAGE, self._entity, self._open, size, done, arguments)
            return
        delay += round(size * self._ns_per_byte)
        self._env.call_in(delay, Kind.STORAGE, self._entity, done, *arguments)

    def _open(self, size: int, done: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        self._account()
        self._streams.append(_Stream(size, done, arguments))
        self._arm()

    def _account(self) -> None:
        now = self._env.now
        if self._streams:
            share = (now - self._updated_ns) / self._ns_per_byte / len(self._streams)
            for stream in self._streams:
                stream.left -= share
        self._updated_ns = now

    def _advance(self) -> None:
        self._account()
        whole = [stream for stream in self._streams if stream.left < 1.0]
        self._streams = [stream for stream in self._streams if stream.left >= 1.0]
        self._arm()
        for stream in whole:
            stream.done(*stream.arguments)

    def _arm(self) -> None:
        if self._streams:
            least = min(stream.left for stream in self._streams)
            self._timer.arm_in(max(1, round(least * self._ns_per_byte * len(self._streams))))
