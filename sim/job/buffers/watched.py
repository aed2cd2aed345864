"""The buffer plane as its watchdog sees it: what happens, who waits, how long parts take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.restoring.costs import FIRST
from ckptsim.sim.job.buffers.state import state_sizes
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.job.control.patience import Patience, Times, patience
from ckptsim.sim.job.control.watchdog import REST, RESUMED, waits_of
from ckptsim.sim.kernel import Wait

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld

_SECOND_NS = 1_000_000_000
_MB = 1_000_000
# Files that may be written one after the other for a part: its own and the one of channel state.
_FILES = 2
# A slow file takes no longer than so many of the mean: one of e^12, 160,000, does.
_TAILS = 12


class WatchedBuffers:
    """The attempts of a job on buffers.

    No one shows of each record that is processed here: the event since the watchdog looked last is
    counted when it looks.
    """

    def __init__(self, world: DataflowWorld) -> None:
        self.env = world.env
        self.control = world.control
        self._world = world
        self._signs = (0, 0)
        self._since_ns = world.env.now

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks of the attempt."""
        return self._world.tasks

    @property
    def progress_ns(self) -> int:
        """When records or states of tasks were first seen to be the ones of now."""
        tasks = self._world.tasks
        for task in tasks:
            task.sync()
        states = sum(task.control.lifecycle.core.state for task in tasks)
        signs = sum(task.processed for task in tasks), states
        if signs != self._signs:
            self._signs, self._since_ns = signs, self.env.now
        return self._since_ns

    @property
    def patience(self) -> Patience:
        """For how long the attempt may do nothing."""
        world = self._world
        return patience(world.model, world.faults, longest_times(world))

    def has_records(self) -> bool:
        """Return whether a source can emit, or a task that has not ended its data has some."""
        return any(
            task.has_records
            if isinstance(task, Source)
            else any(c.queued or c.subpartition.core.data_count for c in task.channels)
            for task in self._world.tasks
            if task.ending.data_ended_ns is None
        )

    def waits(self) -> list[Wait]:
        """Return who waits for whom."""
        return waits(self._world)

    def violate(self, name: str, says: str) -> None:
        """Report a property that does not hold."""
        self._world.violate(name, says)


def waits(world: DataflowWorld) -> list[Wait]:
    """Return who waits for whom: the coordinator for tasks, tasks for room, a resume, their end."""
    core = world.coordinator.core
    found = [
        Wait("the coordinator", f"checkpoint {number}", world.graph.tasks[index].name)
        for number in core.pending
        for index in core.awaited(number)
    ]
    for task in world.tasks:
        receivers = [s.input_channel.gate.task.spec.name for s in task.subpartitions]
        senders = [channel.subpartition.owner.spec.name for channel in task.channels]
        name = task.spec.name
        found += waits_of(name, task.control, senders=senders, receivers=receivers)
        for subpartition, receiver in zip(task.subpartitions, receivers, strict=True):
            if subpartition.core.blocked:
                found.append(Wait(name, RESUMED, receiver))
            elif subpartition.core.data_count and task.state in (State.BLOCKED, State.STUCK):
                is_stuck = task.state is State.STUCK
                found.append(Wait(name, REST if is_stuck else "room in an output", receiver))
    return found


def message_ns(world: DataflowWorld) -> int:
    """Return the most that a message takes: on its way, and after all others on the cores."""
    constants, job = world.constants, world.model
    work_ns = constants.message_cost_ns + constants.acknowledge_cost_ns + constants.barrier_cost_ns
    work_ns += constants.file_cost_ns + constants.channel_file_cost_ns + constants.discard_file_ns
    queued_ns = len(world.tasks) * work_ns // constants.cores
    per_mb_ns = constants.state_ns_per_mb + constants.discard_ns_per_mb
    state = sum(map(sum, state_sizes(job).values()))
    held_ns = (constants.channel_ns_per_mb + constants.discard_ns_per_mb) * in_flight_bytes(world)
    queued_ns += (per_mb_ns * state + held_ns) // (_MB * constants.cores)
    return constants.rpc_ns + job.costs.notification_jitter_ns + queued_ns


def in_flight_bytes(world: DataflowWorld) -> int:
    """Return the most that pools and gates can hold in flight."""
    network = world.model.network
    per_channel = network.exclusive_buffers + network.floating_buffers
    per_channel += network.max_buffers_per_channel
    return sum(len(task.channels) for task in world.tasks) * per_channel * network.segment_bytes


