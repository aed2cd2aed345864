"""What records cost and how many there are: service times, selectivity, sizes.

All of it comes from the growth of counters between the first and the last sample. The engine's
means over 60 s are too low in a young job.  The clock is the task's own: its busy, back-pressured
and idle time together, since samples are older than the moment of asking by an unknown part of the
metric fetcher's interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

from ckptsim.sim.infer.found import Found, Sureness
from ckptsim.sim.job.buffers.constants import Constants, service_of_step
from ckptsim.sim.recording import SubtaskAnswer, VertexAnswer

SAMPLES = ("/vertices/:id/metrics?get",)
_LIFE = ("/vertices/:id",)
_US = 1_000
_MS = 1_000_000

# Below so many records a quotient of counters says little.  Assumption: busy time grows in lumps of
# some 20 ms, so that 500 records of 1 ms are right to a few percent.
ENOUGH = 500
FEW = 20
# Service times of subtasks that differ by less are noise of the counters.  Source: recordings of
# equal subtasks, 2 to 8 %.
_SKEW = 0.15
# Busy time below this is a few lumps of some 20 ms.
_LUMPS_MS = 200.0
# Shares and rates that differ by less are taken as even.
EVEN = 0.05
# What receivers count has the rest of a buffer in it that is being read: some percent of few.
_APART = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How one subtask spent the time between its first and last sample, in ms, and its records."""

    busy_ms: float
    pressed_ms: float
    idle_ms: float
    records_in: float
    records_out: float

    @property
    def clock_ms(self) -> float:
        """Return how long it was."""
        return self.busy_ms + self.pressed_ms + self.idle_ms


def times_of(subtask: SubtaskAnswer) -> Times | None:
    """Return the growth of a subtask's counters. None where there are not two samples of each."""
    found = [
        subtask.growth(metric)
        for metric in (
            "accumulateBusyTimeMs",
            "accumulateBackPressuredTimeMs",
            "accumulateIdleTimeMs",
            "numRecordsIn",
            "numRecordsOut",
        )
    ]
    busy, pressed, idle, records_in, records_out = found
    if pressed is None or idle is None:
        return None
    if busy is None and _knows_when_busy(subtask):
        # It is the rest of idle and back-pressured time, which grow in lumps: it can go back.
        busy = 0.0
    if busy is None:
        # Sources of the old interface do not know when they are busy: their busy time is NaN.
        wall_ms = subtask.samples[-1].at_ms - subtask.samples[0].at_ms
        busy = max(0.0, wall_ms - pressed - idle)
    times = Times(
        busy_ms=busy,
        pressed_ms=pressed,
        idle_ms=idle,
        records_in=records_in or 0.0,
        records_out=records_out or 0.0,
    )
    return times if times.clock_ms > 0 else None


def _knows_when_busy(subtask: SubtaskAnswer) -> bool:
    return sum("accumulateBusyTimeMs" in sample.values for sample in subtask.samples) > 1


def services_of(vertex: VertexAnswer, pace: float = 1.0) -> Found[tuple[int, ...]]:
    """Return how long each subtask is busy with one record, in ns. Skew is kept, noise is not.

    pace: what part of the recorded time a record takes on the machine that is asked about.
    """
    single: list[float | None] = []
    records = 0.0
    barely_busy = _barely_busy(vertex)
    for subtask in vertex.subtasks:
        times = times_of(subtask)
        if times is not None and times.records_in >= FEW and barely_busy is not None:
            single.append(barely_busy)
            records += times.records_in
        elif times is not None and times.records_in >= FEW and times.busy_ms > 0:
            single.append(times.busy_ms / times.records_in)
            records += times.records_in
        else:
            single.append(_over_life(subtask))
    known = [value for value in single if value is not None]
    if not known:
        return Found(
            value=(_MS,) * vertex.parallelism,
            how="it has processed no record while it was watched",
            answers=(),
            sure=Sureness.ASSUMED,
            effect="alignment and in-flight data are proportional to it",
        )
    usual = median_low(known)
    alike = [value for value in known if abs(value / usual - 1) < _SKEW]
    pooled = sum(alike) / len(alike)
    services = tuple(
        pooled if value is None or abs(value / usual - 1) < _SKEW else value for value in single
    )
    least = min(services)
    skew = (
        f", subtasks differ by up to {max(services) / least:.2g} times"
        if max(services) > least * (1 + _SKEW)
        else ""
    )
    return Found(
        value=tuple(max(1, round(value * pace * _MS)) for value in services),
        how=f"busy time over {records:,.0f} records{skew}"
        if records
        else f"busy time over records since the tasks began{skew}",
        answers=SAMPLES if records else _LIFE,
        sure=Sureness.COUNTED if records >= ENOUGH else Sureness.ESTIMATED,
    )


