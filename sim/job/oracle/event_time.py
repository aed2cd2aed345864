"""What a task is to make of event time: of what its inputs tell, or of the splits that it reads.

Source: Apache Flink 1.20.3, StatusWatermarkValve. A sender that becomes active says so before its
next watermark, one that becomes idle after its last (WatermarksWithIdleness).  Of splits:
WatermarkOutputMultiplexer takes the least of all splits, also of one without a watermark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.lifecycle import FINAL_WATERMARK, NO_WATERMARK
from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.job.events import Listener
from ckptsim.sim.job.oracle.lifecycle import RESTORED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.events import of_tasks, of_time
    from ckptsim.sim.job.oracle.tasks import TaskOracle


_NAME = "no_record_is_late"
_ENDED = "event_time_ends_with_its_records"


class InputMarks:
    """The world's own account of one task's event time."""

    def __init__(self, channels: int) -> None:
        self.event_time = NO_WATERMARK
        self._heard = [NO_WATERMARK] * channels
        self._idle = [False] * channels
        # A channel that comes back counts once it is not after what the task has told.
        self._counts = [True] * channels

    @property
    def idle(self) -> bool:
        """Return whether no input is active."""
        return all(self._idle)

    @property
    def is_over(self) -> bool:
        """Return whether event time is at its end, which is reported by an end mark."""
        return self.event_time == FINAL_WATERMARK

    def take(self, channel: int, watermark: int | None, *, idle: bool | None) -> None:
        """Take what a sender shows at once."""
        if idle is False and self._idle[channel]:
            self._idle[channel] = False
            self._counts[channel] = self._heard[channel] >= self.event_time
        news = watermark is not None and not self._idle[channel]
        if news and watermark is not None and watermark > self._heard[channel]:
            self._heard[channel] = watermark
            self._counts[channel] = self._counts[channel] or watermark >= self.event_time
            self._advance()
        if idle and not self._idle[channel]:
            self._idle[channel], self._counts[channel] = True, False
            if self._heard[channel] == self.event_time:
                self._advance()  # it may have held event time back

    def _advance(self) -> None:
        among = [heard for heard, counts in zip(self._heard, self._counts, strict=True) if counts]
        latest = max(self._heard) if self.idle else min(among, default=self.event_time)
        self.event_time = max(self.event_time, latest)


class SplitMarks:
    """The world's own account of what one source has to tell of its splits.

    idle_timeout_ns: after which time without a record a split is idle, None where none ever is.
    """

    def __init__(self, idle_timeout_ns: int | None, began_ns: int) -> None:
        self.event_time = NO_WATERMARK
        self.idle = False
        self._idle_timeout_ns = idle_timeout_ns
        self._began_ns = began_ns
        self._latest: dict[int, tuple[int, int]] = {}  # by split: timestamp, and when it was read

    def read(self, split: int, timestamp: int, now_ns: int) -> None:
        """Take a record that is read."""
        self._latest[split] = timestamp, now_ns

    def tell(self, unread: Sequence[int], now_ns: int) -> list[int]:
        """Let it tell now. Return the splits that are idle.

        unread: the splits that have records left.  Where there are none more may come, and the
        source is idle when it has waited for them as long.
        """
        begun = NO_WATERMARK, self._began_ns
        latest = {split: self._latest.get(split, begun) for split in unread}
        idle = [split for split, (_, read_ns) in latest.items() if self._is_idle(read_ns, now_ns)]
        active = [timestamp for split, (timestamp, _) in latest.items() if split not in idle]
        self.idle = not active and (bool(unread) or self._is_idle(self._began_ns, now_ns))
        if active and min(active) > NO_WATERMARK:
            self.event_time = max(self.event_time, min(active) - 1)
        return idle

    def _is_idle(self, since_ns: int, now_ns: int) -> bool:
        return self._idle_timeout_ns is not None and now_ns - since_ns >= self._idle_timeout_ns


class EventTimeOracle(Listener):
    """What one task of one attempt has heard, made and told of event time.

    rescaled: vertices with inputs that were rescaled, in any attempt so far, and all after them.
    idle_splits: of all tasks, that were idle at any time.  moved_splits: that can have moved to
    other subtasks.  in_flight: the latest recovered watermark that came from such a vertex, to this
    task or to one before it that has sent news of event time since.
    """

    def __init__(self, job: Job, task: TaskOracle) -> None:
        self._task = task
        self.rescaled: Mapping[str, None] = {}
        self.idle_splits: dict[int, None] = {}
        self.moved_splits: dict[int, None] = {}
        self.in_flight = NO_WATERMARK
        self._told = NO_WATERMARK, False  # below it, so far: watermark, and whether it is idle
        self._idle_timeout_ns = job.event_time.idle_timeout_ns
        self._input_marks: InputMarks | None = None
        self._split_marks: SplitMarks | None = None

    def watermark_taken(self, event: of_time.WatermarkTaken) -> None:
        """Note the news of an input, in the world's own account of event time."""
        if self._input_marks is None:
            self._input_marks = InputMarks(len(self._task.inputs))
        # Who is misled by the in-flight data passes its own watermark on.
        sender = self._task.inputs[event.channel].sender.event_time
        self.in_flight = max(self.in_flight, sender.in_flight)
        self._input_marks.take(event.channel, event.watermark, idle=event.idle)

    def watermark_recovered(self, event: of_time.WatermarkRecovered) -> None:
        """Note a watermark from before the restart, by which its sender may not hold any more."""
        sender = self._task.inputs[event.channel].sender
        if event.watermark is not None and sender.task.place[0] in self.rescaled:
            self.in_flight = max(self.in_flight, event.watermark)

    def watermark_sent(self, event: of_time.WatermarkSent) -> None:
        """Note it: up to its watermark no record is to come of a split that was never idle."""
        before, was_idle = self._told
        later = before if event.watermark is None else max(before, event.watermark)
        self._told = later, was_idle if event.idle is None else event.idle

    def watermarks_settled(self, event: of_time.WatermarksSettled) -> None:
        """Check that the task has sent what follows from its inputs."""
        marks = self._input_marks
        if marks is None or marks.is_over or any(gate.recovered for gate in self._task.task.gates):
            return
        self._check_told("inputs", (marks.event_time, marks.idle))

    def _check_told(self, of: str, due: tuple[int, bool]) -> None:
        if self._told == due:
            return
        self._task.says(_NAME, f"tells {_told(self._told)}, but its {of} {_told(due)}")
        self._input_marks = self._split_marks = None

    def record_read(self, event: of_tasks.RecordRead) -> None:
        """Note a record that a source reads, and check that it is not late."""
        if event.timestamp is None:
            return
        if self._split_marks is not None:
            self._split_marks.read(event.split, event.timestamp, self._task.now_ns)
        self._check_late(event.split, event.timestamp)

    def record_taken(self, event: of_tasks.RecordTaken) -> None:
        """Check that a record is not late, and that event time is not at its end."""
        if event.timestamp is None:
            return
        marks, gates = self._input_marks, self._task.task.gates
        if marks is not None and marks.is_over and not any(gate.recovered for gate in gates):
            says = f"processes a record of {duration_text(event.timestamp)} of split {event.split}"
            says += ", though event time is at its end: other inputs have finished while this one"
            self._task.says(_ENDED, f"{says} was idle")
        self._check_late(event.split, event.timestamp)

    def _check_late(self, split: int, timestamp: int) -> None:
        """Check that a record is not late, unless that passed without its split.

        Splits have their records in order of time.  A split that was idle may stay after others.
        Watermarks that were in flight when a source was rescaled speak for the splits that it had.
        Those that a source sends in an attempt, for the splits that it has.  Those in flight after
        a vertex that was rescaled speak for what its old subtasks had to read.
        """
        watermark, _ = self._told
        if timestamp > watermark or split in self.idle_splits:
            return
        moved = split in self.moved_splits or timestamp <= self.in_flight
        says = f"processes a record of {duration_text(timestamp)} of split {split} behind its "
        name = RESTORED if self._task.inputs and moved else _NAME
        self._task.says(name, f"{says}watermark {duration_text(watermark)}")

    def splits_opened(self, event: of_time.SplitsOpened) -> None:
        """Note for which splits watermarks in flight need not speak."""
        self.moved_splits.update(dict.fromkeys(event.moved))
        self._split_marks = SplitMarks(self._idle_timeout_ns, self._task.now_ns)

    def splits_told(self, event: of_time.SplitsTold) -> None:
        """Check that a source has sent what follows from its splits. Note those that are idle."""
        marks = self._split_marks
        if marks is None:
            return
        self.idle_splits.update(dict.fromkeys(marks.tell(event.unread, self._task.now_ns)))
        self._check_told("splits", (marks.event_time, marks.idle))


def _told(told: tuple[int, bool]) -> str:
    watermark, idle = told
    says = "no watermark" if watermark == NO_WATERMARK else f"watermark {duration_text(watermark)}"
    return f"{says}, {'idle' if idle else 'active'}"
