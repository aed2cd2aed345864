"""The account of checkpoints at the coordinator, and of what each completed one holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ckptsim.models.barriers.reason import FailureReason
from ckptsim.sim.job.buffers.snapshots import BUFFER_HEADER_BYTES

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.account.flow import Flow
    from ckptsim.sim.job.buffers.part import Part
    from ckptsim.sim.job.buffers.task import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord

Violate = Callable[..., None]


class CheckpointAccount:
    """What has become of the checkpoints of one job.

    flows: by sender and place of the outlet.  written_bytes: what a task has written so far to each
    of its outlets, counted once more from its keys.
    """

    def __init__(
        self,
        world: DataflowWorld,
        flows: dict[tuple[int, int], Flow],
        written_bytes: Callable[[Task], list[int]],
        violate: Violate,
    ) -> None:
        self._world = world
        self._table = world.model.checkpointing
        self._flows = flows
        self._written_bytes = written_bytes
        self._violate = violate
        self._running: dict[int, CheckpointRecord] = {}
        self._newest_completed = -1
        self._idle_ns: int | None = None  # since when nothing runs

    def attempt_begins(self) -> None:
        """Note that an attempt begins: with nothing under way, triggers are due from now on."""
        if self._world.control.failovers:
            self._idle_ns = self._world.env.now

    # What a task reports ----------------------------------------------------------------------

    def acknowledged(self, task: Task, part: Part, size: int, *, unaligned: bool) -> None:
        """Check what a task says of its part against the bytes that were seen to become state."""
        number = part.barrier.checkpoint
        held = sum(flow.held_at_receiver.get(number, 0) for flow in self._inputs(task))
        held += sum(flow.held_at_sender.get(number, 0) for flow in self._outputs(task))
        headers = size - held
        true = size == part.persisted_bytes and headers % BUFFER_HEADER_BYTES == 0
        if not true or headers < 0 or unaligned != bool(held) or (size > 0) != bool(held):
            says = f"{task.entity.name} reports {size} bytes in flight, called "
            says += f"{'un' * unaligned}aligned; {held} were seen"
            self._violate("reported_bytes_are_true", says, number)

    # Beginning and end ------------------------------------------------------------------------

    def triggered(self, record: CheckpointRecord) -> None:
        """Check that not more run at once than may; a forced savepoint comes on top."""
        running = [other for other in self._running.values() if not other.request.forced]
        if not record.request.forced and len(running) >= self._table.max_concurrent:
            says = f"begins while {sorted(self._running)} run"
            self._violate("pending_within_limit", says, record.checkpoint)
        self._running[record.checkpoint] = record

    def completed(self, record: CheckpointRecord) -> None:
        """Check that it was running, is whole, and holds exactly what was in flight."""
        number = record.checkpoint
        self._end(record, "completes")
        if not record.request.savepoint:
            if number <= self._newest_completed:
                says = f"completes after {self._newest_completed}"
                self._violate("completed_ids_increase", says, number)
            self._newest_completed = max(self._newest_completed, number)
        missing = [n for n in record.tasks if n not in record.parts]
        if missing:
            names = [self._world.tasks[n].entity.name for n in missing]
            says = f"completes without {', '.join(names)}"
            self._violate("ended_checkpoints_stay_ended", says, number)
            return
        for task in self._world.tasks:
            self._check_channels(task, record)

    def failed(self, record: CheckpointRecord, reason: FailureReason) -> None:
        """Check that what is given up was running, and that savepoints are spared."""
        self._end(record, "is given up")
        if record.request.savepoint and reason is FailureReason.CHECKPOINT_SUBSUMED:
            says = "a savepoint gives way to a newer checkpoint"
            self._violate("savepoints_are_not_subsumed", says, record.checkpoint)

    def notified(self, record: CheckpointRecord) -> None:
        """Check that tasks are told of a completion after it."""
        if record.status != "completed":
            says = f"tasks hear that it is complete, it is {record.status}"
            self._violate("notified_after_completion", says, record.checkpoint)

    def look(self) -> None:
        """Check that checkpoints end in time and that new ones begin."""
        for record in self._running.values():
            self._check_duration(record)
        world, now_ns = self._world, self._world.env.now
        pause_ns = max(self._table.interval_ns, self._table.min_pause_ns)
        pause_ns += self._table.min_pause_ns + world.constants.complete_ns
        first_ns = self._table.first_trigger_ns
        since_ns = self._idle_ns if self._idle_ns is not None else first_ns or 0
        finishing = any(task.finished_ns is not None for task in world.tasks)
        periodic = self._table.enabled and world.coordinator.stop_id is None
        idle = not self._running and not finishing and world.control.running
        if periodic and idle and now_ns - since_ns > pause_ns:
            says = f"no checkpoint for {now_ns - since_ns} ns, though nothing is under way"
            self._violate("periodic_triggers_go_on", says)

    def _end(self, record: CheckpointRecord, does: str) -> None:
        number = record.checkpoint
        if self._running.pop(number, None) is None or record.status != "pending":
            says = f"{does} though it is {record.status}"
            self._violate("ended_checkpoints_stay_ended", says, number)
        self._check_duration(record)
        self._idle_ns = self._world.env.now

    def _check_duration(self, record: CheckpointRecord) -> None:
        """Check that the last acknowledgement comes within the time-out, or the end does.

        How long storing takes then is the coordinator's matter.
        """
        until_ns = self._world.env.now
        if len(record.parts) == len(record.tasks):
            until_ns = max(arrival_ns for _, arrival_ns in record.parts.values())
        lasts_ns = until_ns - record.triggered_ns
        if lasts_ns > self._table.timeout_ns:
            says = f"is under way for {lasts_ns} ns"
            self._violate("checkpoint_ends_in_time", says, record.checkpoint)

    # What is in it ----------------------------------------------------------------------------

    def _check_channels(self, task: Task, record: CheckpointRecord) -> None:
        """Check every channel out of a task.

        What the sender wrote before its barrier is what the receiver's state holds and what both
        ends have put into channel state, to the byte.
        """
        number = record.checkpoint
        written: list[int] | None = None
        for place, outlet in enumerate(task.outlets):
            flow = self._flows[task.number, place]
            if task.number in record.parts:
                sent = flow.sent_cut.get(number)
            else:  # it had finished
                written = self._written_bytes(task) if written is None else written
                sent = written[place]
            read = flow.read_cut.get(number) if flow.receiver in record.parts else sent
            held = flow.held_at_sender.get(number, 0) + flow.held_at_receiver.get(number, 0)
            self._check_cut(flow, record, (sent, read, held))
            ordered = not outlet.writer.supports_unaligned
            if ordered and flow.held_at_sender.get(number, 0):
                says = f"holds {held} bytes of channel {flow.name}, which must keep its order"
                self._violate("ordered_edges_hold_nothing_in_flight", says, number)

    def _check_cut(
        self, flow: Flow, record: CheckpointRecord, cut: tuple[int | None, int | None, int]
    ) -> None:
        number, (sent, read, held) = record.checkpoint, cut
        if held and (not self._table.unaligned or record.request.savepoint):
            says = f"holds {held} bytes in flight of channel {flow.name}, and is aligned"
            self._violate("aligned_holds_nothing_in_flight", says, number)
        repeats = not self._table.exactly_once
        if sent is None or read is None:
            fits = False
        else:
            fits = sent <= read + held if repeats else sent == read + held
        if not fits:
            says = f"channel {flow.name}: {sent} bytes were written before the barrier, {read} are "
            says += f"in the receiver's state and {held} in flight"
            self._violate("checkpoint_holds_what_is_in_flight", says, number)

    def _inputs(self, task: Task) -> list[Flow]:
        return [
            self._flows[channel.outlet.owner.number, channel.outlet.core.index]
            for channel in task.channels
        ]

    def _outputs(self, task: Task) -> list[Flow]:
        return [self._flows[task.number, place] for place in range(len(task.outlets))]
