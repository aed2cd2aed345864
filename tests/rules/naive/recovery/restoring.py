"""The rules of a task that comes back, stated naively: its steps, and one gate's in-flight data.

Source: Apache Flink 1.20.3, StreamTask.restoreInternal, SingleInputGate, DemultiplexingRecord-
Deserializer, as docs/recovery.md tells them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ckptsim.models.recovery import GateAssignment, recovered_input, restore
from ckptsim.models.recovery.in_flight import ConnectionDescriptor
from ckptsim.models.recovery.mapping import DISTRIBUTIONS
from ckptsim.models.recovery.records import Broken, RecordPart
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.functions.recovery import assigned
from tests.rules.naive.naive import Naive

_Old = tuple[int, tuple[int, int] | None]
"""A channel and the old channel (subtask, upstream) that its data come from; None: its own."""


class RecoveredInputRules(Naive):
    """What a gate that takes data over is to answer, from what each old channel has brought."""

    def __init__(
        self, assignment: GateAssignment, channels: int, *, accepts: Callable[[int], bool]
    ) -> None:
        self._assignment = assignment
        self._channels = range(channels)
        self._accepts = accepts
        self._named: dict[int, tuple[int, int]] = {}  # the latest descriptor of each channel
        self._parts: dict[_Old, tuple[RecordPart, ...]] = {}
        self._marks: dict[_Old, int] = {}
        self._idle: dict[_Old, bool] = {}
        self._ends: list[tuple[str, int]] = []

    def _olds(self, channel: int) -> list[_Old]:
        if self._assignment.identity:
            return []
        subtasks = self._assignment.old_subtasks
        return [
            (channel, (s, up)) for s in subtasks for up in self._assignment.old_channels[channel]
        ]

    def _old(self, channel: int) -> _Old:
        return channel, None if self._assignment.identity else self._named[channel]

    def _done(self, stretch: str) -> bool:
        if stretch == "output" and self._assignment.on_one_side:
            return self._done("input")  # nothing is at the senders, so no marker comes
        return all((stretch, channel) in self._ends for channel in self._channels)

    def refusals(self, event: Any) -> list[str]:
        """Return why an event cannot come."""
        match event:
            case recovered_input.DescriptorTaken():
                old = (event.descriptor.subtask, event.descriptor.channel)
                known = (event.channel, old) in self._olds(event.channel)
                return [] if known else ["unknown_old_channel"]
            case recovered_input.InputStateEnded():
                again = ("input", event.channel) in self._ends
                return ["missing_row"] if again or event.channel not in self._channels else []
            case recovered_input.OutputStateEnded():
                marked = not self._assignment.on_one_side
                due = marked and self._done("input") and ("output", event.channel) not in self._ends
                return [] if due and event.channel in self._channels else ["missing_row"]
            case recovered_input.QueueEmpty() | recovered_input.StateRead():
                return []
        named = self._assignment.identity or event.channel in self._named
        return [] if named else ["no_descriptor"]

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        channel = event.channel
        match event:
            case recovered_input.DescriptorTaken():
                self._named[channel] = (event.descriptor.subtask, event.descriptor.channel)
            case recovered_input.PartTaken():
                return self._take_part(channel, event.part)
            case recovered_input.WatermarkTaken():
                return self._take_mark(channel, event.timestamp)
            case recovered_input.StatusTaken():
                self._idle[self._old(channel)] = event.idle
                olds = self._olds(channel) or [self._old(channel)]
                all_idle = all(self._idle.get(old, False) for old in olds)
                return [recovered_input.ForwardStatus(channel, all_idle)]
            case recovered_input.InputStateEnded():
                self._ends.append(("input", channel))
                return [recovered_input.ConvertChannels()] if self._done("input") else []
            case recovered_input.OutputStateEnded():
                self._ends.append(("output", channel))
                resumed = recovered_input.ResumeSenders(tuple(self._channels))
                return [resumed] if self._done("output") else []
        return []

    def _take_part(self, channel: int, part: RecordPart) -> list[Any]:
        old = self._old(channel)
        before = self._parts.get(old, ())
        due = (before[0].record, len(before)) if before else (part.record, 0)
        self._parts[old] = ()
        if (part.record, part.index) != due:
            last = before[-1] if before else None
            return [recovered_input.ReportBroken(channel, Broken(last, part))]
        if part.index < part.count - 1:
            self._parts[old] = (*before, part)
            return []
        shared = old[1] is not None and old[1][0] in self._assignment.ambiguous
        if shared and not self._accepts(part.record):
            return [recovered_input.FilterRecord(part.record)]
        return [recovered_input.ProcessRecord(part.record)]

    def _take_mark(self, channel: int, timestamp: int) -> list[Any]:
        self._marks[self._old(channel)] = timestamp
        olds = self._olds(channel) or [self._old(channel)]
        if any(old not in self._marks for old in olds):
            return []
        least = min(self._marks[old] for old in olds)
        return [recovered_input.ForwardWatermark(channel, least)]

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what can be asked of the core, and what it is to say."""
        over = self._done("input") and self._done("output")
        yield "may_persist", core.may_persist, self._assignment.identity or over
        olds = [old for channel in self._channels for old in self._olds(channel)]
        left = tuple(part for old in olds for part in self._parts.get(old, ()))
        yield "partial", core.partial, left
        for channel in self._channels:
            own = self._parts.get((channel, None), ())
            yield f"rest of {channel}", tuple(core.deserializer(channel).partial), own

    def stray(self, pick: Pick) -> Any:
        """Return what a channel may bring next."""
        channel = pick.of(self._channels)
        kind = pick.integer(0, 15)
        olds = self._olds(channel)
        if olds and (kind < 4 or channel not in self._named):
            subtask, upstream = pick.of(olds)[1] or (0, 0)
            if pick.one_in(10):
                upstream += 9
            descriptor = ConnectionDescriptor(subtask, upstream)
            return recovered_input.DescriptorTaken(channel, descriptor)
        if kind < 10 and (self._assignment.identity or channel in self._named):
            return recovered_input.PartTaken(channel, self._part(pick, self._old(channel)))
        return pick.of(
            (
                recovered_input.WatermarkTaken(channel, pick.integer(1, 9)),
                recovered_input.StatusTaken(channel, pick.one_in(2)),
                recovered_input.QueueEmpty(channel),
                recovered_input.StateRead(channel),
                recovered_input.InputStateEnded(channel),
                recovered_input.InputStateEnded(channel),
                recovered_input.OutputStateEnded(channel),
            )
        )

    def _part(self, pick: Pick, old: _Old) -> RecordPart:
        before = self._parts.get(old, ())
        if before and not pick.one_in(6):
            return RecordPart(before[0].record, len(before), before[0].count)
        record = pick.integer(0, 5)
        # Another part of the record that is begun is of as many as those before, as on any host.
        is_begun = before and record == before[0].record
        count = before[0].count if is_begun else 2 + record // 3
        return RecordPart(record, pick.of((0, 0, 0, 1)), count)


