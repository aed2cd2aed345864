"""The writer that works out ahead when buffers open, against the one that writes byte by byte."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.sim.job.buffers.output import (
    RandomRoute,
    RecordWriter,
    ReferenceRecordWriter,
    Segment,
    SingleRoute,
)

_SEGMENT_BYTES = 64


class Grants:
    """A pool with as many segments as a test grants."""

    def __init__(self) -> None:
        self.left = 0

    def request(self, _channel: int) -> bool:
        """Give a segment, while there are any."""
        self.left -= self.left > 0
        return self.left > 0


class Queue:
    """A subpartition that keeps what is put into it."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []

    def add_segment(self, segment: Segment) -> None:
        """Keep a segment."""
        self.segments.append(segment)


def writers(
    record_bytes: int, channels: int, *, broadcast: bool
) -> list[tuple[Any, Grants, list[Queue]]]:
    """Return both writers, each with a pool and subpartitions of its own."""
    made = []
    for make in (RecordWriter, ReferenceRecordWriter):
        pool, queues = Grants(), [Queue() for _ in range(channels)]
        route = SingleRoute(0) if broadcast else RandomRoute([1] * channels, seed=1, name="keys")
        writer: Any = make(
            route,
            pool,  # type: ignore[arg-type]
            record_bytes=record_bytes,
            segment_bytes=_SEGMENT_BYTES,
            broadcast=broadcast,
            supports_unaligned=True,
        )
        writer.attach(queues)
        made.append((writer, pool, queues))
    return made


def written(writer: Any, queues: list[Queue]) -> list[list[tuple[int, int, int]]]:
    """Return sizes, bytes and records of all segments by channel, the open ones as they are."""
    found = []
    for channel, queue in enumerate(queues):
        rows = [(s.size, s.bytes, s.records) for s in queue.segments]
        if queue.segments and not queue.segments[-1].closed:
            rows[-1] = (rows[-1][0], *writer.written(channel))
        found.append(rows)
    return found


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("grant"), st.integers(1, 4)),
        st.tuples(st.just("emit"), st.integers(1, 5)),
        st.tuples(st.just("resize"), st.integers(0, 2), st.integers(1, _SEGMENT_BYTES)),
        st.tuples(st.just("close")),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    record_bytes=st.integers(1, 200),
    channels=st.integers(1, 3),
    broadcast=st.booleans(),
    operations=OPERATIONS,
)
def test_both_writers_fill_the_same_buffers(
    record_bytes: int, channels: int, broadcast: bool, operations: list[tuple[Any, ...]]
) -> None:
    """Whatever size buffers take on, also while a record lacks one, both write the same."""
    both = writers(record_bytes, channels, broadcast=broadcast)
    for name, *arguments in operations:
        for writer, pool, _ in both:
            match name:
                case "grant":
                    pool.left += arguments[0]
                    if writer.blocked:
                        writer.retry()
                case "emit":
                    for _ in range(arguments[0]):
                        if not writer.blocked:
                            writer.advance(1)
                case "resize":
                    writer.resize(arguments[0] % channels, arguments[1])
                case "close":
                    if not writer.blocked:  # nothing else happens inside a record
                        writer.close_all()
        (first, _, queues), (second, _, others) = both
        assert (first.emitted, first.blocked) == (second.emitted, second.blocked)
        assert written(first, queues) == written(second, others)
