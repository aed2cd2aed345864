"""A run of a job as its rows and its trace show it, with the graph it ran on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.job import Job, Plane
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.rows import CheckpointRow, RunResult, TaskCheckpointRow, TaskRow
from ckptsim.sim.why.answer import Place

# From this share of its time on a task counts as back-pressured.  Assumption: less comes of bursts.
_PRESSED = 0.15
# Loads of which one is at least this much of the other count as equal.  Assumption.
_ALIKE = 0.9


@dataclass(slots=True)
class Lane:
    """What one subtask did for one checkpoint, as the trace has it.

    arrivals: instant and channel of each barrier, as they came.  sent: when its barrier went on.
    committed_ns: when its transaction was committed.
    """

    arrivals: list[tuple[int, int]] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    snapshot_ns: int | None = None
    committed_ns: int | None = None
    declined: tuple[int, str] | None = None

    def sent_by(self, until_ns: int) -> int | None:
        """Return when the barrier went on, the latest time until an instant."""
        instants = self.sent or ([] if self.snapshot_ns is None else [self.snapshot_ns])
        return max((one for one in instants if one <= until_ns), default=None)


class Observed:
    """One run of a job; its trace must have been kept."""

    def __init__(self, scenario: Scenario, result: RunResult) -> None:
        self.job = cast("Job", scenario.model).spelled_out()
        self.faults = scenario.faults
        self.result = result
        self.graph = Graph(self.job)
        self.places: list[Place] = [task.place for task in self.graph.tasks]
        self.numbers = {place: number for number, place in enumerate(self.places)}
        self.tasks: dict[Place, TaskRow] = {(row.task, row.subtask): row for row in result.tasks}
        self._lanes: dict[int, dict[Place, Lane]] = {}

    def lanes(self, checkpoint: int) -> dict[Place, Lane]:
        """Return what every subtask did for a checkpoint."""
        if not self._lanes:
            self._read()
        return self._lanes.get(checkpoint, {})

    def parts(self, checkpoint: int) -> dict[Place, TaskCheckpointRow]:
        """Return the rows of a checkpoint's subtasks."""
        return self._parts.get(checkpoint, {})

    @cached_property
    def _parts(self) -> dict[int, dict[Place, TaskCheckpointRow]]:
        found: dict[int, dict[Place, TaskCheckpointRow]] = {}
        for row in self.result.task_checkpoints:
            found.setdefault(row.checkpoint_id, {})[row.task, row.subtask] = row
        return found

    def senders(self, place: Place) -> list[Place]:
        """Return the sender of each channel of a subtask; none where it is not in the graph."""
        number = self.numbers.get(place)
        inputs = [] if number is None else self.graph.inputs[number]
        return [self.places[self.graph.channels[one].upstream] for one in inputs]

    def receivers(self, place: Place) -> list[Place]:
        """Return the subtasks that a subtask sends to."""
        outputs = self.graph.outputs[self.numbers[place]]
        channels = (one for output in outputs for one in output.channels)
        return list(
            dict.fromkeys(self.places[self.graph.channels[one].downstream] for one in channels)
        )

    def downstream(self, place: Place) -> list[Place]:
        """Return a subtask and all that its records can come to, nearest first."""
        found = dict.fromkeys([place])
        waiting = [place] if place in self.numbers else []
        while waiting:
            for receiver in self.receivers(waiting.pop(0)):
                if receiver not in found:
                    found[receiver] = None
                    waiting.append(receiver)
        return list(found)

    # How tasks spent their time ---------------------------------------------------------------

    def busy(self, place: Place) -> float:
        """Return the share of its time that a subtask was busy.

        On records the rows know nothing of slower subtasks, so it comes from their service times.
        """
        row = self.tasks.get(place)
        if row is None:
            return 0.0
        if self.job.plane is Plane.BUFFERS:
            return row.busy_ratio
        ended_ns = row.finished_ns or max(1, self.result.run.ended_ns)
        return min(1.0, row.records * self.service_ns(place) / ended_ns)

    def service_ns(self, place: Place) -> int:
        """Return how long a subtask takes for a record; 0 of a source."""
        vertex = self.graph.vertex(str(place[0]))
        return 0 if vertex.is_source else vertex.service_of(int(place[1] or 0))

    def bottleneck(
        self, place: Place, from_ns: int, until_ns: int, known: Sequence[Place] = ()
    ) -> Place:
        """Return the subtask that kept a barrier waiting in the queue before another one.

        It is one that stood still meanwhile, or the one that back-pressure leads to: from the queue
        forward to the subtask that is busy.  known: those on the path already; where several are
        equally busy, it is one of them.
        """
        below = self.downstream(place)
        still = {one: self.stalled_ns(one, from_ns, until_ns) for one in below}
        worst = max(below, key=lambda one: still[one])
        if still[worst] > (until_ns - from_ns) / 2:
            return worst
        if self.job.plane is not Plane.BUFFERS:
            busiest = _greatest(below, self.busy, known)
            return busiest if self.busy(place) < _ALIKE * self.busy(busiest) else place
        here = place
        while here in self.tasks and self.tasks[here].backpressured_ratio > _PRESSED:
            receivers = [one for one in self.receivers(here) if one in self.tasks]
            if not receivers:
                break
            here = _greatest(receivers, self._load, known)
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

    # The trace --------------------------------------------------------------------------------

    def _read(self) -> None:
        for at_ns, kind, place, fields in self._entries():
            if place is None or kind not in _KINDS:
                continue
            checkpoint = int(fields[0])
            lane = self._lanes.setdefault(checkpoint, {}).setdefault(place, Lane())
            if kind == "barrier":
                lane.arrivals.append((at_ns, int(fields[1])))
            elif kind == "sent_barrier":
                lane.sent.append(at_ns)
            elif kind in ("snapshot", "performed"):
                lane.snapshot_ns = at_ns
            elif kind == "committed":
                lane.committed_ns = at_ns
            elif kind == "declined" and lane.declined is None:
                lane.declined = at_ns, str(fields[1])

    def _entries(self) -> Iterator[tuple[int, str, Place | None, Sequence[Any]]]:
        """Yield the entries of the trace; place: the subtask, None of all else."""
        names = {f"{vertex}[{subtask}]": (vertex, subtask) for vertex, subtask in self.places}
        for entry in self.result.trace:
            name = str(entry[2]).removeprefix("task ")
            yield cast("int", entry[0]), str(entry[1]), names.get(name), entry[3:]


def _greatest(
    places: Sequence[Place], load: Callable[[Place], float], known: Sequence[Place]
) -> Place:
    """Return the place with the greatest load; of those that come close to it, a known one."""
    most = max(map(load, places))
    near = [place for place in places if load(place) >= _ALIKE * most]
    return next((place for place in near if place in known), max(places, key=load))


_KINDS = ("barrier", "sent_barrier", "snapshot", "performed", "committed", "declined")


def ended_ns(row: CheckpointRow) -> int | None:
    """Return when a checkpoint ended; None of one that is pending."""
    if row.completed_ns is not None:
        return row.completed_ns
    return None if row.duration_ns is None else row.triggered_ns + row.duration_ns