class RestoreRules(Naive):
    """What a task that restores is to answer: output, operators, input by gates, then it runs."""

    def __init__(self, gates: int) -> None:
        self._gates = range(gates)
        self._steps = 0  # of deployed, output read, operators opened
        self._consumed: list[int] = []

    @property
    def _runs(self) -> bool:
        return self._steps == 3 and len(self._consumed) == len(self._gates)

    def refusals(self, event: Any) -> list[str]:
        """Return why an event is out of order."""
        if isinstance(event, restore.CheckpointTriggered):
            return []
        if isinstance(event, restore.GateConsumed):
            waits = self._steps == 3 and event.gate not in self._consumed
            return [] if waits and event.gate in self._gates else ["missing_row"]
        order = (restore.TaskDeployed, restore.OutputRead, restore.OperatorsOpened)
        due = self._steps < 3 and isinstance(event, order[self._steps])
        return [] if due else ["missing_row"]

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the effects that it has."""
        if isinstance(event, restore.CheckpointTriggered):
            number = event.checkpoint
            return [restore.TakePart(number) if self._runs else restore.DeclineCheckpoint(number)]
        effects: list[Any] = []
        if isinstance(event, restore.GateConsumed):
            self._consumed.append(event.gate)
            effects.append(restore.RequestPartitions(event.gate))
        else:
            self._steps += 1
            following = (restore.ReadOutput(), restore.RestoreOperators(), restore.ReadInput())
            reads = self._steps < 3 or bool(self._gates)
            effects += [following[self._steps - 1]] if reads else []
        return [*effects, *([restore.TaskRuns()] if self._runs else [])]

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield which gates wait, and whether the task runs."""
        left = tuple(gate for gate in self._gates if gate not in self._consumed)
        yield "waiting", core.waiting, left
        yield "whether it runs", core.state is restore.RestoreState.RUNNING, self._runs

    def stray(self, pick: Pick) -> Any:
        """Return a step, more often the one that is due."""
        steps = (restore.TaskDeployed(), restore.OutputRead(), restore.OperatorsOpened())
        if self._steps < 3 and pick.one_in(2):
            return steps[self._steps]
        gate = restore.GateConsumed(pick.integer(-1, len(self._gates)))
        return pick.of((pick.of(steps), gate, gate, restore.CheckpointTriggered(7)))


def drawn_gate(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what a gate takes over after a rescale, or without one."""
    kinds = [each for each in DISTRIBUTIONS.values() if each.supports_unaligned]
    old = (pick.integer(1, 3), pick.integer(1, 3))
    new = old if pick.one_in(3) else (pick.integer(1, 3), pick.integer(1, 3))
    own, up, identity, shared, _ = assigned(pick.of(kinds), pick.integer(0, new[1] - 1), old, new)
    assignment = GateAssignment(
        old_subtasks=own,
        old_channels=up,
        identity=identity,
        ambiguous=shared,
        on_one_side=pick.one_in(4),
    )
    return (assignment, new[0]), {"accepts": _accepts_even}


def _accepts_even(record: int) -> bool:
    return record % 2 == 0
