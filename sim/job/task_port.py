"""What the control of one task asks of a data plane, and shows to anyone who follows the task.

The rest of the border between control and data planes is in `port.py`.  The objects of the planes
are the ports themselves. Nothing is wrapped, because one barrier of a wide exchange passes
thousands of channels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from ckptsim.models.barriers import Barrier, NetworkEvent
from ckptsim.models.barriers.channels import Buffers, NetworkEffect
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.lifecycle import OperatorState, SinkState, TaskState
from ckptsim.models.lifecycle.effects import TakeSnapshot, TransactionId
from ckptsim.sim.job.port import FileStored, ObservedTask

# --- small things ---


Reach = Callable[[str], object]
"""Counts a rare situation."""


class Clock(Protocol):
    """Knows what time it is."""

    @property
    def now(self) -> int:
        """The present instant, in ns."""


class Timer(Protocol):
    """Something that will happen."""

    def cancel(self) -> None:
        """Let it not happen."""


class CheckpointMetrics(Protocol):
    """One task's part in one checkpoint, as far as control has figures of it.

    start_delay_ns: from the trigger to the first barrier.  unaligned: whether the barrier could
    overtake here.
    """

    start_delay_ns: int
    unaligned: bool


# --- one task ---


class InputPort(Protocol):
    """The receiver's end of a channel."""

    def resume(self) -> None:
        """Tell the sender that it may continue after a blocking event."""

    def prioritize(self, sequence: int) -> None:
        """Move an announced barrier to the front."""

    def acknowledge_end_of_data(self) -> None:
        """Tell the sender that its EndOfData has been taken."""


class GatePort(Protocol):
    """The channels of one input gate."""

    def start(self, checkpoint: int) -> FailureReason | None:
        """Persist the queue before the barrier and later arrivals before it.

        Returns why the checkpoint cannot start, or None.
        """

    def stop(self, checkpoint: int) -> None:
        """Persist nothing more for this checkpoint."""


class OutputPort(Protocol):
    """All outputs of a task.

    What asks something of the host while it happens leaves that in the task's outbox.
    """

    def broadcast_barrier(self, barrier: Barrier) -> int:
        """Put a barrier into every subpartition, each as its edge takes it.

        Nothing travels before `flush`.  Returns how many subpartitions do not know their state yet.
        """

    def broadcast(self, event: NetworkEvent) -> None:
        """Put an event after everything in every subpartition, and let it travel."""

    def flush(self) -> None:
        """Let the queues travel."""

    def time_out(self, checkpoint: int) -> None:
        """Let a barrier that still waits overtake, wherever it does."""

    def abort(self, checkpoint: int) -> None:
        """Give up the output state of a checkpoint."""

    def finish(self) -> None:
        """Send EndOfPartition on every channel and release it."""


class StatePort(Protocol):
    """What a snapshot of a task holds, and what making it durable takes.

    Sizes of in-flight data are in bytes where the plane has bytes, else in records.
    """

    def part_of(self, barrier: Barrier) -> CheckpointMetrics:
        """Return the task's part in a checkpoint. It is new at the first call."""

    def aligned(self, checkpoint: int, duration_ns: int, size: int) -> None:
        """Take the figures of an alignment.

        size: of everything that was handed to the task between the first and the last barrier.
        """

    def keep_partial_records(self, checkpoint: int) -> Iterable[int]:
        """Keep the rest of partly read records. Returns the sizes."""

    def keep_recovered(self, barrier: Barrier) -> Iterable[int]:
        """Keep the rest of restored in-flight data. Returns the sizes."""

    def keep_input(self, channel: int, checkpoint: int, buffers: Buffers) -> Iterable[int]:
        """Keep data of an input channel. Returns the sizes."""

    def keep_output(self, output: int, checkpoint: int, buffers: Buffers) -> Iterable[int]:
        """Keep data of a subpartition. Returns the sizes."""

    def barrier_sent(self, checkpoint: int) -> None:
        """Note that the barrier is in every queue, and what it has overtaken is kept."""

    def capture(self, flags: TakeSnapshot, captured: Callable[[int], None]) -> None:
        """Copy the state, as long as that keeps the thread, then call `captured(checkpoint)`."""

    def store(self, checkpoint: int, stored: FileStored) -> None:
        """Make the copied state durable beside the task's work, then call `stored`."""

    def drop(self, checkpoint: int) -> None:
        """Stop making the state durable. No one learns of its end."""

    def wait_no_longer(self, checkpoint: int) -> None:
        """End the writes of aborted checkpoints that wait for other tasks."""

    def acknowledge(self, checkpoint: int, size: int, *, unaligned: bool) -> None:
        """Tell the coordinator that the task's part is durable."""

    def decline(self, checkpoint: int, reason: FailureReason) -> None:
        """Tell the coordinator that the task takes no part."""


