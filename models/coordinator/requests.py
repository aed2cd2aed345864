"""Which checkpoint request runs next, which waits and which is dropped. And what then runs.

Requests wait in one ordered queue: savepoints first, then forced ones, then those made by hand,
then the older.  Nothing runs while a trigger is under way, or while more old checkpoints are being
cleaned up than may run at once.  When as many checkpoints run as may, only a forced head runs.  A
periodic head that comes too soon after the last completion is dropped, and the periodic timer is
postponed by exactly the missing time. Requests made by hand know no pause.

Source: Apache Flink 1.20.3, CheckpointRequestDecider.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import TypeAlias

from ckptsim.models.barriers.reason import FailureReason

MAX_QUEUED_REQUESTS = 1000
"""Source: Apache Flink 1.20.3, CheckpointRequestDecider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A wish for a checkpoint.

    number: counts the requests in the order of submission.
    forced: it may run beyond the allowed number of concurrent checkpoints.
    synchronous: the tasks wait until it is complete (stop with savepoint).
    """

    number: int
    submitted_ns: int
    periodic: bool = False
    savepoint: bool = False
    forced: bool = False
    synchronous: bool = False

    @property
    def rank(self) -> tuple[bool, bool, bool, int, int]:
        """The place in the queue, smallest first."""
        return (not self.savepoint, not self.forced, self.periodic, self.submitted_ns, self.number)


@dataclass(frozen=True, slots=True)
class Execute:
    """Run this request now. It has left the queue."""

    request: Request


@dataclass(frozen=True, slots=True)
class Drop:
    """Refuse this request. It has left the queue."""

    request: Request
    reason: FailureReason


@dataclass(frozen=True, slots=True)
class Reschedule:
    """Put the periodic timer off: the next tick comes after this delay."""

    delay_ns: int


Decision: TypeAlias = Execute | Drop | Reschedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the coordinator is doing while it decides.

    pending: checkpoints that run.  cleaning: old checkpoints that are being removed.
    last_completion_ns: None before the first completion.
    """

    now_ns: int
    triggering: bool
    pending: int
    cleaning: int = 0
    last_completion_ns: int | None = None


class RequestDecider:
    """Orders requests and says what becomes of each.

    max_concurrent: checkpoints that may run at once.  min_pause_ns: from a completion to the next
    periodic trigger.  max_queued: requests that may wait.
    """

    __slots__ = ("_max_concurrent", "_max_queued", "_min_pause_ns", "_queue")

    def __init__(
        self, *, max_concurrent: int, min_pause_ns: int, max_queued: int = MAX_QUEUED_REQUESTS
    ) -> None:
        self._max_concurrent = max_concurrent
        self._min_pause_ns = min_pause_ns
        self._max_queued = max_queued
        self._queue: list[Request] = []

    @property
    def queued(self) -> tuple[Request, ...]:
        """The waiting requests, next one first."""
        return tuple(self._queue)

    @property
    def waiting_periodic(self) -> bool:
        """Whether a periodic request waits."""
        return bool(self._queue) and self._queue[-1].periodic

    def submit(self, request: Request, situation: Situation) -> list[Decision]:
        """Queue a request and decide.

        When the queue is full of requests made by hand, the new one is dropped and nothing is
        chosen. Otherwise it displaces the last one.
        """
        decisions: list[Decision] = []
        reason = FailureReason.TOO_MANY_CHECKPOINT_REQUESTS
        if len(self._queue) >= self._max_queued and not self._queue[-1].periodic:
            return [Drop(request, reason)]
        insort(self._queue, request, key=lambda queued: queued.rank)
        if len(self._queue) > self._max_queued:
            decisions.append(Drop(self._queue.pop(), reason))
        return decisions + self.choose(situation)

    def choose(self, situation: Situation) -> list[Decision]:
        """Look at the queue again: something has ended."""
        busy = situation.triggering or situation.cleaning > self._max_concurrent
        if busy or not self._queue:
            return []
        head = self._queue[0]
        if situation.pending >= self._max_concurrent:
            return [Execute(self._queue.pop(0))] if head.forced else []
        missing_ns = self._missing_pause_ns(situation)
        if head.periodic and not head.forced and missing_ns > 0:
            dropped = self._queue.pop(0)
            reason = FailureReason.MINIMUM_TIME_BETWEEN_CHECKPOINTS
            return [Drop(dropped, reason), Reschedule(missing_ns)]
        return [Execute(self._queue.pop(0))]

    def drop_all(self, reason: FailureReason) -> list[Decision]:
        """Refuse everything that waits, next one first."""
        queue, self._queue = self._queue, []
        return [Drop(request, reason) for request in queue]

    def _missing_pause_ns(self, situation: Situation) -> int:
        if situation.last_completion_ns is None:
            return 0
        return situation.last_completion_ns + self._min_pause_ns - situation.now_ns


class PendingCheckpoint:
    """A running checkpoint, and whom it waits for.

    awaited: tasks that have not acknowledged yet.  storing: all have, and the store works.
    """

    __slots__ = ("acknowledged_ns", "awaited", "known", "request", "storing", "triggered_ns")

    def __init__(self, request: Request, triggered_ns: int, tasks: tuple[int, ...]) -> None:
        self.request = request
        self.triggered_ns = triggered_ns
        self.known = frozenset(tasks)
        self.awaited = set(tasks)
        self.storing = False
        self.acknowledged_ns = triggered_ns


class EndOfDataListener:
    """Decides whether a checkpoint is wanted because every task has reached the end of its data.

    Without it a bounded job waits for the next periodic checkpoint.  One is asked for per attempt,
    when the last task reports. A report is of drained data only.

    tasks: how many there are.  enabled: a checkpoint may be asked for at all: checkpoints are
    taken, and the immediate final one is wanted.

    Source: Apache Flink 1.18, VertexEndOfDataListener and CheckpointCoordinator (FLINK-28386). Not
    when checkpoints are off (FLINK-32663). Counted anew after a restart (FLINK-32945).
    """

    def __init__(self, tasks: int, *, enabled: bool) -> None:
        self.enabled = enabled
        self._tasks = tasks
        self._reported: set[int] = set()

    def reported(self, task: int) -> bool:
        """Note a task's report. Return whether a checkpoint is to be asked for now."""
        if task in self._reported:
            return False
        self._reported.add(task)
        return self.enabled and len(self._reported) == self._tasks

    def reset(self) -> None:
        """Forget all reports: the tasks have been deployed anew."""
        self._reported.clear()