def longest_times(world: DataflowWorld) -> Times:
    """Return the longest times of a job's parts, on its machine."""
    constants, job = world.constants, world.model
    network, storage, count = job.network, job.storage, len(world.tasks)
    handled_ns = message_ns(world)
    step_ns = max(task.longest_step_ns for task in world.tasks) + constants.wake_ns
    channel_ns = network.latency_ns + network.jitter_ns + network.send_ns
    channel_ns += network.buffer_timeout_ns + constants.flusher_overshoot_ns
    sync_ns = [job.snapshot_sync_ns(vertex) for vertex in job.vertices]
    file_ns = storage.create_latency_ns + storage.tail_latency_ns
    size = in_flight_bytes(world) + sum(map(sum, state_sizes(job).values()))
    write = least_rate(storage.write_bytes_per_s, storage.write_host_bytes_per_s)
    if write is not None:
        file_ns += 2 * size * _SECOND_NS // write
    file_ns += _requests_ns(world)
    return Times(
        message_ns=handled_ns,
        way_ns=sum(sync_ns) + len(sync_ns) * (step_ns + channel_ns),
        step_ns=max(step_ns, channel_ns),
        gap_ns=max(_longest_gap_ns(world.graph.begun_as(vertex.name)) for vertex in job.vertices),
        snapshot_ns=max(sync_ns) + file_ns + handled_ns,
        completion_ns=constants.complete_ns + constants.pause_ns + job.costs.completion_ns,
        restore_ns=_restore_ns(count) if job.recovery.timed else 0,
        reading_ns=_reading_ns(world, size) if job.recovery.timed else 0,
        closing_ns=constants.finish_ns + constants.cold_finish_ns,
        barrier_ns=2 * (network.latency_ns + network.jitter_ns) + max(sync_ns),
    )


def writing_ns(world: DataflowWorld) -> int:
    """Return within which time a task's part is written, which waits for nothing else."""
    storage = world.model.storage
    file_ns = storage.create_latency_ns + _requests_ns(world)
    if storage.tail_ratio:
        file_ns += _TAILS * storage.tail_latency_ns
    return _FILES * (file_ns + message_ns(world) + world.faults.slow_files_ns)


def bytes_ns(world: DataflowWorld) -> int:
    """Return what all files of checkpoints take that are not complete, one after the other."""
    storage = world.model.storage
    rate = least_rate(storage.write_bytes_per_s, storage.write_host_bytes_per_s)
    if rate is None:
        return 0
    records = world.coordinator.records.values()
    size = sum(sum(one.file_sizes) for one in records if one.status != "completed")
    return _FILES * size * _SECOND_NS // rate


def _restore_ns(count: int) -> int:
    """Return what a failover takes, without what it reads. The first one takes longest."""
    alone_ns = FIRST.report_ns + FIRST.cancel_ns + FIRST.restart_ns + FIRST.schedule_ns
    alone_ns += FIRST.deploy_ns + FIRST.open_ns + FIRST.request_ns + FIRST.slot_ns
    return alone_ns + count * (FIRST.deploy_cost_ns + FIRST.open_cost_ns)


def _reading_ns(world: DataflowWorld, size: int) -> int:
    """Return what reading so many bytes takes."""
    storage, constants = world.model.storage, world.constants
    rate = least_rate(storage.read_bytes_per_s, storage.read_host_bytes_per_s)
    each_ns = constants.state_ns_per_mb + constants.channel_ns_per_mb + constants.restore_ns_per_mb
    work_ns = each_ns * size // _MB + len(world.tasks) * constants.open_rocksdb_ns
    work_ns += storage.open_latency_ns + _requests_ns(world)
    return work_ns + (0 if rate is None else 2 * size * _SECOND_NS // rate)


def least_rate(*rates: int | None) -> int | None:
    """Return the least of several limits, None for none."""
    return min((rate for rate in rates if rate is not None), default=None)


def _requests_ns(world: DataflowWorld) -> int:
    """Return how long requests wait for their turn. A subtask has some files at a time."""
    storage = world.model.storage
    if storage.requests_per_s is None:
        return 0
    return round(_FILES * _SECOND_NS * len(world.tasks) / storage.requests_per_s)


def _longest_gap_ns(vertex: Vertex) -> int:
    """Return the longest time between two records of a source. 0 where it has no rate."""
    instants = (0, *(change.at_ns for change in vertex.rate_changes))
    return max(
        vertex.gap_of(subtask, at_ns) or 0
        for subtask in range(vertex.parallelism)
        for at_ns in instants
    )
