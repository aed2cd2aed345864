"""What observers of a job are told, once, where it happens; these take note of nothing.

`JobObserver` is told what the coordinator and the job as a whole do, and makes the observers of
tasks, channels and files; the oracle takes from them.  No observer changes what happens, so a run
has the same digest whoever follows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.oracle.ends.observer import LifecycleObserver
from ckptsim.sim.job.oracle.event_time import EventTimeObserver
from ckptsim.sim.job.oracle.recovery.restarts import RestartObserver
from ckptsim.sim.job.oracle.routing import RoutingObserver

if TYPE_CHECKING:
    from ckptsim.models.barriers.barrier import Barrier
    from ckptsim.models.barriers.reason import FailureReason
    from ckptsim.models.coordinator.plan import Plan
    from ckptsim.models.coordinator.requests import Request
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord, JobCheckpoint
    from ckptsim.sim.job.oracle.view import Contents
    from ckptsim.sim.job.port import ObservedTask, TaskGateway
    from ckptsim.sim.kernel import Timer


class TaskObserver:
    """Is told what a task does about checkpoints; others are told of its end and of the rest."""

    lifecycle = LifecycleObserver()
    event_time = EventTimeObserver()
    routing = RoutingObserver()

    def seen(self, barrier: Barrier, /) -> None:
        """Note that the task hears of a checkpoint by an announcement or a remote call."""

    def barrier_taken(self, channel: int, barrier: Barrier, /) -> None:
        """Note that the task takes a barrier from a channel."""

    def barrier_by_rpc(self, channel: int, checkpoint: int, /) -> None:
        """Note that a trigger by remote call stands for a channel's barrier."""

    def cancelled(self, checkpoint: int, /) -> None:
        """Note a cancellation marker, or a gate that cannot begin a checkpoint any more."""

    def channel_ended(self, channel: int, /) -> None:
        """Note that the task takes the end of a channel."""

    def record_begun(self) -> None:
        """Note that a source makes a record."""

    def ordered_record(
        self, unit: tuple[int, ...], record: int, /, *, restored: bool = False
    ) -> None:
        """Note that the task processes a record whose unit keeps its order, or has it already."""

    def begun(self, barrier: Barrier, /) -> None:
        """Note that the channel state of a checkpoint is begun."""

    def gate_started(self, gate: int, barrier: Barrier, /) -> None:
        """Note that a gate is told to persist."""

    def gate_persists(self, gate: int, checkpoint: int, /) -> None:
        """Note that a gate has started to persist."""

    def gate_refused(self, gate: int, checkpoint: int, /) -> None:
        """Note that it could not."""

    def gate_stopped(self, gate: int, /) -> None:
        """Note that a gate is told to persist no more."""

    def input_persisted(self, channel: int, checkpoint: int, elements: Any, /) -> None:
        """Note elements of an input that become state."""

    def output_persisted(self, output: int, checkpoint: int, elements: Any, /) -> None:
        """Note elements of a subpartition that become state."""

    def told(self, checkpoint: int, /, *, completed: bool) -> None:
        """Note that a notification of a checkpoint's end comes to the task."""

    def triggered(self, barrier: Barrier, /) -> None:
        """Note that the barrier handler has the task take part in a checkpoint."""

    def cut(self, barrier: Barrier, start_delay_ns: int, /) -> None:
        """Note the instant at which the task is to take part in a checkpoint."""

    def measured(self, checkpoint: int, duration_ns: int, size: int, /) -> None:
        """Note the figures of an alignment."""

    def aborted(self, checkpoint: int, /) -> None:
        """Note that the barrier handler gives a checkpoint up."""

    def all_received(self, checkpoint: int, /) -> None:
        """Note that all barriers of a checkpoint have come."""

    def settled(self) -> None:
        """Note that the task has carried out what its barrier handler wanted."""

    def failed(self) -> None:
        """Note that the task fails."""

    def entered(self, checkpoint: int, /) -> None:
        """Note that the task is about to take part, or to skip a trigger."""

    def answered(self, checkpoint: int, /) -> None:
        """Note that a trigger has been dealt with."""

    def barrier_sent(self, barrier: Barrier, /) -> None:
        """Note the place of a barrier in all queues of the outputs: it comes next."""

    def cancellation_sent(self, checkpoint: int, /) -> None:
        """Note that the tasks below are told that no barrier comes."""

    def output_opened(self, output: int, checkpoint: int, /) -> None:
        """Note that a subpartition does not know its state of a checkpoint yet."""

    def output_settled(self, output: int, checkpoint: int, /) -> None:
        """Note that it does, or never will."""

    def performed(self, checkpoint: int, /) -> None:
        """Note that the task takes its snapshot."""

    def writing_begun(self, checkpoint: int, /) -> None:
        """Note that the part is being written, and acknowledged when it is whole."""

    def file_begun(self, checkpoint: int, /) -> None:
        """Note that a file of the task's own state is begun, where that takes a file."""

    def writing_over(self, checkpoint: int, /, *, whole: bool) -> None:
        """Note that it is acknowledged, as it is whole, or declined or taken back."""


