"""The rules of what is small: ends of data, failures of stops, event time, edges, assigned gates.

Source: Apache Flink, FLINK-28386 and FLINK-26783; StatusWatermarkValve; CheckpointOptions;
TaskStateAssignment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ckptsim.models.barriers import Barrier, OptionKind
from ckptsim.models.barriers.barrier import (
    CancellationMarker,
    EndOfChannelState,
    EndOfData,
    NetworkEvent,
)
from ckptsim.models.barriers.channels import PersistInput
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import Recovery
from ckptsim.models.lifecycle import NO_WATERMARK
from ckptsim.models.recovery.in_flight import Exchange
from ckptsim.models.recovery.mapping import DISTRIBUTIONS, GateAssignment
from ckptsim.sim.rules.answers import Pick
from tests.rules.naive.functions.recovery import assigned
from tests.rules.naive.naive import Naive


class EndOfDataRules(Naive):
    """A checkpoint is wanted when the last of all tasks has reported, once per attempt."""

    def __init__(self, tasks: int, *, enabled: bool) -> None:
        self._tasks = tasks
        self._enabled = enabled
        self._reports: list[int] = []

    def take(self, event: Any) -> Sequence[Any]:
        """Note a report, or that tasks were deployed anew."""
        if event[0] == "reset":
            self._reports = []
            return [None]
        fresh = event[1] not in self._reports
        self._reports.append(event[1])
        return [self._enabled and fresh and len(set(self._reports)) == self._tasks]

    def stray(self, pick: Pick) -> Any:
        """Return a report, seldom a deployment."""
        report = ("reported", pick.integer(0, self._tasks - 1))
        return ("reset",) if pick.one_in(8) else report


class WatermarkRules(Naive):
    """Event time is what was told last: the least of who counts, or at the end of all the largest.

    A channel counts while it is active, from the moment since its last return on at which it was
    not behind what had been told.  `_calls` has what was heard, `_told` event time behind each.
    """

    def __init__(self, channels: int) -> None:
        self._channels = range(channels)
        self._calls: list[Any] = []
        self._told: list[int] = []
        self._next: list[Any] = []  # what a walk sends next

    def _idle(self, channel: int, upto: int) -> bool:
        statuses = [
            call[2]["idle"] for call in self._calls[:upto] if call[:2] == ("take_status", channel)
        ]
        return bool(statuses and statuses[-1])

    def _watermark(self, channel: int, upto: int) -> int:
        heard = [call[2] for call in self._calls[:upto] if call[:2] == ("take_watermark", channel)]
        return max(heard, default=NO_WATERMARK)

    def _before(self, moment: int) -> int:
        return max(self._told[:moment], default=NO_WATERMARK)

    def _counts(self, channel: int) -> bool:
        now = len(self._calls)
        if self._idle(channel, now):
            return False
        paused = [moment for moment in range(now) if self._idle(channel, moment)]
        since = range(paused[-1] + 1, now + 1) if paused else ()
        return not paused or any(
            self._watermark(channel, moment) >= self._before(moment - 1) for moment in since
        )

    def take(self, event: Any) -> Sequence[Any]:
        """Note a call, unless it says nothing, and work out what event time is told behind it."""
        name, channel, said = event
        before, was_idle = self._event_time, self._idle(channel, len(self._calls))
        if name == "take_watermark":
            says_nothing = was_idle or said <= self._watermark(channel, len(self._calls))
        else:
            says_nothing = was_idle == said["idle"]
        if says_nothing:
            return [None]
        self._calls.append(event)
        marks = [self._watermark(one, len(self._calls)) for one in self._channels]
        among = [marks[one] for one in self._channels if self._counts(one)]
        if name == "take_status":
            if was_idle or marks[channel] != before:
                among = []
            elif self._all_idle:
                among = [max(marks)]
        self._told.append(max(before, min(among, default=before)))
        return [None]

    @property
    def _event_time(self) -> int:
        return self._before(len(self._told))

    @property
    def _all_idle(self) -> bool:
        return all(self._idle(one, len(self._calls)) for one in self._channels)

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield event time, whether all is idle, and whether an idle channel was passed."""
        now, event_time = len(self._calls), self._event_time
        behind = [one for one in self._channels if self._watermark(one, now) < event_time]
        yield "watermark", core.core.watermark, event_time
        yield "idle", core.core.idle, self._all_idle
        passed = any(self._idle(one, now) for one in behind)
        yield "has_passed_idle", core.core.has_passed_idle, passed

    def stray(self, pick: Pick) -> Any:
        """Return a status or a watermark; all are near each other, so many are the same."""
        if not self._next and pick.one_in(12):
            self._next = self._all_go_idle(pick)
        if self._next:
            return self._next.pop(0)
        channel, latest = pick.of(self._channels), len(self._calls) // 4 + 2
        if pick.one_in(2):
            return ("take_status", channel, {"idle": pick.one_in(2)})
        return ("take_watermark", channel, pick.integer(max(0, latest - 4), latest))

    def _all_go_idle(self, pick: Pick) -> list[Any]:
        """Return that one channel after the other goes idle, the last one perhaps once before."""
        last, *rest = sorted(self._channels, key=lambda _: pick.integer(0, 9))
        before = [(last, True), (last, False)] if pick.one_in(2) else []
        found = [*before, *((one, True) for one in rest), (last, True)]
        return [("take_status", one, {"idle": idle}) for one, idle in found]


