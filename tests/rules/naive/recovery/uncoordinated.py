"""The rules of checkpoints without barriers: the line from all checkpoints ever stored.

Source: Elnozahy, Alvisi, Wang, Johnson (2002), section 3.1; Briatico, Ciuffoletti, Simoncini
(1984).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ckptsim.models import uncoordinated
from ckptsim.sim.rules.answers import Answer, Pick
from tests.rules.naive.naive import Naive

# Without logs a line may never move: then each event looks through all that was ever stored.
_STORED_MAX = 60


class LineRules(Naive):
    """The newest consistent set of checkpoints, found anew among all that nobody has given up.

    Nothing is forgotten but what a failure gave up: the line never goes back while checkpoints are
    added, so it is the same among all as among those that are still stored.
    """

    def __init__(
        self,
        channels: Sequence[uncoordinated.LineChannel],
        begin: Sequence[uncoordinated.Checkpoint],
        *,
        logged: bool = True,
    ) -> None:
        self._channels = list(channels)
        self._logged = logged
        self._tasks = range(len(begin))
        self._begin = list(begin)
        self._stored = list(enumerate(begin))  # (task, checkpoint), in the order of storing
        self._cut: dict[int, int] = {}  # channel -> up to where its log was deleted
        self._last = self._line()

    def _of(self, task: int) -> list[uncoordinated.Checkpoint]:
        """Return a task's checkpoints, oldest first."""
        own = [one for owner, one in self._stored if owner == task]
        return sorted(own, key=lambda one: one.number)

    def _line(self) -> list[uncoordinated.Checkpoint]:
        """Drop the newest checkpoint of whoever has to go back, until nobody has to."""
        left = [self._of(task) for task in self._tasks]
        while True:
            for number, ends in enumerate(self._channels):
                sent = left[ends.sender][-1].sent.get(number, 0)
                taken = left[ends.receiver][-1].received.get(number, 0)
                if taken > sent:  # it has processed what was never sent
                    left[ends.receiver].pop()
                    break
                if taken < sent and not self._logged and len(left[ends.sender]) > 1:
                    left[ends.sender].pop()  # what was sent is on its way, and in no log
                    break
            else:
                return [own[-1] for own in left]

    def answer(self, event: Any) -> Answer | None:
        """Return what the line answers, until there is more to look through than is worth it."""
        return None if len(self._stored) > _STORED_MAX else super().answer(event)

    def refusals(self, event: Any) -> list[str]:
        """Return why a checkpoint cannot be one of its task's."""
        if isinstance(event, uncoordinated.JobFailed):
            return []
        if event.task not in self._tasks:
            return ["unknown_task"]
        found, least = event.checkpoint, self._last[event.task].number
        if found.number < least:
            return []
        own = [one for one in self._of(event.task) if one.number >= least]
        before = [one for one in own if one.number <= found.number]
        behind = [one for one in own if one.number > found.number]
        fits = before[-1].number < found.number and _grows(before[-1], found)
        fits = fits and all(_grows(found, one) for one in behind)
        return [] if fits else ["goes_back"]

    def take(self, event: Any) -> Sequence[Any]:
        """Note a checkpoint or a failure; return what is discarded, deleted and gone back to."""
        before = self._last
        if isinstance(event, uncoordinated.JobFailed):
            newer = [
                (task, one.number)
                for task in self._tasks
                for one in self._of(task)
                if one.number > before[task].number
            ]
            self._stored = [
                (task, one) for task, one in self._stored if (task, one.number) not in newer
            ]
            gone = [uncoordinated.DiscardCheckpoint(*each) for each in newer]
            return [*gone, uncoordinated.RollBack(tuple(one.number for one in before))]
        if event.checkpoint.number < before[event.task].number:
            return [uncoordinated.DiscardCheckpoint(event.task, event.checkpoint.number)]
        self._stored.append((event.task, event.checkpoint))
        line = self._last = self._line()
        effects: list[Any] = [
            uncoordinated.DiscardCheckpoint(task, one.number)
            for task in self._tasks
            for one in self._of(task)
            if before[task].number <= one.number < line[task].number
        ]
        for number, ends in enumerate(self._channels if self._logged else ()):
            processed = line[ends.receiver].received.get(number, 0)
            if processed > self._cut.get(number, 0):
                self._cut[number] = processed
                effects.append(uncoordinated.TruncateLog(number, processed))
        return effects

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield the line."""
        yield "line", core.line, tuple(one.number for one in self._last)

    def stray(self, pick: Pick) -> Any:
        """Return a task's next checkpoint, or one that was slow, wrong or repeated; a failure."""
        if pick.one_in(10):
            return uncoordinated.JobFailed()
        if pick.one_in(25):
            return uncoordinated.CheckpointStored(pick.of((-1, len(self._tasks))), self._begin[0])
        task = pick.of(self._tasks)
        own = self._of(task)
        careless = pick.one_in(6)
        after = pick.of(own) if careless else own[-1]
        ends = enumerate(self._channels)
        number = after.number + pick.of((0, 1, -1) if careless else (1, 1, 1, 2, 3))
        sent, received = dict(after.sent), dict(after.received)
        for channel, one in ends:
            more = pick.of((0, 1, 2)) if not careless else pick.of((0, 1, -1))
            if one.sender == task:
                sent[channel] = sent.get(channel, 0) + more
            if one.receiver == task:
                received[channel] = received.get(channel, 0) + pick.of((0, 1, more))
        return uncoordinated.CheckpointStored(
            task, uncoordinated.Checkpoint(number=number, sent=sent, received=received)
        )


