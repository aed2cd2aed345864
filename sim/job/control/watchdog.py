"""Liveness of one attempt: the notified news when it does nothing, and who waits for whom then.

One rule on both data planes, with the times that `patience` works out:

* while there are records that could be processed, or the tasks of an attempt restore what they are
  to begin with, something happens within `records_ns`.
* when all tasks have ended their data, something happens within `final_ns`.
* whatever the attempt waits for besides (a final checkpoint, notifications, a restart), something
  happens within `end_ns`.

What happens is that a task emits or processes a record, or that its life continues to another
state. The first two are what a later attempt, or a checkpoint that expires, could heal: they are
reported, once per attempt, and the run continues.  After the last nothing is to be hoped for: the
run ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ckptsim.models.lifecycle import TaskState
from ckptsim.models.lifecycle.tables import Act
from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.kernel import Wait, explain_waits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.control.patience import Patience
    from ckptsim.sim.job.control.task import TaskControl
    from ckptsim.sim.job.world import JobWorld
    from ckptsim.sim.kernel import Environment

# What tasks wait for, as stories say it.
RESUMED = "its channel to be resumed"
REST = "room for the rest of a record"
_BARRIER = "barrier"
_GIVEN_UP = ("aborted", "expired")


class WatchedTask(Protocol):
    """A task of the attempt that is watched."""

    number: int
    control: TaskControl


class Watched(Protocol):
    """A data plane with watched attempts."""

    env: Environment
    control: JobWorld

    @property
    def tasks(self) -> Sequence[WatchedTask]:
        """Return the tasks of the attempt."""

    @property
    def progress_ns(self) -> int:
        """Return when something happened last, as far as is known by now."""

    @property
    def patience(self) -> Patience:
        """Return for how long the attempt may do nothing."""

    def has_records(self) -> bool:
        """Return whether records could be processed: of a source, or before a task."""

    def waits(self) -> Sequence[Wait]:
        """Return who waits for whom."""

    def violate(self, name: str, says: str) -> None:
        """Report a property that does not hold."""


class Watchdog:
    """Follows the attempts of one job. Its plane says when to look.

    stalled: the run was ended for want of progress.
    """

    def __init__(self, plane: Watched) -> None:
        self.stalled = False
        self._plane = plane
        self._patience = plane.patience
        self._began_ns = plane.env.now
        self._told = False

    def attempt_began(self) -> None:
        """Watch an attempt from now on."""
        self._patience = self._plane.patience
        self._began_ns = self._plane.env.now
        self._told = False

    def look(self) -> None:
        """Report an attempt that has done nothing for too long, unless an owner watches the job."""
        plane, idle_ns = self._plane, self._plane.env.now - self._progress_ns
        # The shortest of the three. The others are worked out from all checkpoints.
        if plane.control.owner is not None or idle_ns < self._patience.records_ns:
            return
        if idle_ns >= self._end_ns:
            self._end()
        elif self._told:
            return
        elif idle_ns >= self._final_ns and self._waits_for_its_end():
            self._tell(
                self._ending_name(),
                f"all data ended, and for {duration_text(idle_ns)} nothing happened",
            )
        elif plane.control.running:
            if not plane.control.can_checkpoint:
                self._tell("job_ends", f"its tasks have restored for {duration_text(idle_ns)}")
            elif plane.has_records():
                self._tell("job_ends", f"no record was processed for {duration_text(idle_ns)}")

    def _waits_for_its_end(self) -> bool:
        """Return whether all tasks have ended their data, and some are not closed."""
        states = [task.control.lifecycle.core.state for task in self._plane.tasks]
        waiting = TaskState.WAITING_FOR_FINAL_CP
        return waiting in states and all(one in (waiting, TaskState.CLOSED) for one in states)

    def _ending_name(self) -> str:
        missed = _stop_was_missed(self._plane.control, self._plane.tasks)
        return "stop_ends" if missed else "job_ends"

    @property
    def next_look_ns(self) -> int:
        """When to look next, if nothing happens until then."""
        due_ns = self._progress_ns + self._patience.records_ns
        return due_ns if due_ns > self._plane.env.now else self._progress_ns + self._end_ns

    @property
    def _progress_ns(self) -> int:
        return max(self._began_ns, self._plane.progress_ns)

    @property
    def _end_ns(self) -> int:
        """For how long nothing may happen at all."""
        return self._patience.end_ns + self._queued_ns

    @property
    def _final_ns(self) -> int:
        """For how long nothing may happen when all data have ended."""
        given = self._patience
        return self._end_ns if given.final_ns == given.end_ns else given.final_ns + self._queued_ns

    @property
    def _queued_ns(self) -> int:
        """How long the barriers of checkpoints that were aborted took to queue.

        They come out one by one when the data have ended, and count as no progress. No checkpoint
        completes in time until they are out, which takes about as long as it took to queue them.
        """
        progress_ns = self._progress_ns
        triggered = [
            record.triggered_ns
            for record in self._plane.control.coordinator.records.values()
            if record.status in _GIVEN_UP and record.triggered_ns < progress_ns
        ]
        return progress_ns - min(triggered) if triggered else 0

    def _end(self) -> None:
        """End the run, which nothing will bring any further."""
        control = self._plane.control
        self.stalled = True
        if self._patience.outpaced and self._barriers_pass():
            control.end()
            return
        missed = control.failed_while_stopping = _stop_was_missed(control, self._plane.tasks)
        if missed or not self._told:
            self._tell("stop_ends" if missed else "job_ends", "the job stands still")
        control.end()

    def _barriers_pass(self) -> bool:
        """Return whether tasks still take barriers, but too late to complete any."""
        since_ns = self._plane.env.now - self._end_ns // 2
        handlers = (task.control.handler for task in self._plane.tasks)
        return any(one is not None and one.barrier_taken_ns > since_ns for one in handlers)

    def _tell(self, name: str, says: str) -> None:
        if name == "job_ends" and _holds_what_was_given_up(self._plane):
            name = "given_up_checkpoints_free_channels"
        waits = self._plane.waits()
        if name == "job_ends" and _stands_in_a_record(waits):
            name = "records_let_triggers_pass"
        if name == "job_ends" and _closed_task_owes_a_file(self._plane.tasks):
            name = "closed_tasks_owe_no_shared_file"
        self._plane.violate(name, f"{says}, but work remains: {explain_waits(waits)}")
        self._told = True


def waits_of(
    name: str, control: TaskControl, *, senders: Sequence[str], receivers: Sequence[str]
) -> list[Wait]:
    """Return which barriers a task lacks while it keeps channels blocked, and what for its end.

    senders: of its inputs.
    """
    core, found = control.lifecycle.core, _missing_barriers(name, control, senders)
    if core.state is not TaskState.WAITING_FOR_FINAL_CP:
        return found
    for act in core.waits_for():
        match act:
            case Act.AWAIT_CHECKPOINT:
                what, partners = "the completion of its final checkpoint", ["the coordinator"]
            case Act.AWAIT_ACKNOWLEDGEMENT:
                what, partners = "the acknowledgement of EndOfData", list(receivers)
            case Act.AWAIT_END_OF_PARTITION:
                open_inputs = (i for i in range(len(senders)) if i not in control.ended_channels)
                what, partners = "EndOfPartition", [senders[i] for i in open_inputs]
        found += [Wait(name, what, partner) for partner in partners]
    return found


def _missing_barriers(name: str, control: TaskControl, senders: Sequence[str]) -> list[Wait]:
    host = control.handler
    if host is None or not host.blocked or not host.core.pending:
        return []
    known = (*host.taken, *control.ended_channels)
    missing = (sender for channel, sender in enumerate(senders) if channel not in known)
    return [Wait(name, f"{_BARRIER} {host.core.latest}", sender) for sender in missing]


def _stop_was_missed(control: JobWorld, tasks: Sequence[WatchedTask]) -> bool:
    """Return whether a task waits for the completion of a savepoint that it will never hear of.

    Under released Flink's rules a stop waits for exactly its savepoint. So it waits without end if
    that notification is lost or overtaken.  So it does under the FLIP's rules if no checkpoint
    follows the end of a task.  Where any later checkpoint will do, there is no such excuse.
    """
    coordinator, settings = control.coordinator, control.settings
    stop_id = coordinator.stop_id
    if not coordinator.stop_completed or stop_id is None:
        return False
    continues = settings.coordinator.triggers_after_stop and settings.after_finish
    if continues and settings.parameters.interval_ns is not None:
        return False
    return any(
        task.control.lifecycle.core.state is TaskState.WAITING_FOR_FINAL_CP
        and (
            (task.number, stop_id) in coordinator.gateway.lost
            or task.control.lifecycle.core.latest_reported > stop_id
        )
        for task in tasks
    )


def _holds_what_was_given_up(plane: Watched) -> bool:
    """Return whether a task keeps channels blocked for an aborted checkpoint.

    A task that turns unaligned keeps aligned channels blocked until the last barrier comes, and
    learns of an abort only from its channels.  While another one waits after a newer barrier that
    has to come through the first, what the last barrier is after may wait for that one in turn.
    Source: Apache Flink 1.20.3, `AlternatingCollectingBarriers.alignedCheckpointTimeout` (channels
    stay blocked since FLINK-22638), `SubtaskCheckpointCoordinatorImpl.notifyCheckpointAborted`.
    """
    records = plane.control.coordinator.records
    hosts = (task.control.handler for task in plane.tasks)
    held = [host for host in hosts if host is not None and host.blocked]
    kept = [
        host.core.latest
        for host in held
        if host.keeps_blocked and records[host.core.latest].status in _GIVEN_UP
    ]
    return bool(kept) and max(host.core.latest for host in held) > min(kept)


def _closed_task_owes_a_file(tasks: Sequence[WatchedTask]) -> bool:
    """Return whether a shared file of channel state waits for the part of a task that has closed.

    A task with a failed file of its own declines, and keeps its part of the shared one until it
    learns of the abort.  When it closes before, the part is never whole. The others close after
    their files.
    Source: Apache Flink 1.20.3, `AsyncCheckpointRunnable.handleExecutionException`,
    `ChannelStateCheckpointWriter.releaseSubtask`, `StreamTask.afterInvoke`.
    """
    closed = [
        task.number for task in tasks if task.control.lifecycle.core.state is TaskState.CLOSED
    ]
    files = [getattr(task.control.checkpoints, "share_a_file", ()) for task in tasks]
    return any(number in closed for file in files for number in file)


def _stands_in_a_record(waits: Sequence[Wait]) -> bool:
    """Return whether a task is inside a record, and its barrier has to come before there is room.

    Between records it would take the trigger. Inside one it takes nothing.  The one that could make
    room has its own output blocked by the task that lacks the barrier.
    Source: Apache Flink 1.20.3, `LocalBufferPool.requestMemorySegmentBlocking` after the last
    overdraft buffer, in the thread of the mailbox.
    """
    lacking = [(one.whom, one.who) for one in waits if one.what.startswith(_BARRIER)]
    blocked = [(one.who, one.whom) for one in waits if one.what == RESUMED]
    return any(
        (one.who, lacks) in lacking and (one.whom, lacks) in blocked
        for one in waits
        if one.what == REST
        for _, lacks in lacking
    )