class AfterFailureRules(Naive):
    """A job whose stop is complete fails for good; any other one restarts."""

    def take(self, event: Any) -> Sequence[Any]:
        """Return what a failure leads to."""
        return [Recovery.FAIL if event[1]["stop_completed"] else Recovery.RESTART]

    def stray(self, pick: Pick) -> Any:
        """Return a failure around a stop."""
        return ("", {"stop_completed": pick.one_in(2)})


class LocalChannelRules(Naive):
    """Of a channel without a queue what is pulled is state: behind a start, before the barrier.

    `_calls` has barriers, starts and stops that counted, as (which, checkpoint).
    """

    def __init__(self, index: int, outbox: list[Any]) -> None:
        del outbox
        self._index = index
        self._calls: list[tuple[str, int]] = [("stop", -1)]

    def take(self, event: Any) -> Sequence[Any]:
        """Note a call, and return its result and effects."""
        name, given = event
        last, seen = self._calls[-1]
        if name == "start":
            if last == "barrier" and given < seen:
                return [FailureReason.CHECKPOINT_SUBSUMED]
            self._note("start", given, given > seen)
        elif name == "stop":
            self._note("stop", given, given >= seen)
        elif isinstance(given, Barrier):
            number = given.checkpoint
            self._note("barrier", number, number > seen or (number == seen and last != "stop"))
        elif last == "start" and not isinstance(given, NetworkEvent):
            return [None, PersistInput(self._index, seen, (given,))]
        return [None]

    def _note(self, which: str, checkpoint: int, counts: bool) -> None:
        self._calls += [(which, checkpoint)] if counts else []

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield the newest checkpoint that the channel knows."""
        yield "last_seen", core.core.persister.last_seen, self._calls[-1][1]

    def stray(self, pick: Pick) -> Any:
        """Return what is pulled, or what the task calls."""
        number = max(0, self._calls[-1][1] + pick.of((-1, 0, 0, 1)))
        kind = pick.integer(0, 9)
        if kind < 5:
            others = (EndOfData(), CancellationMarker(number), EndOfChannelState())
            return ("pulled", "data" if not pick.one_in(4) else pick.of(others))
        return (pick.of(("start", "stop")), number) if kind < 8 else ("pulled", _unaligned(number))


def _unaligned(checkpoint: int) -> Barrier:
    return Barrier(checkpoint, 0, OptionKind.UNALIGNED)


class EdgeRules(Naive):
    """An edge that keeps its order takes no barrier that overtakes, or may come to."""

    def take(self, event: Any) -> Sequence[Any]:
        """Return the barrier that travels."""
        barrier, supports = event[1], event[2]["supports_unaligned"]
        overtakes = barrier.kind in (OptionKind.UNALIGNED, OptionKind.TIMEOUTABLE)
        kind = OptionKind.FORCED_ALIGNED if overtakes and not supports else barrier.kind
        return [Barrier(barrier.checkpoint, barrier.timestamp_ns, kind, barrier.timeout_ns)]

    def stray(self, pick: Pick) -> Any:
        """Return a barrier and an edge."""
        kind = pick.of(tuple(OptionKind))
        timeout_ns = 5 if kind is OptionKind.TIMEOUTABLE else None
        return ("", Barrier(1, 2, kind, timeout_ns), {"supports_unaligned": pick.one_in(2)})


class AssignmentRules(Naive):
    """Each gate of a subtask takes over what the mappers of its own edge say, if anything."""

    def take(self, event: Any) -> Sequence[Any]:
        """Return what every gate takes over."""
        _, exchanges, options = event
        return [[self._gate(exchange, options["subtask"]) for exchange in exchanges]]

    def _gate(self, exchange: Exchange, subtask: int) -> GateAssignment:
        if not exchange.in_flight:
            nothing = tuple(() for _ in range(exchange.new[0]))
            return GateAssignment(
                old_subtasks=(), old_channels=nothing, identity=True, ambiguous=()
            )
        own, up, identity, shared, _ = assigned(
            exchange.distribution, subtask, exchange.old, exchange.new
        )
        return GateAssignment(
            old_subtasks=own, old_channels=up, identity=identity, ambiguous=shared
        )

    def stray(self, pick: Pick) -> Any:
        """Return the exchanges of a vertex, and a subtask of it."""
        down = (pick.integer(1, 4), pick.integer(1, 4))
        exchanges = [self._exchange(pick, down) for _ in range(pick.integer(1, 2))]
        options = {"subtask": pick.integer(0, down[1] - 1), "stateful": pick.one_in(2)}
        return ("gates", exchanges, options)

    def _exchange(self, pick: Pick, down: tuple[int, int]) -> Exchange:
        distribution = pick.of(list(DISTRIBUTIONS.values()))
        return Exchange(
            distribution=distribution,
            old=(pick.integer(1, 4), down[0]),
            new=(pick.integer(1, 4), down[1]),
            in_flight=distribution.supports_unaligned and not pick.one_in(4),
        )
