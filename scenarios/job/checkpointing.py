"""When the checkpoints of a job are triggered, and how they treat in-flight data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.scenarios.fields import choice, count, duration_ns, flag
from ckptsim.scenarios.limits import (
    not_in_pipelines,
    not_in_pipelines_on_records,
    not_on_buffers,
    not_on_records,
)

_JOB = "assumption: part of the job"
_CHECKPOINTS = "Source: Apache Flink 1.20.3, ExecutionCheckpointingOptions"
_COMMITS = not_in_pipelines("its sinks commit with checkpoints of the whole job")


class Mode(StrEnum):
    """How checkpoints treat in-flight data."""

    ALIGNED = "aligned"
    UNALIGNED = "unaligned"
    ALIGNED_TIMEOUT = "aligned_timeout"
    AT_LEAST_ONCE = "at_least_once"


class CheckpointProtocol(StrEnum):
    """Who decides that a task takes a checkpoint."""

    COORDINATED = "coordinated"
    UNCOORDINATED = "uncoordinated"
    COMMUNICATION_INDUCED = "communication_induced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpointing:
    """When checkpoints are taken, and how."""

    SOURCE = _CHECKPOINTS

    enabled: bool = flag(True, says="checkpoints are taken at all", source=_JOB, limits=_COMMITS)
    protocol: CheckpointProtocol = choice(
        "coordinated",
        CheckpointProtocol,
        says="who decides that a task takes a checkpoint: barriers, the task, or its messages too",
        source="Source: Elnozahy et al. (2002); coordinated is what Flink does",
        limits=not_on_buffers("its messages cannot be logged") + _COMMITS,
    )
    message_logs: bool = flag(
        True,
        says="without barriers senders log all messages, and a restart sends them again",
        source="Source: Elnozahy et al. (2002), sender-based logging; off shows the domino effect",
        limits=not_on_buffers("all checkpoints are coordinated") + _COMMITS,
    )
    mode: Mode = choice("aligned", Mode, says="treatment of in-flight data")
    aligned_timeout_ns: int = duration_ns(
        0, maximum="10 d", says="after which an aligned_timeout one stops waiting"
    )
    interval_ns: int = duration_ns(
        "1 s", minimum="1 us", maximum="10 d", says="time between two triggers", source=_JOB
    )
    first_trigger_ns: int | None = duration_ns(
        None,
        optional=True,
        says="instant of the first trigger; absent: drawn between pause and interval as Flink "
        "does, on records after one interval",
        source="Source: Apache Flink 1.20.3, CheckpointCoordinator.getRandomInitDelay",
    )
    interval_during_backlog_ns: int | None = duration_ns(
        None,
        optional=True,
        maximum="10 d",
        says="time between two triggers while a source starts up; 0: none meanwhile; absent: as "
        "`interval`",
        source=_CHECKPOINTS + ", execution.checkpointing.interval-during-backlog",
        limits=not_on_records("no source starts up")
        + not_in_pipelines("its readers take part at once"),
    )
    min_pause_ns: int = duration_ns(
        0, says="least time from a completion to the next periodic trigger"
    )
    timeout_ns: int = duration_ns("10 min", minimum="1 us", says="after which a checkpoint expires")
    max_concurrent: int = count(
        1, minimum=1, maximum=100, unit="checkpoints", says="checkpoints under way at once"
    )
    max_queued: int = count(
        1000,
        minimum=1,
        maximum=1_000_000,
        unit="requests",
        says="requests for checkpoints and savepoints that wait for their turn; of more, the last "
        "periodic one is dropped, else the new one",
        source="Source: Apache Flink 1.20.3, CheckpointRequestDecider (1000, no option)",
    )
    tolerable_failures: int = count(
        0, unit="checkpoints", says="failed ones in a row that the job survives"
    )
    retained: int = count(
        1,
        minimum=1,
        maximum=1_000,
        unit="checkpoints",
        says="completed ones that are kept; the one that goes is deleted",
        source="Source: Apache Flink 1.20.3, CheckpointingOptions",
        limits=not_in_pipelines_on_records("it restores the newest, and to delete one is free"),
    )
    after_finish: bool = flag(
        True,
        says="checkpoints continue after tasks have finished",
        source="Source: Apache Flink 1.20.3, "
        "execution.checkpointing.checkpoints-after-tasks-finish",
        limits=_COMMITS,
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
    subtasks_per_file: int = count(
        5,
        minimum=1,
        maximum=1_000,
        unit="subtasks",
        says="at most so many share a file of channel state",
        source="Source: Apache Flink 1.20.3, "
        "execution.checkpointing.unaligned.max-subtasks-per-channel-state-file",
    )
    recover_without_channel_state: int | None = count(
        None,
        optional=True,
        minimum=1,
        unit="checkpoint",
        says="number of the checkpoint that a restart takes without its in-flight data, which is "
        "lost: for one of which that cannot be read",
        source="Source: Apache Flink 1.20.3, "
        "execution.checkpointing.recover-without-channel-state.checkpoint-id",
    )
    savepoint_at_ns: int | None = duration_ns(
        None, optional=True, minimum=1, says="when a savepoint is asked for", source=_JOB
    )
    count: int | None = count(
        None,
        optional=True,
        minimum=1,
        unit="checkpoints",
        says="completed ones that end the run",
        source=_JOB,
        limits=not_in_pipelines("it ends with its input"),
    )

    @property
    def coordinated(self) -> bool:
        """Whether a coordinator triggers checkpoints of all tasks, by barriers."""
        return self.enabled and self.protocol is CheckpointProtocol.COORDINATED

    @property
    def exactly_once(self) -> bool:
        """Whether a restart repeats no effect on state."""
        return self.mode is not Mode.AT_LEAST_ONCE

    @property
    def unaligned(self) -> bool:
        """Whether barriers may overtake data at all."""
        return self.mode in (Mode.UNALIGNED, Mode.ALIGNED_TIMEOUT)

    @property
    def alignment_ends_after_ns(self) -> int:
        """After which an alignment stops waiting. 0 when it does not wait or waits to its end."""
        return self.aligned_timeout_ns if self.mode is Mode.ALIGNED_TIMEOUT else 0
