"""What the tasks of a job do in a stretch that is not simulated: counts, by arithmetic.

A source that keeps up reads what its clock makes due.  One that is held up, or has no clock, reads
as much as the busiest vertex has processed of it in the window.  Each vertex processes exactly as
much as is sent to it meanwhile: as much is in flight at the end as at the beginning.  Its subtasks
share that as they did in the window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.compiled.columns import task
from ckptsim.sim.job.buffers.compiled.task import CompiledSource
from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.output import Selectivity
from ckptsim.sim.job.buffers.skipping.steady import LATE_NS
from ckptsim.sim.job.buffers.skipping.translation import Turn

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.skipping.steady import Window
    from ckptsim.sim.job.buffers.world import DataflowWorld

# Of the time until a source has caught up, or has read all, so much is passed over at once: what
# happens then is simulated.
_NUMERATOR, _DENOMINATOR = 9, 10


@dataclass(frozen=True, slots=True)
class Stretch:
    """So much time, what each task processes meanwhile, by number, and how clocks turn."""

    lasts_ns: int
    records: list[int]
    turns: dict[int, list[Turn]]


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a split as the kernel has it, with a gap of None for as fast as possible."""

    gap_ns: int | None
    due_ns: int


def clocks_of(source: CompiledSource) -> list[Clock]:
    """Return the clocks of the splits of a source, in the order in which it reads them."""
    words, row = source.driver.words, source.row
    places = [(row + task.GAP_NS, row + task.DUE_NS)]
    if words[row + task.END_SPLIT]:
        rows = range(words[row + task.FIRST_SPLIT], words[row + task.END_SPLIT], task.SPLIT_WIDTH)
        places = [(one + task.SPLIT_GAP_NS, one + task.SPLIT_DUE_NS) for one in rows]
    return [Clock(None if words[gap] < 0 else words[gap], words[due]) for gap, due in places]


def late_ns(source: CompiledSource) -> int:
    """Return how late a source is with its next record, 0 where it has no clock."""
    now = source.env.now
    due = [one.due_ns for one in clocks_of(source) if one.gap_ns is not None]
    return max([now - one for one in due] + [0])


def is_held_up(source: CompiledSource) -> bool:
    """Return whether a source reads as fast as it can, and has something to read."""
    if source.exhausted_ns is not None or not source.has_records:
        return False
    return late_ns(source) > LATE_NS or any(one.gap_ns is None for one in clocks_of(source))


def longest_ns(world: DataflowWorld, window: Window) -> int | None:
    """Return for how long the window may repeat itself, None for ever."""
    found = []
    for source in _reading(world):
        done, late = int(window.done[source.number]), int(window.late_ns[source.number])
        if source.limit is not None and done:
            found.append((source.limit - source.processed) * window.lasts_ns // done)
        later = int(window.later_ns[source.number])
        if late > LATE_NS and later < 0:
            found.append(late * window.lasts_ns // -later)
    return min(found) * _NUMERATOR // _DENOMINATOR if found else None


def stretch_of(world: DataflowWorld, window: Window, lasts_ns: int) -> Stretch:
    """Return what happens in so much time if the window repeats itself."""
    turns = {one.number: _turns(one, window, lasts_ns, 1) for one in _reading(world)}
    records = _flows(world, window, turns)
    free = [one.number for one in _reading(world) if is_held_up(one)]
    if free:
        # Sources write in bursts, so how much they do is taken from the vertex that works most.
        kept = {number: turned for number, turned in turns.items() if number not in free}
        name = _busiest(world, window)
        due, fixed, found = (
            sum(one[number] for number in world.graph.tasks_of(name))
            for one in (window.done.tolist(), _flows(world, window, kept), records)
        )
        due = _per(due, lasts_ns, window.lasts_ns)
        if found > fixed and due > fixed:
            ratio = Fraction(due - fixed, found - fixed)
            for one in _reading(world):
                if one.number in free:
                    turns[one.number] = _turns(one, window, lasts_ns, ratio)
            records = _flows(world, window, turns)
    return Stretch(lasts_ns, records, turns)


def _busiest(world: DataflowWorld, window: Window) -> str:
    """Return the vertex with the greatest share of busy time, of those that are no sources."""
    busy = {
        one.name: window.times[list(world.graph.tasks_of(one.name)), State.BUSY].mean()
        for one in world.graph.vertices
        if not one.is_source
    }
    return max(busy, key=busy.__getitem__)


def _flows(world: DataflowWorld, window: Window, turns: Mapping[int, Sequence[Turn]]) -> list[int]:
    """Return what each task processes if sources read so much, by number."""
    records = [0] * len(world.tasks)
    for number, turned in turns.items():
        records[number] = sum(one.records for one in turned)
    sent = dict.fromkeys((one.name for one in world.graph.vertices), 0)
    for name in world.graph.topological:
        numbers = list(world.graph.tasks_of(name))
        if not world.graph.vertex(name).is_source:
            shares = dealt(sent[name], [int(window.done[one]) for one in numbers])
            for number, share in zip(numbers, shares, strict=True):
                records[number] = share
        out = sum(out_of(world, number, records[number]) for number in numbers)
        for edge in world.graph.edges:
            if edge.upstream == name:
                sent[edge.downstream] += world.graph.copies(edge) * out
    return records


def out_of(world: DataflowWorld, number: int, records: int) -> int:
    """Return how many records come of so many that a task processes next."""
    one = world.tasks[number]
    emitted = Selectivity(one.spec.vertex.selectivity).emitted
    return emitted(one.processed + records) - emitted(one.processed)


def _reading(world: DataflowWorld) -> Iterator[CompiledSource]:
    for one in world.tasks:
        if isinstance(one, CompiledSource) and one.exhausted_ns is None and one.has_records:
            yield one


def _turns(
    source: CompiledSource, window: Window, lasts_ns: int, ratio: Fraction | int
) -> list[Turn]:
    """Return how the clocks of a source turn.

    ratio: by which it reads more than in the window, if it is held up.
    """
    clocks, number = clocks_of(source), source.number
    read = _per(int(window.done[number]), lasts_ns, window.lasts_ns)
    read = round(read * ratio)
    shares = dealt(read, [1] * len(clocks))
    is_late = bool(window.late_ns[number] > LATE_NS)
    found = []
    for one, share in zip(clocks, shares, strict=True):
        if one.gap_ns is None:
            found.append(Turn(share, share if len(clocks) > 1 else 0))
            continue
        due = -(-lasts_ns // one.gap_ns)
        if is_late:  # a log keeps records that are late, others drop them
            found.append(Turn(share, (share if source.replayable else due) * one.gap_ns))
        else:
            found.append(Turn(due, due * one.gap_ns))
    return found


def _per(count: int, lasts_ns: int, window_ns: int) -> int:
    return (2 * count * lasts_ns + window_ns) // (2 * window_ns)


def dealt(total: int, weights: Sequence[int]) -> list[int]:
    """Deal a number out by weights, and the remainder to the largest rests."""
    whole = sum(weights)
    if not whole:
        weights, whole = [1] * len(weights), len(weights)
    parts = [total * weight // whole for weight in weights]
    rests = [-(total * weight % whole) for weight in weights]
    for place in sorted(range(len(weights)), key=rests.__getitem__)[: total - sum(parts)]:
        parts[place] += 1
    return parts
