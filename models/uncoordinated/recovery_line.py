"""The recovery line: the checkpoints of single tasks that a job can restart from.

A set of checkpoints, one of each task, is consistent when no channel has an orphan: a message that
its receiver has processed before its checkpoint and that its sender sent after its own.  A sender
that goes back sends it again, and its effect would be there twice.  A message on its way across the
line (sent before the sender's checkpoint, taken after the receiver's) is lost, unless a log has it:
then it is put into the channel again.

The line is the newest consistent set.  It is found from the newest checkpoints of all tasks by
going back: over a channel with an orphan the receiver goes back to the newest checkpoint that has
not processed it. Without logs, over a channel with a message on its way, the sender to the newest
that has not sent it.  Each step is necessary, whatever order they are taken in, so there is one
greatest answer.  Without logs one step causes the next, up and down the graph, in the worst case
back to the beginning: the domino effect.  With logs orphans alone count, and these go downstream:
in a graph without cycles each task goes back at most as often as it has checkpoints that its
senders' cannot explain. In a cycle the domino effect is possible with logs as well.

The line never goes back while checkpoints are added, so what lies after it is of no use: the core
discards it and truncates the logs up to what the receivers' checkpoints have processed.

Promised: what `RollBack` names is consistent, and newer than any other consistent set that the
stored checkpoints allow.  Not promised: that it is new.

Source: Elnozahy, Alvisi, Wang, Johnson (2002), section 3.1. Y.-M. Wang (1993).
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from ckptsim.models.core import ProtocolError


@dataclass(frozen=True, slots=True)
class LineChannel:
    """A channel between two tasks, by their numbers."""

    sender: int
    receiver: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What the line needs to know of one task's checkpoint.

    number: counts the task's from 1. 0 is how it began.  sent, received: messages so far, by
    channel.
    """

    number: int
    sent: Mapping[int, int]
    received: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class CheckpointStored:
    """A task's checkpoint is durable."""

    task: int
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True)
class JobFailed:
    """Tasks have failed: the job goes back."""


LineEvent: TypeAlias = CheckpointStored | JobFailed


@dataclass(frozen=True, slots=True)
class DiscardCheckpoint:
    """Delete a task's checkpoint: the line lies before it, or the job went back past it."""

    task: int
    number: int


@dataclass(frozen=True, slots=True)
class TruncateLog:
    """Delete a channel's logged messages up to this one, included."""

    channel: int
    number: int


@dataclass(frozen=True, slots=True)
class RollBack:
    """Restart each task from its checkpoint of this number, by task. 0 is how it began."""

    numbers: tuple[int, ...]


LineEffect: TypeAlias = DiscardCheckpoint | TruncateLog | RollBack


class RecoveryLine:
    """Follows the checkpoints of one attempt of a job.

    begin: how each task began, with number 0.  logged: senders' logs hold every message that the
    line may need.  line: the newest consistent set now, by task.
    """

    def __init__(
        self, channels: Sequence[LineChannel], begin: Sequence[Checkpoint], *, logged: bool = True
    ) -> None:
        self._channels = tuple(channels)
        self._logged = logged
        self._stored: list[list[Checkpoint]] = [[one] for one in begin]
        self._truncated: dict[int, int] = {}
        if any(one.number for one in begin):
            raise ProtocolError("bad_begin", state="a job begins with checkpoints of number 0")
        self._line = [0] * len(begin)  # places within the stored checkpoints

    @property
    def line(self) -> tuple[int, ...]:
        """Return the number of each task's checkpoint on the line."""
        return tuple(self._stored[task][at].number for task, at in enumerate(self._line))

    def step(self, event: LineEvent) -> list[LineEffect]:
        """Take one event.

        Raises ProtocolError for a task that is none, for a number that the task has used, and for
        counts that do not grow with the numbers.
        """
        match event:
            case CheckpointStored(task, checkpoint):
                return self._add(task, checkpoint)
            case JobFailed():
                return self._roll_back()
            case _ as never:
                assert_never(never)

    def _add(self, task: int, checkpoint: Checkpoint) -> list[LineEffect]:
        """Take a checkpoint in. An older one may be stored after a newer one, as files are slow."""
        if not 0 <= task < len(self._stored):
            raise ProtocolError("unknown_task", state=f"{len(self._stored)} tasks", event=task)
        stored = self._stored[task]
        if checkpoint.number < stored[0].number:
            return [DiscardCheckpoint(task, checkpoint.number)]  # the line has passed it
        place = bisect(stored, checkpoint.number, key=_number)
        around = [stored[place - 1], checkpoint, *stored[place : place + 1]]
        if around[0].number == checkpoint.number or any(map(_goes_back, around, around[1:])):
            raise ProtocolError("goes_back", state=f"it follows {around[0]}", event=checkpoint)
        stored.insert(place, checkpoint)
        self._line = self._newest_consistent()
        return [*self._discard_behind(), *self._truncate()]

    def _newest_consistent(self) -> list[int]:
        """Go back from the newest checkpoints until no channel objects. Return places."""
        places = [len(stored) - 1 for stored in self._stored]
        moved = True
        while moved:
            moved = False
            for channel, ends in enumerate(self._channels):
                sender, receiver = ends.sender, ends.receiver
                sent = self._stored[sender][places[sender]].sent.get(channel, 0)
                while self._received(channel, receiver, places[receiver]) > sent:
                    places[receiver] -= 1  # orphans: the first checkpoint has none
                    moved = True
                received = self._received(channel, receiver, places[receiver])
                while not self._logged and places[sender] and received < sent:
                    places[sender] -= 1  # on their way, and in no log
                    sent = self._stored[sender][places[sender]].sent.get(channel, 0)
                    moved = True
        return places

    def _received(self, channel: int, task: int, place: int) -> int:
        return self._stored[task][place].received.get(channel, 0)

    def _discard_behind(self) -> list[LineEffect]:
        """Forget what lies after the line. The line becomes the first place of each task."""
        effects: list[LineEffect] = []
        for task, place in enumerate(self._line):
            effects += [DiscardCheckpoint(task, one.number) for one in self._stored[task][:place]]
            del self._stored[task][:place]
        self._line = [0] * len(self._line)
        return effects

    def _truncate(self) -> list[LineEffect]:
        """Delete logged messages that the receiver's checkpoint on the line has processed."""
        effects: list[LineEffect] = []
        for channel, ends in enumerate(self._channels):
            number = self._received(channel, ends.receiver, 0)
            if self._logged and number > self._truncated.get(channel, 0):
                self._truncated[channel] = number
                effects.append(TruncateLog(channel, number))
        return effects

    def _roll_back(self) -> list[LineEffect]:
        """Discard the newer checkpoints: its tasks go back past it."""
        effects: list[LineEffect] = []
        for task, stored in enumerate(self._stored):
            effects += [DiscardCheckpoint(task, one.number) for one in stored[1:]]
            del stored[1:]
        return [*effects, RollBack(self.line)]


def _number(checkpoint: Checkpoint) -> int:
    return checkpoint.number


def _goes_back(before: Checkpoint, after: Checkpoint) -> bool:
    """Return whether some count of a task's checkpoint is above the one of a later one."""
    counts = ((before.sent, after.sent), (before.received, after.received))
    return any(later.get(c, 0) < n for known, later in counts for c, n in known.items())
