"""What a checkpoint holds of one task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeGuard

from ckptsim.models.lifecycle import SinkState
from ckptsim.models.recovery import RecordPart
from ckptsim.models.recovery.persistence import LogPosition, LogSlice
from ckptsim.sim.job.control.checkpoint import PartFigures

Record = int  # identity of a record. WATERMARK is the final watermark, which travels as data


@dataclass(frozen=True, slots=True)
class Mark:
    """What a sender says of event time: a watermark in ns, a status. None for no change."""

    watermark: int | None
    idle: bool | None

    def tell(self, receiver: MarkReceiver, channel: int) -> None:
        """Tell a receiver: who becomes active says so first, who becomes idle says so last."""
        if self.idle is False:
            receiver.take_status(channel, idle=False)
        if self.watermark is not None:
            receiver.take_watermark(channel, self.watermark)
        if self.idle:
            receiver.take_status(channel, idle=True)


class MarkReceiver(Protocol):
    """Takes what the sender of a channel says of event time."""

    def take_watermark(self, channel: int, timestamp: int, /) -> None:
        """Take a watermark, in ns."""

    def take_status(self, channel: int, /, *, idle: bool) -> None:
        """Take a status."""


Item = (
    Record | RecordPart | Mark
)  # what a buffer holds: a record, or a part of one that takes several
Element = tuple[int, Item]  # (number in its channel, what it holds)
WATERMARK: Record = -1
SOURCE_SPAN = 1_000_000  # identities per source subtask. Also the most records that it may emit


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSnapshot:
    """The state of one task in one checkpoint.

    splits: how many records a source has emitted of each of its splits, by number. exhausted: there
    are no more.  state: records in the task's state, in the order of processing.
    transactions: a sink's element of list state.
    input_state, output_state: records in flight, by channel.  consumed, emitted: the world's own
    account of the last number taken from and put into each channel before the snapshot.
    read: how many buffers of each input the state has.  logs: of outputs, where all is logged.
    identity: as which the task owned key groups.  position_in_log: of in-flight data, where it is
    kept by a log service.  files: that hold the state, where checkpoints share them.
    """

    splits: Mapping[int, int]
    exhausted: bool = False
    state: tuple[Record, ...]
    transactions: SinkState | None
    input_state: Mapping[int, tuple[Element, ...]]
    output_state: Mapping[int, tuple[Element, ...]]
    consumed: Mapping[int, int]
    emitted: Mapping[int, int]
    read: Mapping[int, int] = field(default_factory=dict)
    logs: Mapping[int, LogSlice[Item]] = field(default_factory=dict)
    identity: int = 0
    position_in_log: LogPosition | None = None
    files: tuple[str, ...] = ()

    @property
    def records(self) -> Sequence[Record]:
        """Return the records in the task's state."""
        return self.state

    @property
    def input_records(self) -> dict[int, list[Record]]:
        """Return the records in flight at the task's inputs, by channel."""
        return _records(self.input_state)

    @property
    def output_records(self) -> dict[int, list[Record]]:
        """Return the records in flight at the task's outputs, by channel."""
        return _records(self.output_state)

    @property
    def pending(self) -> tuple[str, ...]:
        """Return the names of the transactions that recovery commits, oldest first."""
        return () if self.transactions is None else self.transactions.pending

    def without_in_flight(self) -> TaskSnapshot:
        """Return it without in-flight data."""
        return replace(self, input_state={}, output_state={}, logs={})

    @property
    def in_flight(self) -> int:
        """Return how many records in flight it holds."""
        states = (self.input_state, self.output_state)
        return sum(len(elements) for state in states for elements in state.values())


@dataclass(slots=True)
class SpillCounts:
    """How many buffers of a job were sent, and how many in-flight ones were written.

    handles: of in-flight data, in all parts of checkpoints.  restores: how often the job came back
    from a checkpoint. files_opened, pieces_read: of files of channel state, by all tasks then.
    """

    sent: int = 0
    written: int = 0
    restores: int = 0
    files_opened: int = 0
    pieces_read: int = 0
    handles: int = 0


def _records(state: Mapping[int, tuple[Element, ...]]) -> dict[int, list[Record]]:
    """Return the records of channels by their identities. The final watermark is none."""
    return {channel: whole_records(elements) for channel, elements in state.items()}


def whole_records(elements: Sequence[Element]) -> list[Record]:
    """Return the records with their last buffer among elements. Watermarks are none."""
    found = []
    for _, item in elements:
        if isinstance(item, RecordPart):
            found += [item.record] if item.is_last else []
        elif is_record(item):
            found.append(item)
    return found


def is_record(item: Item) -> TypeGuard[Record]:
    """Return whether a buffer that holds no part of a record holds one: not so any watermark."""
    return item != WATERMARK and not isinstance(item, Mark)


REMEMBERED = 16  # ended checkpoints with late pieces to come. As at the coordinator


@dataclass(slots=True, kw_only=True)
class Parts(PartFigures):
    """What a task has gathered for one checkpoint so far. unaligned: as it will be reported."""

    input_state: dict[int, list[Element]] = field(default_factory=dict)
    output_state: dict[int, list[Element]] = field(default_factory=dict)
    snapshot: TaskSnapshot | None = None

    @property
    def persisted_bytes(self) -> int:
        """Return how many records in flight it holds. Every record counts as one byte."""
        return 0 if self.snapshot is None else self.snapshot.in_flight

    @property
    def state_bytes(self) -> int:
        """Return how many records its state has."""
        return 0 if self.snapshot is None else len(self.snapshot.state)