class EndingPort(Protocol):
    """What the end of a task's life looks like on a data plane."""

    @property
    def has_writes(self) -> bool:
        """Whether snapshots or commits are under way, which closing has to wait for."""

    def state_changed(self, state: TaskState, operator: OperatorState | None) -> None:
        """Take on a state. operator: the one of the operators, where it has a say."""

    def finish_source(self) -> None:
        """Stop the source gracefully."""

    def call(self, what: str, operator: int) -> None:
        """Call an operator: `advance`, `end_input`, `finish` or `close`."""

    def gate_ended(self, gate: int) -> None:
        """Note that the head of the chain has been told of the end of one of several gates."""

    def tell(self, what: str, checkpoint: int) -> None:
        """Tell every operator of a checkpoint: `snapshot` or `notify`."""

    def emit_max_watermark(self) -> None:
        """Send the final watermark on every output."""

    def note(self, kind: str, *fields: int | str) -> None:
        """Tell the story: of a transaction, or of the skipped part or ignored."""

    def decline_closing(self, checkpoint: int) -> None:
        """Tell the coordinator that the task has closed and takes no part."""

    def fail(self, reason: str) -> None:
        """Fail the task, and with it the job."""

    def is_stop(self, checkpoint: int) -> bool:
        """Return whether a checkpoint is the savepoint of a stop, as its barriers say."""

    def break_down(self, violated: str, story: str) -> None:
        """Fail the task because its input broke a rule. violated: the property that shows it."""


class SinkPort(Protocol):
    """The transactions of a sink, by the checkpoints that pre-committed them or by their names."""

    def precommit(self, checkpoint_id: int, *, open_successor: bool) -> None:
        """Pre-commit the open transaction."""

    def snapshot(self, checkpoint_id: int) -> None:
        """Take note that a snapshot follows."""
        ...

    def commit(self, checkpoints: tuple[int, ...]) -> None:
        """Commit what these checkpoints have pre-committed."""

    def abort(self, transactions: tuple[TransactionId, ...]) -> None:
        """Abort transactions at close."""

    def leave(self, checkpoints: tuple[int, ...]) -> None:
        """Leave transactions pre-committed at close."""

    def recover_and_commit(self, name: str) -> None:
        """Commit what the restored state has pending."""

    def recover_and_abort(self, name: str) -> None:
        """Abort what the restored state has open."""


class TaskSink(SinkPort, Protocol):
    """A sink as the data plane has it that its task belongs to.

    state: its element of list state. busy: a commit is under way that closing has to wait for.
    """

    @property
    def state(self) -> SinkState: ...  # noqa: D102
    @property
    def busy(self) -> bool: ...  # noqa: D102

    def begin(self) -> None:
        """Open the first transaction, once the restored data is dealt with."""


class TaskPort(ObservedTask, Protocol):
    """One task's thread and its ends, as control sees them.

    outbox: what the cores of its channels and subpartitions ask for. Anyone who calls one of them
    has it drained after.  sink: None where there is no sink with transactions.
    """

    @property
    def is_source(self) -> bool: ...  # noqa: D102
    @property
    def inputs(self) -> Sequence[InputPort]: ...  # noqa: D102
    @property
    def gates(self) -> Sequence[GatePort]: ...  # noqa: D102
    @property
    def outputs(self) -> OutputPort: ...  # noqa: D102
    @property
    def outbox(self) -> list[NetworkEffect]: ...  # noqa: D102
    @property
    def snapshots(self) -> StatePort: ...  # noqa: D102
    @property
    def sink(self) -> SinkPort | None: ...  # noqa: D102

    def post(self, function: Callable[..., object], /, *arguments: Any) -> None:
        """Put something into the mailbox. It is done between two records."""

    def set_timer(
        self, delay_ns: int, function: Callable[..., object], /, *arguments: Any
    ) -> Timer:
        """Call a function later than that by what a timer of this plane takes on top."""

    def spend_on_barrier(self, function: Callable[..., object], /, *arguments: Any) -> None:
        """Spend what a barrier costs the thread before it is sent on, then call the function."""
