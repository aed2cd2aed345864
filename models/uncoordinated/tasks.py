"""When a task takes a checkpoint of its own, without barriers.

Two protocols after one door:

* `IndependentTask`: whenever its interval is over, and when its data have ended.  It needs to know
  nothing of others, and others learn nothing of it.
* `InducedTask` (index-based, communication-induced): each checkpoint has an index, which travels
  with every message.  Before a task takes a message with a higher index, it takes a forced
  checkpoint with that index. So a message sent after checkpoint n is processed after the receiver's
  checkpoint n. The checkpoints of one index are a consistent cut, with the next one where a task
  has skipped it.  A task that was forced within an interval skips its own at the end of it (the
  lazy variant).

Promised by `InducedTask`: every stored checkpoint lies on some consistent cut, so a failure costs
no more than the work since the last index that all tasks have reached.  Promised by
`IndependentTask`: nothing. Which of its checkpoints are of use is seen when a failure comes.

Source: D. Briatico, A. Ciuffoletti, L. Simoncini, A distributed domino-effect free recovery
algorithm (1984). E. N. Elnozahy, L. Alvisi, Y.-M. Wang, D. B. Johnson, A survey of rollback-
recovery protocols in message-passing systems (2002), sections 3.1 and 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias, assert_never

from ckptsim.models.core import ProtocolError


@dataclass(frozen=True, slots=True)
class IntervalOver:
    """The task's own interval is over. The host sets the next one."""


@dataclass(frozen=True, slots=True)
class MessageNext:
    """The task is about to take a message. index: what its sender had when it sent it."""

    index: int


@dataclass(frozen=True, slots=True)
class DataEnded:
    """The task has sent its last message: what comes after this is only end marks."""


TaskEvent: TypeAlias = IntervalOver | MessageNext | DataEnded


@dataclass(frozen=True, slots=True)
class TakeCheckpoint:
    """Take the task's state now, before anything else is taken or sent.

    number: counts the task's checkpoints from 1.  index: what messages carry from here on.
    forced: because of a message, not because of the task's own interval or end.
    """

    number: int
    index: int
    forced: bool = False


class TaskProtocol(Protocol):
    """The door of both protocols, and what the host attaches to messages."""

    @property
    def carries_index(self) -> bool:
        """Whether messages carry the index, which costs its bytes, used when a message is sent."""

    @property
    def index(self) -> int:
        """The index of the newest checkpoint, used when a message is sent."""

    def step(self, event: TaskEvent) -> list[TakeCheckpoint]:
        """Take one event. The checkpoint, if any, is taken before the event's own business."""


class IndependentTask:
    """Uncoordinated checkpoints of one task."""

    carries_index = False

    def __init__(self) -> None:
        self.index = 0
        self._number = 0
        self._ended = False

    def step(self, event: TaskEvent) -> list[TakeCheckpoint]:
        """Take one event.

        Raises ProtocolError for a second end of data.
        """
        match event:
            case IntervalOver():
                return [] if self._ended else self._take()
            case MessageNext():
                return []
            case DataEnded():
                if self._ended:
                    raise ProtocolError("ended_twice", state="the data have ended", event=event)
                self._ended = True
                return self._take()
            case _ as never:
                assert_never(never)

    def _take(self) -> list[TakeCheckpoint]:
        self._number += 1
        return [TakeCheckpoint(self._number, self.index)]


class InducedTask:
    """Communication-induced checkpoints of one task, by indices."""

    carries_index = True

    def __init__(self) -> None:
        self.index = 0
        self._number = 0
        self._forced = False  # since the last interval
        self._ended = False

    def step(self, event: TaskEvent) -> list[TakeCheckpoint]:
        """Take one event.

        Raises ProtocolError for an index below 0, and for a second end of data.
        """
        match event:
            case IntervalOver():
                forced, self._forced = self._forced, False
                return [] if forced or self._ended else self._take(self.index + 1)
            case MessageNext(index):
                if index < 0:
                    raise ProtocolError("bad_index", state=f"own index {self.index}", event=event)
                if index <= self.index:
                    return []
                self._forced = True
                return self._take(index, forced=True)
            case DataEnded():
                if self._ended:
                    raise ProtocolError("ended_twice", state="the data have ended", event=event)
                self._ended = True
                return self._take(self.index + 1)
            case _ as never:
                assert_never(never)

    def _take(self, index: int, *, forced: bool = False) -> list[TakeCheckpoint]:
        self._number += 1
        self.index = index
        return [TakeCheckpoint(self._number, index, forced)]