class ChannelObserver:
    """Is told what passes through a channel.

    Elements are data or events; data of the record plane are numbered records, of the buffer plane
    slices.
    """

    def preloaded(self, elements: Any, /) -> None:
        """Note data that are at the receiver from the beginning."""

    def sent(self, element: object, /) -> None:
        """Note an element that leaves the sender's queue."""

    def resumed(self) -> None:
        """Note that the sender continues behind a blocking event."""

    def arrived(self, element: object, /) -> None:
        """Note an element that comes to the receiver."""

    def taken(self, element: object, /, *, priority: bool = False) -> None:
        """Note an element that the task takes; priority: it has overtaken what was queued."""

    def takes_over(self, channels: int, /) -> None:
        """Note how many channels of a checkpoint this one stands for."""

    def log_cut(self, first: int, checkpoint: int, /) -> None:
        """Note from which number on its log is kept now that a checkpoint is complete."""

    def watermark_polled(self) -> None:
        """Note that the task takes a final watermark; others may have to come, too."""

    def memory_lent(self, most: int, /) -> None:
        """Note that the receiver begins with what its sender had, too; most: of both ends."""

    def credited(self, credit: int, receiver: int, /) -> None:
        """Note that the sender has credit for so many buffers, of those that the receiver has."""

    def told_to_resume(self) -> None:
        """Note that the receiver lets the sender continue."""


class FileObserver:
    """Is told who of a group of subtasks writes channel state into one file, and what comes of it.

    Subtasks by their indices.
    """

    def started(self, subtask: int, checkpoint: int, /) -> None:
        """Note that a subtask begins to write."""

    def aborted(self, checkpoint: int, /) -> None:
        """Note that a subtask gives its part up."""

    def broken(self, checkpoint: int, /) -> None:
        """Note that a file could not be written."""

    def answered(self, subtask: int, checkpoint: int, /) -> None:
        """Note that a subtask is told what became of its part."""

    def failed(self, subtask: int, checkpoint: int, /) -> None:
        """Note that a part fails."""

    def settled(self, subtask: int, /) -> None:
        """Note that the beginning of a write has been taken in."""