def _grows(before: uncoordinated.Checkpoint, after: uncoordinated.Checkpoint) -> bool:
    """Say whether no count is smaller in the later one."""
    pairs = ((before.sent, after.sent), (before.received, after.received))
    return all(later.get(name, 0) >= count for old, later in pairs for name, count in old.items())


def drawn_line(pick: Pick) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Draw the tasks and channels of a line, with loops, and how the tasks begin."""
    tasks = pick.integer(1, 4)
    channels = [
        uncoordinated.LineChannel(pick.integer(0, tasks - 1), pick.integer(0, tasks - 1))
        for _ in range(pick.integer(0, 5))
    ]
    held = [pick.of((0, 0, 0, 2)) for _ in channels]  # what was in flight when the job began
    begin = [
        uncoordinated.Checkpoint(
            number=0,
            sent={n: held[n] for n, one in enumerate(channels) if one.sender == task},
            received={n: 0 for n, one in enumerate(channels) if one.receiver == task},
        )
        for task in range(tasks)
    ]
    return (channels, begin), {"logged": not pick.one_in(3)}


class TaskRules(Naive):
    """When a task takes a checkpoint by itself: by its clock alone, or by messages as well."""

    def __init__(self, *, induced: bool = True) -> None:
        self._induced = induced
        self._past: list[tuple[Any, uncoordinated.TakeCheckpoint | None]] = []

    def _taken(self) -> list[uncoordinated.TakeCheckpoint]:
        return [one for _, one in self._past if one is not None]

    def _index(self) -> int:
        """Return what messages carry now."""
        return max((one.index for one in self._taken()), default=0)

    def _has_ended(self) -> bool:
        return any(isinstance(event, uncoordinated.DataEnded) for event, _ in self._past)

    def _was_forced(self) -> bool:
        """Say whether a message has forced a checkpoint since an interval was over."""
        for event, one in reversed(self._past):
            if isinstance(event, uncoordinated.IntervalOver):
                return False
            if one is not None and one.forced:
                return True
        return False

    def refusals(self, event: Any) -> list[str]:
        """Return why an event cannot come."""
        if isinstance(event, uncoordinated.DataEnded) and self._has_ended():
            return ["ended_twice"]
        wrong = self._induced and isinstance(event, uncoordinated.MessageNext) and event.index < 0
        return ["bad_index"] if wrong else []

    def take(self, event: Any) -> Sequence[Any]:
        """Note an event, and return the checkpoint that it leads to."""
        found: uncoordinated.TakeCheckpoint | None = None
        number, index = len(self._taken()) + 1, self._index()
        if isinstance(event, uncoordinated.MessageNext):
            if self._induced and event.index > index:
                found = uncoordinated.TakeCheckpoint(number, event.index, forced=True)
        elif isinstance(event, uncoordinated.DataEnded) or not (
            self._has_ended() or self._was_forced()
        ):
            found = uncoordinated.TakeCheckpoint(number, index + 1 if self._induced else 0)
        if found is not None or not isinstance(event, uncoordinated.MessageNext):
            self._past.append((event, found))  # of messages those that led to something
        return [] if found is None else [found]

    def says(self, core: Any) -> Iterator[tuple[str, object, object]]:
        """Yield what messages carry, and whether they carry anything."""
        yield "index", core.index, self._index()
        yield "carries_index", core.carries_index, self._induced

    def stray(self, pick: Pick) -> Any:
        """Return an interval, a message of any index around the task's own, seldom the end."""
        if pick.one_in(20):
            return uncoordinated.DataEnded()
        if pick.one_in(3):
            return uncoordinated.IntervalOver()
        return uncoordinated.MessageNext(self._index() + pick.of((-1, 0, 0, 1, 1, 2)))
