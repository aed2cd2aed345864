"""Jobs at the granularity of records: what the protocols of a dataflow job are hunted on.

A job is a graph of vertices with subtasks, whose channels carry records one by one together with
barriers and end marks.  Every record has an identity, so the world knows where each one is.  Costs
are few and may be zero; the calibrated model of buffers and rates is another link.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import (
    REQUIRED,
    choice,
    count,
    duration_ns,
    flag,
    many,
    nested,
    ratio,
)
from ckptsim.scenarios.job_graph import (
    ALWAYS_ALIGNED,
    POINTWISE,
    Edge,
    Partitioner,
    Vertex,
    VertexKind,
    graph_problems,
    spelled_out,
)

__all__ = [
    "ALWAYS_ALIGNED",
    "POINTWISE",
    "Channels",
    "Checkpointing",
    "Costs",
    "Edge",
    "Ending",
    "Job",
    "Mode",
    "Partitioner",
    "Protocol",
    "StopKind",
    "Vertex",
    "VertexKind",
]

_JOB = "assumption: part of the job"
_SMALL = "assumption: small enough to be hunted in milliseconds"
_FLINK = "Source: Apache Flink 1.20.3, "


class Mode(StrEnum):
    """How checkpoints treat records in flight."""

    ALIGNED = "aligned"
    UNALIGNED = "unaligned"
    ALIGNED_TIMEOUT = "aligned_timeout"
    AT_LEAST_ONCE = "at_least_once"


class Protocol(StrEnum):
    """How tasks end: released Flink, the FLIP as written, or each task for itself."""

    FLINK = "flink"
    FLIP = "flip"
    NAIVE = "naive"


class StopKind(StrEnum):
    """How stop-with-savepoint ends the job."""

    DRAIN = "drain"
    NO_DRAIN = "no_drain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """What every channel between two subtasks can hold, and what passing it costs."""

    sender_records: int = count(
        4,
        minimum=1,
        maximum=100_000,
        unit="records",
        says="room in the sender's queue",
        source=_SMALL,
    )
    receiver_records: int = count(
        4, minimum=1, maximum=100_000, unit="records", says="credit of the receiver", source=_SMALL
    )
    preloaded_records: int = count(
        0,
        maximum=10_000,
        unit="records",
        says="records that every channel holds at the start, as if processed upstream, on top of "
        "those that the source emits",
        source="assumption: stands for a backlog that has built up",
    )
    latency_ns: int = duration_ns(0, maximum="1 min", says="time on the wire", source=_SMALL)
    end_of_partition_ns: int = duration_ns(
        0, maximum="1 min", says="time that EndOfPartition takes on top", source=_SMALL
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpointing:
    """When checkpoints are triggered and what they cost."""

    enabled: bool = flag(True, says="checkpoints are taken at all", source=_JOB)
    mode: Mode = choice("aligned", Mode, says="how records in flight are treated", source=_JOB)
    interval_ns: int = duration_ns(
        "20 ms", minimum="1 us", maximum="10 d", says="time between triggers", source=_SMALL
    )
    first_trigger_ns: int | None = duration_ns(
        None,
        says="instant of the first trigger; absent: one interval",
        source=_SMALL,
        optional=True,
    )
    alignment_timeout_ns: int = duration_ns(
        "5 ms", maximum="10 d", says="after which alignment gives way", source=_SMALL
    )
    timeout_ns: int = duration_ns(
        "10 min",
        minimum="1 us",
        says="after which a checkpoint expires",
        source=_FLINK + "CheckpointConfig",
    )
    min_pause_ns: int = duration_ns(
        0, says="from a completion to the next periodic trigger", source=_FLINK + "CheckpointConfig"
    )
    max_concurrent: int = count(
        1,
        minimum=1,
        maximum=100,
        unit="checkpoints",
        says="checkpoints under way at once",
        source=_FLINK + "CheckpointConfig",
    )
    tolerable_failures: int = count(
        1_000,
        unit="checkpoints",
        says="failed ones in a row that the job survives",
        source="assumption: high, so that a hunt goes on; Flink's default is 0",
    )
    retained: int = count(
        1,
        minimum=1,
        maximum=1_000,
        unit="checkpoints",
        says="completed ones that are kept",
        source=_FLINK + "CheckpointConfig",
    )
    after_finish: bool = flag(
        True,
        says="checkpoints go on after tasks have finished",
        source=_FLINK + "execution.checkpointing.checkpoints-after-tasks-finish",
    )
    immediate_final: bool | None = flag(
        None,
        says="a checkpoint is triggered when all tasks have reached the end of data; absent: as "
        "`ending.protocol` has it, on for `flink` and off for `flip`",
        source="Source: Apache Flink 1.18, FLINK-28386; FLIP-147 waits for the next periodic one",
        optional=True,
    )
    skip_missed_ticks: bool = flag(
        False,
        says="a periodic trigger that meets a running checkpoint is skipped, not queued",
        source="Source: Apache Flink queues it; skipping makes closed forms simple",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What messages and snapshots cost."""

    rpc_ns: int = duration_ns(
        0, maximum="1 min", says="a message to or from the coordinator", source=_SMALL
    )
    rpc_jitter_ns: int = duration_ns(
        0, maximum="1 min", says="at most added to a message, by chance", source=_SMALL
    )
    messages_in_order: bool = flag(
        True,
        says="triggers and words of completions that arrive at one instant keep their order",
        source="assumption; off: ties decide, as the coordinator's threads send them side by side",
    )
    notification_jitter_ns: int = duration_ns(
        0,
        maximum="1 min",
        says="at most added to a notification, by chance: notifications can change order",
        source=_SMALL,
    )
    notification_loss_ratio: float = ratio(
        0.0, says="share of completion notifications that are lost", source=_SMALL
    )
    snapshot_sync_ns: int = duration_ns(
        0, maximum="1 min", says="the task thread's part of a snapshot", source=_SMALL
    )
    snapshot_async_ns: int = duration_ns(
        0, maximum="1 h", says="from there to the acknowledgement", source=_SMALL
    )
    snapshot_jitter_ns: int = duration_ns(
        0, maximum="1 h", says="at most added to the asynchronous part, by chance", source=_SMALL
    )
    checkpoint_failure_ratio: float = ratio(
        0.0, says="share of checkpoints that fail when they are to be stored", source=_SMALL
    )
    completion_ns: int = duration_ns(
        0, maximum="1 h", says="from the last acknowledgement to the notifications", source=_SMALL
    )
    restart_ns: int = duration_ns(
        "10 ms", maximum="1 h", says="from a failure to the next attempt", source=_SMALL
    )
    restore_ns: int = duration_ns(
        0,
        maximum="1 h",
        says="from there to the work of a restored task, which declines triggers until then",
        source=_SMALL,
    )
    closing_ns: int = duration_ns(
        0,
        maximum="1 min",
        says="from a task's close to its end; asked meanwhile it says so, afterwards it is unknown",
        source=_SMALL,
    )
    transaction_timeout_ns: int | None = duration_ns(
        None,
        minimum="1 us",
        says="after which the external system aborts a transaction that nobody has ended; absent: "
        "not before the job is over",
        source="Source: Apache Kafka, transaction.timeout.ms (1 min by default, at most 15 min)",
        optional=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the tasks end, and whether the user stops the job."""

    protocol: Protocol = choice("flink", Protocol, says="whose rules tasks follow", source=_JOB)
    acknowledgements: bool = flag(
        True,
        says="a task waits until its EndOfData is acknowledged",
        source="Source: FLIP-147; off for comparison only",
    )
    stop_at_ns: int | None = duration_ns(
        None, says="instant of a stop-with-savepoint", source=_JOB, optional=True
    )
    stop_kind: StopKind = choice(
        "drain", StopKind, says="whether the stop drains the job", source=_JOB
    )
    horizon_ns: int = duration_ns(
        "10 min",
        minimum="1 us",
        says="when a job with an endless source is stopped with drain",
        source=_SMALL,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job, its checkpoints, its costs and its end."""

    vertices: tuple[Vertex, ...] = many(
        Vertex, REQUIRED, says="the vertices", source=_JOB, minimum=1, maximum=64
    )
    edges: tuple[Edge, ...] = many(Edge, says="the edges", source=_JOB, maximum=256)
    channels: Channels = nested(Channels, says="every channel", source=_JOB)
    checkpointing: Checkpointing = nested(Checkpointing, says="checkpoints", source=_JOB)
    costs: Costs = nested(Costs, says="costs", source=_JOB)
    ending: Ending = nested(Ending, says="the end", source=_JOB)

    def spelled_out(self) -> Job:
        """Return the same job with every vertex standing once."""
        vertices, edges = spelled_out(self.vertices, self.edges)
        return replace(self, vertices=vertices, edges=edges)

    def problems(self) -> list[Problem]:
        """Return what does not hold between the values."""
        found = graph_problems(self.vertices, self.edges)
        chain = [(one.name, next_.name) for one, next_ in pairwise(self.vertices)]
        single = all(vertex.parallelism == 1 for vertex in self.vertices)
        if self.channels.preloaded_records and (
            not single or [(edge.upstream, edge.downstream) for edge in self.edges] != chain
        ):
            found.append(
                Problem(
                    "channels.preloaded_records",
                    str(self.channels.preloaded_records),
                    "0, unless the job is a chain of single subtasks in order",
                )
            )
        overtaking = self.checkpointing.mode in (Mode.UNALIGNED, Mode.ALIGNED_TIMEOUT)
        if overtaking and self.checkpointing.max_concurrent > 1:
            found.append(
                Problem(
                    "checkpointing.max_concurrent",
                    str(self.checkpointing.max_concurrent),
                    "1, because unaligned checkpoints do not run concurrently",
                )
            )
        return found