def _barely_busy(vertex: VertexAnswer) -> float | None:
    """Return busy time per record of all subtasks together where none of them was busy for long.

    What single ones were busy for says little then: it grows in lumps, and goes back as well.
    """
    known = [times for times in map(times_of, vertex.subtasks) if times is not None]
    records = sum(times.records_in for times in known)
    if not records or max(times.busy_ms for times in known) >= _LUMPS_MS:
        return None
    return sum(times.busy_ms for times in known) / records or None


def _over_life(subtask: SubtaskAnswer) -> float | None:
    """Return busy time per record since the task began, for want of anything younger."""
    busy, records = subtask.last("accumulateBusyTimeMs"), subtask.last("numRecordsIn")
    if not busy or not records or records < FEW or busy < 0:
        return None
    return busy / records


def selectivity_of(vertex: VertexAnswer, receivers: Sequence[VertexAnswer]) -> Found[float]:
    """Return how many records a vertex emits for one that it processes."""
    grown = [t for t in map(times_of, vertex.subtasks) if t is not None]
    taken = sum(times.records_in for times in grown)
    emitted = sum(times.records_out for times in grown)
    if not receivers:
        return Found(value=1.0, how="no vertex reads from it", answers=(), sure=Sureness.READ)
    if taken < FEW or not emitted:
        return Found(
            value=1.0,
            how="too few records to tell",
            answers=(),
            sure=Sureness.ASSUMED,
            effect="the load of everything downstream is proportional to it",
        )
    # Of a record between two samples one is counted on one side only. So much is noise.
    found = emitted / taken
    return Found(
        value=1.0 if abs(found - 1) < 0.01 + 2 / math.sqrt(taken) * 0.2 else round(found, 4),
        how=f"{emitted:,.0f} records emitted over {taken:,.0f} processed",
        answers=SAMPLES,
        sure=Sureness.COUNTED if taken >= ENOUGH else Sureness.ESTIMATED,
    )


def record_bytes_of(vertex: VertexAnswer) -> Found[int] | None:
    """Return the size of a record that a vertex emits, with what the network adds. None if none.

    Bytes count when a buffer is closed and records at once, so what lies in open buffers biases the
    quotient: least over the whole life of the job, where it is below a percent.
    """
    pairs = [(s.last("numBytesOut"), s.last("numRecordsOut")) for s in vertex.subtasks]
    size = sum(bytes_ for bytes_, records in pairs if bytes_ and records)
    count = sum(records for bytes_, records in pairs if bytes_ and records)
    if count < FEW or size <= 0:
        return None
    return Found(
        value=max(1, round(size / count)),
        how=f"bytes over {count:,.0f} records emitted since it began",
        answers=SAMPLES,
        sure=Sureness.COUNTED if count >= ENOUGH else Sureness.ESTIMATED,
    )


def edge_bytes_of(vertex: VertexAnswer) -> Found[int] | None:
    """Return the size of a record that a vertex takes, over the life of the job. None if none.

    What an upstream vertex emits to several receivers may differ between them.
    """
    pairs = [(s.last("numBytesIn"), s.last("numRecordsIn")) for s in vertex.subtasks]
    size = sum(bytes_ for bytes_, records in pairs if bytes_ and records)
    count = sum(records for bytes_, records in pairs if bytes_ and records)
    if count < ENOUGH or size <= 0:
        return None
    return Found(
        value=max(1, round(size / count)),
        how=f"bytes over {count:,.0f} records taken since it began",
        answers=SAMPLES,
        sure=Sureness.COUNTED,
    )


def size_on_edge(
    vertices: Sequence[VertexAnswer], vertex: VertexAnswer, upstream: VertexAnswer
) -> Found[int] | None:
    """Return the size of a record on an edge, where its upstream's outputs differ and it shows."""
    readers = [v for v in vertices if any(i.upstream == upstream.id for i in v.inputs)]
    if len(readers) < 2 or len(vertex.inputs) != 1:
        return None
    sizes = [found for v in readers if (found := edge_bytes_of(v)) is not None]
    own = edge_bytes_of(vertex)
    if own is None or max(sizes, key=_size).value <= (1 + _APART) * min(sizes, key=_size).value:
        return None
    return own


def _size(found: Found[int]) -> int:
    return found.value


def factored(services: tuple[int, ...], constants: Constants) -> tuple[int, tuple[float, ...]]:
    """Return the service of the fastest subtask as a scenario has it, and factors over it.

    A recorded service has everything in it that a record costs, a scenario's has not.
    """
    nominal = [_rounded(service_of_step(service, constants)) for service in services]
    usual = max(1, min(nominal))
    if max(nominal) == min(nominal):
        return usual, ()
    return usual, tuple(round(min(1000.0, max(1, service) / usual), 3) for service in nominal)


def _rounded(service_ns: int) -> int:
    """Return a service time in whole us where that is exact to a thousandth: counters are not."""
    return round(service_ns, -3) if service_ns >= 1_000_000 // 2 else service_ns
