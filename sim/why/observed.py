"""A run of a job as its rows and its trace show it, with the graph it ran on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from ckptsim.models.barriers.channel_state import group_of
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import Job, Plane
from ckptsim.scenarios.job.faults import AtCheckpoint, DelayPrecommit
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.rows import CheckpointRow, RunResult, TaskCheckpointRow, TaskRow
from ckptsim.sim.why.answer import Place

# From this share of its time on a task counts as back-pressured, as less comes of bursts. Loads
# within this factor count as equal.  Assumptions.
_PRESSED, _ALIKE = 0.15, 0.9
_ENTRIES_MAX = 1_000_000  # of a trace that is kept unasked: some 200 MiB
_KINDS = ("barrier", "sent_barrier", "snapshot", "performed", "committed", "declined")


@dataclass(slots=True)
class Lane:
    """What one subtask did for one checkpoint. Instants in ns, None where it did not come to it.

    arrivals: instant and channel of each barrier, as they came. Without a trace, and on records,
    none, but only the ones of the first and the last one are known.  sent: when its barrier went
    on.
    """

    awaited: bool = False
    arrivals: list[tuple[int, int]] = field(default_factory=list)
    first_ns: int | None = None
    last_ns: int | None = None
    sent: list[int] = field(default_factory=list)
    snapshot_ns: int | None = None
    copied_ns: int | None = None
    written_ns: int | None = None
    acknowledged_ns: int | None = None
    committed_ns: int | None = None
    declined: tuple[int, str] | None = None

    def sent_by(self, until_ns: int) -> int | None:
        """Return when the barrier went on, the latest time until an instant."""
        instants = self.sent or ([] if self.snapshot_ns is None else [self.snapshot_ns])
        return max((one for one in instants if one <= until_ns), default=None)

    def complete(self, row: CheckpointRow, part: TaskCheckpointRow) -> None:
        """Take what the row of the subtask says. What the trace says of it counts more."""
        self.awaited = True
        if part.status == "unseen" and not self.arrivals:
            return
        first_ns = row.triggered_ns + part.start_delay_ns
        self.first_ns = self.arrivals[0][0] if self.arrivals else first_ns
        self.last_ns = max([at for at, _ in self.arrivals] or [first_ns + part.alignment_ns])
        self.acknowledged_ns = part.acknowledged_ns
        if self.snapshot_ns is None and part.acknowledged_ns is not None:
            self.snapshot_ns = self.first_ns if part.unaligned else self.last_ns
        if self.snapshot_ns is not None:
            self.copied_ns = self.snapshot_ns + part.sync_ns
            self.written_ns = self.copied_ns + part.async_ns


class Observed:
    """One run of a job. Without its trace some instants come from the rows."""

    def __init__(self, scenario: Scenario, result: RunResult) -> None:
        self.job = cast("Job", scenario.model).spelled_out()
        self.faults = scenario.faults
        self.result = result
        self.graph = Graph(self.job)
        self.places: list[Place] = [task.place for task in self.graph.tasks]
        self.tasks: dict[Place, TaskRow] = {(row.task, row.subtask): row for row in result.tasks}
        self._numbers = {place: number for number, place in enumerate(self.places)}

    def part(self, checkpoint: int, place: Place) -> TaskCheckpointRow | None:
        """Return the row of a subtask's part in a checkpoint."""
        return self.parts.get(checkpoint, {}).get(place)

    @cached_property
    def parts(self) -> dict[int, dict[Place, TaskCheckpointRow]]:
        """Return the rows of all parts, by checkpoint and subtask."""
        found: dict[int, dict[Place, TaskCheckpointRow]] = {}
        for row in self.result.task_checkpoints:
            found.setdefault(row.checkpoint_id, {})[row.task, row.subtask] = row
        return found

    @cached_property
    def lanes(self) -> dict[int, dict[Place, Lane]]:
        """Return what every subtask did, by checkpoint and subtask."""
        found: dict[int, dict[Place, Lane]] = {}
        for at_ns, kind, place, fields in self._entries():
            if kind in _KINDS and place is not None:
                lane = found.setdefault(int(fields[0]), {}).setdefault(place, Lane())
                _note(lane, at_ns, kind, fields)
        for row in self.result.checkpoints:
            own = found.setdefault(row.checkpoint_id, {})
            for place, part in self.parts.get(row.checkpoint_id, {}).items():
                own.setdefault(place, Lane()).complete(row, part)
        return found

    def struck(self, checkpoint: int, place: Place, *kinds: type) -> bool:
        """Return whether a fault of some kind strikes a subtask at a checkpoint."""
        return any(
            isinstance(fault, AtCheckpoint)
            and isinstance(fault, kinds)
            and (fault.vertex, fault.subtask, fault.checkpoint) == (*place, checkpoint)
            for fault in self.faults
        )

    @cached_property
    def together(self) -> dict[int, tuple[int, Place]]:
        """Return when a global committer committed each checkpoint, and the sink that it is of.

        The subtask is known where its files come late by a fault.
        """
        found: dict[int, tuple[int, Place]] = {}
        for at_ns, kind, _, fields in self._entries():
            if kind == "committed_together":
                number = int(fields[0])
                sinks = [v.name for v in self.job.vertices if v.global_committer]
                own = [place for place in self.places if place[0] in sinks]
                late = (one for one in own if self.struck(number, one, DelayPrecommit))
                found[number] = (at_ns, next(late, (sinks[0], None)))
        return found

    # The graph --------------------------------------------------------------------------------

    def senders(self, place: Place) -> list[Place]:
        """Return the sender of each channel of a subtask. None where it is not in the graph."""
        number = self._numbers.get(place)
        inputs = [] if number is None else self.graph.inputs[number]
        return [self.places[self.graph.channels[one].upstream] for one in inputs]

    def _receivers(self, place: Place) -> list[Place]:
        number = self._numbers.get(place)
        outputs = [] if number is None else self.graph.outputs[number]
        channels = (one for output in outputs for one in output.channels)
        return list(
            dict.fromkeys(self.places[self.graph.channels[one].downstream] for one in channels)
        )

    def _downstream(self, place: Place) -> list[Place]:
        """Return a subtask and all that its records can come to, nearest first."""
        found, waiting = {place: None}, [place]
        while waiting:
            new = [one for one in self._receivers(waiting.pop(0)) if one not in found]
            found |= dict.fromkeys(new)
            waiting += new
        return list(found)

    def sharers(self, place: Place) -> list[Place]:
        """Return the other subtasks that write channel state to the same file."""
        key = self._files.get(place)
        return [one for one, own in self._files.items() if own == key and one != place]

    @cached_property
    def _files(self) -> dict[Place, tuple[int, int]]:
        """Return per subtask its file: of its vertex on records, of its task manager on buffers."""
        limit, found = self.job.checkpointing.subtasks_per_file, {}
        counts: dict[int, int] = {}
        for task in self.graph.tasks:
            by_vertex = self.job.plane is not Plane.BUFFERS
            where = task.vertex_index if by_vertex else task.task_manager
            found[task.place] = (where, group_of(counts.get(where, 0), limit=limit))
            counts[where] = counts.get(where, 0) + 1
        return cast("dict[Place, tuple[int, int]]", found)

    # How tasks spent their time ---------------------------------------------------------------

    def busy(self, place: Place) -> float:
        """Return the share of its time that a subtask was busy.

        On records the rows know nothing of slower subtasks, so it comes from their service times.
        """
        row = self.tasks.get(place)
        if row is None or self.job.plane is Plane.BUFFERS:
            return 0.0 if row is None else row.busy_ratio
        ended_ns = row.finished_ns or max(1, self.result.run.ended_ns)
        return min(1.0, row.records * self.service_ns(place) / ended_ns)

    def service_ns(self, place: Place) -> int:
        """Return how long a subtask takes for a record. 0 of a source."""
        vertex = self.graph.vertex(str(place[0]))
        return 0 if vertex.is_source else vertex.service_of(int(place[1] or 0))

    def bottleneck(self, path: Sequence[Place], from_ns: int, until_ns: int) -> Place:
        """Return the subtask that kept a barrier waiting in the queue before the last of a path.

        It is one that stood still meanwhile, or the one that back-pressure leads to: from the queue
        forward to the subtask that is busy.  Of several that are equally busy it is one that the
        path has come through.
        """
        here, on_records = path[-1], self.job.plane is not Plane.BUFFERS
        below = self._downstream(here) if on_records or self._stalls else [here]
        still = {one: self.stalled_ns(one, from_ns, until_ns) for one in below}
        worst = max(below, key=lambda one: still[one])
        if still[worst] > (until_ns - from_ns) / 2:
            return worst
        if on_records:
            busiest = _greatest(below, self.busy, path)
            return busiest if self.busy(here) < _ALIKE * self.busy(busiest) else here
        while here in self.tasks and self.tasks[here].backpressured_ratio > _PRESSED:
            receivers = [one for one in self._receivers(here) if one in self.tasks]
            if not receivers:
                break
            here = _greatest(receivers, self._load, path)
        return here

    def _load(self, place: Place) -> float:
        row = self.tasks[place]
        return row.busy_ratio + row.backpressured_ratio

    def stalled_ns(self, place: Place, from_ns: int, until_ns: int) -> int:
        """Return for how long of an interval a subtask stood still."""
        return sum(
            max(0, min(until_ns, at_ns + lasts_ns) - max(from_ns, at_ns))
            for at_ns, lasts_ns in self._stalls.get(place, ())
        )

    @cached_property
    def _stalls(self) -> dict[Place, list[tuple[int, int]]]:
        found: dict[Place, list[tuple[int, int]]] = {}
        for at_ns, kind, place, fields in self._entries():
            if kind == "stalled" and place is not None:
                found.setdefault(place, []).append((at_ns, int(fields[0])))
        return found

    def _entries(self) -> Iterator[tuple[int, str, Place | None, Sequence[Any]]]:
        """Yield the entries of the trace. place: the subtask, None of all else."""
        names = {f"{vertex}[{subtask}]": (vertex, subtask) for vertex, subtask in self.places}
        for entry in self.result.trace:
            name = str(entry[2]).removeprefix("task ")  # of records
            yield cast("int", entry[0]), str(entry[1]), names.get(name), entry[3:]


