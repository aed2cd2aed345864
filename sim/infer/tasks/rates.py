"""At which rate a source emits, when that changes, and whether it makes up for what it missed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, median, pstdev

from ckptsim.scenarios.job import RateChange
from ckptsim.sim.infer.found import Found, Sureness
from ckptsim.sim.infer.tasks.load import ENOUGH, EVEN, FEW, SAMPLES, Times, times_of
from ckptsim.sim.job.buffers.constants import PLAIN
from ckptsim.sim.recording import SubtaskAnswer, VertexAnswer

# A source with a rate is idle for more than this part of its time.  Source: recordings of sources
# that emit as fast as they can: idle 0.0 %, busy 0.5 to 3.2 %.  One that is never idle, and
# back-pressured for less than half of its time, is as fast as its own work lets it.
_WAITS = 0.02
_PRESSED = 0.5
# Windows that are back-pressured for more than this part say little of a rate. As many windows, so
# far apart, decide whether a source catches up.
_HELD_UP = 0.9
_TELLING = 4
_HELD_APART = 0.2
# Rates of windows that differ by less are one: times grow in lumps.  Source: recordings of sources
# with a steady rate: windows of 2 s scatter by up to 10 %.  What few records differ by is chance,
# up to so many deviations of it.
_COURSE = 0.3
_CHANCE = 6
# A machine that is busy with other things lets a source miss records, never emit more.  So one
# window with less is no course. As many with half as much are.
_SILENT = 2
# Of so many records per ms and subtask counters scatter.  Assumption: answers are as old as they
# say to 10 ms. Recorded ones are off by up to 500 ms.
_MANY_PER_MS = 0.1
# The highest factor of a rate that a scenario can hold.
_STEEPEST = 1000.0
_NS = 1_000_000


def rates_of(vertex: VertexAnswer) -> Found[tuple[float, ...] | None]:
    """Return the records per second of each subtask of a source. None for as fast as it can.

    A source that emits as fast as it can is never idle, and busy only with emitting: it waits for
    its outputs all the time.  One that is idle now and then waits for a clock of its own, or for
    what it reads, however much it is back-pressured besides.
    """
    found = [times_of(subtask) for subtask in vertex.subtasks]
    known = [times for times in found if times is not None and times.records_out > 0]
    if not known:
        return _unknown("it has emitted nothing while it was watched, or was not")
    clock = sum(times.clock_ms for times in known)
    pressed = sum(times.pressed_ms for times in known) / clock
    idle = sum(times.idle_ms for times in known) / clock
    if idle < _WAITS and pressed >= _PRESSED:
        return Found(
            value=None,
            how=f"back-pressured for {pressed:.0%} of its time: a rate of its own cannot be seen",
            answers=SAMPLES,
            sure=Sureness.COUNTED if pressed > 0.8 else Sureness.ESTIMATED,
        )
    late = makes_up(vertex)
    each = [_rate_of(subtask, makes_up_=late) for subtask in vertex.subtasks]
    seen = [rate for rate in each if rate is not None]
    if not any(seen):
        return _unknown("it has emitted nothing while nothing held it up")
    mean = sum(seen) / len(seen)
    rates = [mean if rate is None else rate for rate in each]
    if max(rates) - min(rates) < EVEN * mean:
        rates = [mean] * len(rates)
    sure = idle > 0.2 and pressed < 0.1 and sum(t.records_out for t in known) >= ENOUGH
    how = f"records over the tasks' own clock, idle for {idle:.0%} of it"
    if pressed >= EVEN and not late:
        how += f", without the {pressed:.0%} that it was back-pressured"
    return Found(
        value=tuple(rate * 1000 for rate in rates),
        how=how,
        answers=SAMPLES,
        sure=Sureness.COUNTED if sure else Sureness.ESTIMATED,
    )


def course_of(vertex: VertexAnswer) -> Found[tuple[RateChange, ...]] | None:
    """Return how a source's rate changed, over its mean. None where it shows none.

    Bursts show in counters, slower changes between samples.  The last change is that to the first
    rate again, at the end of a period or of the time that was sampled: what comes after that was
    not seen, and is taken to be the same once more.  Where a source was held up for much of a
    window, or makes up for what it missed, its records say little of its rate.
    """
    bursts = _bursts_of(vertex)
    if bursts is not None:
        return bursts
    each = [_windows(subtask) for subtask in vertex.subtasks]
    times = list(zip(*each, strict=False))
    count = len(times)
    if count < _TELLING or any(len(one) != count for one in each) or makes_up(vertex):
        return None
    if any(t.pressed_ms > _PRESSED * t.clock_ms for window in times for t in window):
        return None
    lengths = [sum(one.clock_ms for one in window) / len(window) for window in times]
    records = [sum(one.records_out for one in window) for window in times]
    rates = [size / length for size, length in zip(records, lengths, strict=True)]
    mean, usual = sum(records) / sum(lengths), median(rates)
    apart = max(_COURSE, _CHANCE / math.sqrt(max(1.0, sum(records) / count)))
    silent = [rate for rate in rates if rate <= usual / 2]
    if not mean or (max(rates) < (1 + apart) * usual and len(silent) < _SILENT):
        return None
    changes, at_ms = [], 0.0
    for window in _alike(rates, _COURSE / 2 * mean):
        length = sum(lengths[window])
        factor = round(sum(records[window]) / length / mean, 3)
        changes.append(RateChange(at_ns=round(at_ms) * _NS, factor=factor))
        at_ms += length
    changes.append(replace(changes[0], at_ns=round(at_ms) * _NS))
    low, high = min(rates) / mean, max(rates) / mean
    return Found(
        value=tuple(changes),
        how=f"{low:.2g} to {high:.2g} times its mean in {count} windows between samples; what came "
        "behind them is taken to be the same again",
        answers=SAMPLES,
        sure=Sureness.ESTIMATED,
        effect="in bursts queues grow, and checkpoints take longer",
    )


def _bursts_of(vertex: VertexAnswer) -> Found[tuple[RateChange, ...]] | None:
    """Return the course of a source with counters at multiples of some number.

    So many records it emits at once, as fast as it makes them, and then none until the next ones
    are due.  What a steady source has emitted when it is asked scatters by some ms of its records,
    so the one of one with few per second nothing is said.
    """
    found = [times_of(subtask) for subtask in vertex.subtasks]
    known = [times for times in found if times is not None]
    counts = [{s.values.get("numRecordsOut", 0.0) for s in one.samples} for one in vertex.subtasks]
    sizes = [math.gcd(*map(int, own)) for own in counts]
    if len(known) < len(counts) or min(map(len, counts)) < _TELLING or min(sizes) < FEW:
        return None
    if any(times.pressed_ms > EVEN * times.clock_ms for times in known):
        return None  # what it emits late, a simulated source drops
    records = sum(times.records_out for times in known)
    if min(times.records_out / times.clock_ms for times in known) < _MANY_PER_MS:
        return None
    period_ns = sum(sizes) / records * fmean(times.clock_ms for times in known) * _NS
    length_ns = max(_NS, max(sizes) * PLAIN.source_record_ns, period_ns / _STEEPEST)
    if length_ns > period_ns / 2:
        return None
    factor = round(period_ns / length_ns, 3)
    said = f"{max(sizes):,} records of a subtask at a time, every {period_ns / 1e9:.2g} s"
    return Found(
        value=(
            RateChange(at_ns=0, factor=factor),
            RateChange(at_ns=round(length_ns), factor=0.0),
            RateChange(at_ns=round(period_ns), factor=factor),
        ),
        how=f"{said}: counters stood at multiples of that only",
        answers=SAMPLES,
        sure=Sureness.ESTIMATED,
        effect="the duration of a checkpoint depends on the time since the last burst",
    )


def _alike(rates: Sequence[float], apart: float) -> Iterator[slice]:
    """Yield windows in a row with rates near the first one."""
    first = 0
    for place, rate in enumerate([*rates, math.inf]):
        if abs(rate - rates[first]) > apart:
            yield slice(first, place)
            first = place


def _unknown(how: str) -> Found[tuple[float, ...] | None]:
    """Return that nothing is known of a rate."""
    return Found(
        value=None,
        how=how,
        answers=(),
        sure=Sureness.ASSUMED,
        effect="a source without a rate fills every buffer before the slowest task",
    )


def _rate_of(subtask: SubtaskAnswer, *, makes_up_: bool) -> float | None:
    """Return the records per ms of a source's subtask while nothing held it up.

    Of windows in which it was held up nearly all the time little is left to count in.
    """
    whole = times_of(subtask)
    if whole is None or not whole.records_out:
        return None
    if makes_up_:
        return whole.records_out / whole.clock_ms
    free = [one for one in _windows(subtask) if one.pressed_ms < _HELD_UP * one.clock_ms] or [whole]
    own_ms = sum(one.clock_ms - one.pressed_ms for one in free)
    return sum(one.records_out for one in free) / own_ms if own_ms > 0 else None


def _windows(subtask: SubtaskAnswer) -> list[Times]:
    """Return the times between each two samples."""
    return [
        times
        for pair in pairwise(subtask.samples)
        if (times := times_of(replace(subtask, samples=pair))) is not None
    ]


def makes_up(vertex: VertexAnswer) -> bool:
    """Return whether a source emits later what it could not while it was back-pressured.

    As one that reads a log does: over windows that are back-pressured for different parts of their
    time it emits the same number of records.  Of one that drops them it is the number over the rest
    of the time that stays the same.  Where too little was held up to tell, it is none.
    """
    found = [one for subtask in vertex.subtasks for one in _windows(subtask)]
    found = [one for one in found if one.idle_ms > _WAITS * one.clock_ms]
    shares = [one.pressed_ms / one.clock_ms for one in found]
    if len(found) < _TELLING or max(shares) - min(shares) < _HELD_APART:
        return False
    over_all = [one.records_out / one.clock_ms for one in found]
    over_rest = [one.records_out / (one.clock_ms - one.pressed_ms) for one in found]
    return _spread(over_all) < _spread(over_rest) / 2


def keeps_what_it_missed(vertex: VertexAnswer) -> tuple[bool, str]:
    """Return whether a source emits later what it missed, and what shows it.

    Its rate is that over the rest of its time where it drops what it missed.
    """
    if makes_up(vertex):
        return True, "it emits as much where it was back-pressured for a while"
    known = [times for one in vertex.subtasks if (times := times_of(one)) is not None]
    clock = sum(times.clock_ms for times in known)
    pressed = sum(times.pressed_ms for times in known) / clock if clock else 0.0
    if pressed >= EVEN:
        return False, f"it was back-pressured for {pressed:.0%} of its time, and emitted less"
    return True, "it was hardly held up, so that nothing shows; sources of logs keep it"


def _spread(values: Sequence[float]) -> float:
    """Return the coefficient of variation."""
    return pstdev(values) / (sum(values) / len(values)) if any(values) else math.inf