class JobObserver:
    """Is told what a job does over all its attempts.

    exactly: no record may be repeated.  idle_splits: watermarks have gone on without them.
    left_out_of: by checkpoint and vertex, what a restart before it left out for good.
    looks_on: wants to be told between instants, too.  restarts: is told who lets the job restart.
    """

    restarts = RestartObserver()
    exactly = True
    looks_on = False
    idle_splits: Mapping[int, None] = MappingProxyType({})
    left_out_of: Mapping[int, dict[str, Contents]] = MappingProxyType({})

    def restarted(self, before: JobObserver) -> None:
        """Note what the run was like from one of whose checkpoints this one begins."""

    # Parts of an attempt ----------------------------------------------------------------------

    def changed(self, job: Job) -> None:
        """Note that the user has changed the job: its parallelisms or its checkpoint mode."""

    def deploying(self) -> None:
        """Note that the parts of the next attempt are going to be made."""

    def task(self, task: ObservedTask) -> TaskObserver:
        """Return the observer of a task."""
        del task
        return NO_TASK

    def files(self, names: Mapping[int, str]) -> FileObserver:
        """Return the observer of the files of a group of subtasks, given their names by index."""
        del names
        return NO_FILE

    def channel(
        self,
        sender: ObservedTask,
        receiver: ObservedTask,
        *,
        keeps_order: bool,
        pulled: bool = False,
    ) -> ChannelObserver:
        """Return the observer of a channel; channels are made in the order of their tasks' ends.

        keeps_order: barriers may not overtake in it.  pulled: the receiver takes from the sender's
        queue itself.
        """
        del sender, receiver, keeps_order, pulled
        return NO_CHANNEL

    # The run ----------------------------------------------------------------------------------

    def submitted(self) -> None:
        """Note that the user submits the job again, from the newest checkpoint or savepoint."""

    def begun(self, restored: JobCheckpoint | None) -> None:
        """Note that an attempt is built, and from which checkpoint."""

    def killed(self, number: int) -> None:
        """Note that a task does nothing more: it has failed, though that may not be known yet."""

    def halted(self) -> None:
        """Note that the attempt is over: nothing of it acts any more."""

    def slept(self, task: ObservedTask) -> None:
        """Note that a task's thread sleeps as time goes on, though it has something to do."""

    def manager_lost(self, manager: int, *, unreachable: bool) -> None:
        """Note that a task manager gives no heartbeat from now on, without a broken connection."""

    def manager_loss_known(self, manager: int) -> None:
        """Note that the job manager takes such a task manager for lost."""

    def job_manager_lost(self) -> None:
        """Note that a new job manager takes over."""

    def look(self) -> None:
        """Look at what must hold at every instant, now and then."""

    def end(self, *, ended: bool) -> None:
        """Look at the end of the run; ended: every task has FINISHED."""

    def check_contents(self) -> None:
        """Look at what state and output of a job that has ended hold."""

    # The coordinator --------------------------------------------------------------------------

    def scheduled(self, first_ns: int) -> None:
        """Note that periodic triggers begin, the first after `first_ns`."""

    def unscheduled(self) -> None:
        """Note that periodic triggers have ended."""

    def asked(self) -> None:
        """Note that a checkpoint is about to be planned."""

    def refused(self, request: Request, *, ready: bool, possible: bool) -> None:
        """Note that a request is refused when it is planned.

        ready: all tasks run; possible: a plan can be made of their states.
        """

    def planned(self, plan: Plan) -> None:
        """Note the plan of a checkpoint."""

    def stop_asked(self) -> None:
        """Note that the user asks for the stop, perhaps again."""

    def stop_refused(self) -> None:
        """Note that the savepoint of a stop is not taken."""

    def triggered(self, record: CheckpointRecord) -> None:
        """Note that a checkpoint begins."""

    def trigger_came(self, task: ObservedTask, checkpoint: int) -> None:
        """Note that the trigger of a checkpoint comes to a task."""

    def expiry_set(self, checkpoint: int, timer: Timer) -> None:
        """Note the timer that ends a checkpoint which takes too long."""

    def acknowledged(
        self, task: ObservedTask, checkpoint: int, size: int, *, unaligned: bool
    ) -> None:
        """Note that a task acknowledges; size: what it says that its part has in flight.

        unaligned: how it calls its part.
        """

    def acknowledgement(self, record: CheckpointRecord, task: TaskGateway, part: Any) -> None:
        """Note that an acknowledgement has come to the coordinator."""

    def completed(self, record: CheckpointRecord, kept: JobCheckpoint | None) -> None:
        """Note that a checkpoint is complete; its status is still the one before.

        kept: what the store has of it, None where it has failed to keep it.
        """

    def failed(self, record: CheckpointRecord, reason: FailureReason) -> None:
        """Note that a checkpoint is given up; its status is still the one before."""

    def notified(self, record: CheckpointRecord) -> None:
        """Note that tasks are told of a completion."""

    def kept(self, numbers: tuple[int, ...], held: Mapping[int, JobCheckpoint]) -> None:
        """Note what the coordinator's core says that it keeps, behind a completion.

        held: what its host holds then, savepoints and what is to be discarded next among it.
        """

    def discarded(self, checkpoint: int) -> None:
        """Note that the coordinator discards a checkpoint."""

    def log_service_cut(self, oldest: int, /) -> None:
        """Note that a log service keeps what is in flight of this checkpoint on, and no older."""

    def abort_notified(self, record: CheckpointRecord) -> None:
        """Note that tasks are told that a checkpoint was given up."""

    def notification_lost(self, task: int, checkpoint: int, *, completed: bool) -> None:
        """Note that a notification never comes to a task."""

    def notification_repeated(self, task: int, checkpoint: int) -> None:
        """Note that a task is told of a completion that was told before, perhaps to another one."""

    def restored(self, checkpoint: JobCheckpoint) -> None:
        """Note that an attempt was made from a checkpoint."""

    def final_request(self, task: TaskGateway, *, asked: bool) -> None:
        """Note a task's report of its end of data, and whether a checkpoint is asked for then."""

    def finished(self, task: TaskGateway) -> None:
        """Note that a task is taken for FINISHED from now on."""


NO_TASK = TaskObserver()
NO_CHANNEL = ChannelObserver()
NO_FILE = FileObserver()
NO_OBSERVER = JobObserver()