def _note(lane: Lane, at_ns: int, kind: str, fields: Sequence[Any]) -> None:
    """Take an entry of the trace."""
    if kind == "barrier":
        lane.arrivals.append((at_ns, int(fields[1])))
    elif kind == "sent_barrier":
        lane.sent.append(at_ns)
    elif kind == "committed":
        lane.committed_ns = at_ns
    elif kind == "declined":
        lane.declined = lane.declined or (at_ns, str(fields[1]))
    else:
        lane.snapshot_ns = at_ns


def _greatest(
    places: Sequence[Place], load: Callable[[Place], float], known: Sequence[Place]
) -> Place:
    """Return the place with the greatest load. Of those that come close to it, a known one."""
    most = max(map(load, places))
    near = [place for place in places if load(place) >= _ALIKE * most]
    return next((place for place in near if place in known), max(places, key=load))


def is_traced_at_ease(job: Job) -> bool:
    """Return whether the trace of a run is small: barriers by channels and checkpoints."""
    if job.plane is not Plane.BUFFERS or not job.checkpointing.enabled:
        return True
    channels = len(Graph(job.spelled_out()).channels)
    return channels * (job.duration_ns // job.checkpointing.interval_ns) < _ENTRIES_MAX


def ended_ns(row: CheckpointRow) -> int | None:
    """Return when a checkpoint ended. None of one that is pending."""
    if row.completed_ns is not None:
        return row.completed_ns
    return None if row.duration_ns is None else row.triggered_ns + row.duration_ns
