"""How long the parts of a job on records take, for the watchdog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.control.patience import Times

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job, Vertex
    from ckptsim.sim.job.control.faults import FaultPlan
    from ckptsim.sim.job.graph import Graph

# Files that may be written one after the other for a part: its own and the one of channel state.
_FILES = 2


def longest_times(job: Job, graph: Graph) -> Times:
    """Return the longest times of a job's parts, as the scenario sets them."""
    costs, channels = job.costs, job.channels
    # A record in more buffers than its receiver has waits for the credit of those that were read.
    rounds = (channels.record_buffers - 1) // max(1, channels.receiver_records)
    channel_ns = (1 + 2 * rounds) * channels.latency_ns + channels.end_of_partition_ns
    copies = max(graph.output_count(task.index) for task in graph.tasks)
    steps = [_step_ns(job, vertex, copies) for vertex in job.vertices]
    sync_ns = [job.snapshot_sync_ns(vertex) for vertex in job.vertices]
    async_ns = costs.snapshot_async_ns + costs.snapshot_jitter_ns
    held = len(graph.channels) * (channels.sender_records + channels.receiver_records)
    pieces = 2 * len(graph.channels)  # a piece for each end
    return Times(
        message_ns=costs.rpc_ns + costs.rpc_jitter_ns + costs.notification_jitter_ns,
        way_ns=sum(steps) + sum(sync_ns) + len(steps) * channel_ns,
        step_ns=max(*steps, channel_ns),
        gap_ns=max(
            vertex.pause_of(subtask)
            for vertex in map(graph.begun_as, graph.subtasks)
            for subtask in range(vertex.parallelism)
        ),
        snapshot_ns=max(sync_ns) + async_ns,
        completion_ns=costs.completion_ns,
        restore_ns=costs.restore_ns,
        reading_ns=costs.read_record_ns * held + job.channel_state.read_piece_ns * pieces,
        closing_ns=costs.closing_ns,
        barrier_ns=2 * channels.latency_ns + max(sync_ns),
    )


def writing_ns(job: Job, graph: Graph, faults: FaultPlan) -> int | None:
    """Return within which time a part is written, None where a log writer takes what it takes."""
    if job.channel_state.is_logged:
        return None
    channels, times = job.channels, longest_times(job, graph)
    held = channels.sender_records + channels.receiver_records + channels.record_buffers
    files_ns = job.channel_state.write_record_ns * held * len(graph.channels)
    return _FILES * (times.snapshot_ns + faults.slow_files_ns) + files_ns


def _step_ns(job: Job, vertex: Vertex, copies: int) -> int:
    """Return how long a record keeps a thread at most that sends so many copies of it on."""
    own_ns = vertex.service_ns + vertex.service_step_ns * vertex.parallelism
    slowest_ns = max(map(vertex.service_of, range(vertex.parallelism)))
    slowest_ns += vertex.service_step_ns * vertex.parallelism
    logged_ns = job.costs.log_message_ns + job.costs.carry_index_ns
    return max(own_ns, slowest_ns) + logged_ns * copies
