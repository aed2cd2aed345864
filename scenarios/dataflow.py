"""Parameters of a dataflow job: graph, network, checkpoints, storage, placement.

The defaults are Flink's own; where Flink has none they are a small job that is slow at its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import (
    REQUIRED,
    choice,
    count,
    duration_ns,
    flag,
    many,
    name,
    nested,
    number,
    rate_bytes_per_s,
    rate_per_s,
    ratio,
    size_bytes,
)
from ckptsim.scenarios.graphs import cycle, repeated

_JOB = "assumption: a small job, to be replaced by the job in question"
_FLINK = "Source: Apache Flink 1.20.3, TaskManagerOptions"
_CHECKPOINTS = "Source: Apache Flink 1.20.3, ExecutionCheckpointingOptions"
_LOOPBACK = "assumption: loopback network with thread wake-ups"
_STORE = "assumption: order of magnitude of an object store"


class Partitioner(StrEnum):
    """How the records of an edge are distributed."""

    FORWARD = "forward"
    REBALANCE = "rebalance"
    KEY_BY = "keyBy"
    SHUFFLE = "shuffle"
    RESCALE = "rescale"
    BROADCAST = "broadcast"
    GLOBAL = "global"


class PlacementKind(StrEnum):
    """Which subtasks share a task manager."""

    REMOTE = "remote"  # none
    LOCAL = "local"  # all
    MIXED = "mixed"  # those of equal index


class CheckpointMode(StrEnum):
    """How checkpoints treat data in flight."""

    ALIGNED = "aligned"
    UNALIGNED = "unaligned"
    ALIGNED_TIMEOUT = "aligned_timeout"
    AT_LEAST_ONCE = "at_least_once"


class Engine(StrEnum):
    """Which driver of the one model runs it; all give the same trace."""

    CALLBACKS = "callbacks"
    STRETCHES = "stretches"  # callbacks, and whole stretches at once where nothing happens but data
    PROCESSES = "processes"  # record by record in SimPy processes: slow, the reference


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """A source."""

    name: str = name("source", says="its name", source=_JOB)
    parallelism: int = count(1, minimum=1, maximum=1024, says="subtasks", source=_JOB)
    rate_per_s: float | None = rate_per_s(
        None,
        optional=True,
        minimum=0.001,
        says="records per second of all subtasks together, absent for as fast as possible",
        source=_JOB,
    )
    hot_ratio: float = ratio(0.0, says="share of records with a key of subtask 0", source=_JOB)
    stop_after_ns: int | None = duration_ns(
        None, optional=True, minimum=1, says="when the source ends", source=_JOB
    )
    records: int | None = count(
        None, optional=True, minimum=1, says="after how many records it ends", source=_JOB
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class InputTable:
    """An edge into an operator."""

    upstream: str = name(REQUIRED, says="the task that it comes from", source=_JOB)
    partitioner: Partitioner = choice(
        "rebalance", Partitioner, says="how records are distributed", source=_JOB
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorTable:
    """An operator; it is one task per subtask, nothing is chained to it but a free sink."""

    name: str = name("operator", says="its name", source=_JOB)
    parallelism: int = count(1, minimum=1, maximum=1024, says="subtasks", source=_JOB)
    inputs: tuple[InputTable, ...] = many(
        InputTable,
        REQUIRED,
        minimum=1,
        maximum=16,
        says="edges into it, more than one for a union",
        source=_JOB,
    )
    two_input: bool = flag(
        False, says="two inputs of their own (connect) instead of a union", source=_JOB
    )
    service_ns: int = duration_ns("1 ms", says="time to process one record", source=_JOB)
    slow_subtask_factor: float = number(
        1.0, minimum=0.01, maximum=1000.0, says="times the service at subtask 0", source=_JOB
    )
    state_bytes: int = size_bytes(0, says="keyed state of all subtasks together", source=_JOB)
    snapshot_sync_ns: int = duration_ns(
        "0 ms",
        says="how long copying the state keeps the thread, at each checkpoint",
        source="assumption: a backend that copies on write; measured: 0 ms in the median",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkTable:
    """Records, buffers and the network between task managers."""

    record_bytes: int = size_bytes(
        "1 KiB", minimum=1, maximum="64 MiB", says="one serialised record", source=_JOB
    )
    segment_bytes: int = size_bytes(
        "32 KiB", minimum=256, maximum="64 MiB", says="one buffer", source=_FLINK
    )
    exclusive_buffers: int = count(
        2, maximum=1000, says="buffers that a remote channel owns", source=_FLINK
    )
    floating_buffers: int = count(
        8,
        minimum=1,
        maximum=10_000,
        says="buffers that the channels of a gate share",
        source=_FLINK,
    )
    max_buffers_per_channel: int = count(
        10, minimum=2, maximum=10_000, says="most buffers of one outgoing channel", source=_FLINK
    )
    max_overdraft_buffers: int = count(
        5, maximum=10_000, says="buffers beyond the pool to finish one record", source=_FLINK
    )
    buffer_timeout_ns: int = duration_ns(
        "100 ms",
        says="flush interval, 0 for never",
        source="Source: Apache Flink 1.20.3, execution.buffer-timeout.interval",
    )
    debloat: bool = flag(False, says="shrink buffers to a target time", source=_FLINK)
    debloat_target_ns: int = duration_ns(
        "1 s", minimum="1 ms", says="time that buffered data may take", source=_FLINK
    )
    latency_ns: int = duration_ns(
        "150 us", says="least time of a message one way", source=_LOOPBACK
    )
    jitter_ns: int = duration_ns(
        "100 us", says="mean of what comes on top, exponential", source=_LOOPBACK
    )
    send_ns: int = duration_ns("40 us", says="time to write one buffer", source=_LOOPBACK)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTable:
    """When checkpoints are taken, and how."""

    mode: CheckpointMode = choice(
        "aligned", CheckpointMode, says="how data in flight is treated", source=_CHECKPOINTS
    )
    aligned_timeout_ns: int = duration_ns(
        "0 ms", says="when an aligned_timeout one stops waiting", source=_CHECKPOINTS
    )
    interval_ns: int = duration_ns(
        "1 s", minimum="10 ms", says="time between two triggers", source=_JOB
    )
    min_pause_ns: int = duration_ns(
        "0 ms", says="least time from a completion to the next trigger", source=_CHECKPOINTS
    )
    timeout_ns: int = duration_ns(
        "10 min", minimum="10 ms", says="when a checkpoint is given up", source=_CHECKPOINTS
    )
    max_concurrent: int = count(
        1, minimum=1, maximum=100, says="checkpoints at once", source=_CHECKPOINTS
    )
    tolerable_failures: int = count(
        0, maximum=1_000_000, says="failed ones in a row that the job survives", source=_CHECKPOINTS
    )
    first_trigger_ns: int | None = duration_ns(
        None,
        optional=True,
        minimum=1,
        says="the first trigger, absent for drawn between pause and interval",
        source="Source: Apache Flink 1.20.3, CheckpointCoordinator.getRandomInitDelay",
    )
    retained: int = count(
        1,
        minimum=1,
        maximum=1000,
        says="completed ones that are kept; the one that goes is deleted",
        source="Source: Apache Flink 1.20.3, CheckpointingOptions",
    )
    savepoint_at_ns: int | None = duration_ns(
        None, optional=True, minimum=1, says="when a savepoint is asked for", source=_JOB
    )
    count: int | None = count(
        None, optional=True, minimum=1, says="completed checkpoints that end the run", source=_JOB
    )

    @property
    def exactly_once(self) -> bool:
        """Whether a restart repeats no effect on state."""
        return self.mode is not CheckpointMode.AT_LEAST_ONCE

    @property
    def unaligned(self) -> bool:
        """Whether barriers may overtake data at all."""
        return self.mode in (CheckpointMode.UNALIGNED, CheckpointMode.ALIGNED_TIMEOUT)

    @property
    def alignment_timeout_ns(self) -> int:
        """After which an alignment stops waiting; 0 when it does not wait."""
        return self.aligned_timeout_ns if self.mode is CheckpointMode.ALIGNED_TIMEOUT else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageTable:
    """Where checkpoints are written."""

    write_bytes_per_s: int | None = rate_bytes_per_s(
        None, optional=True, says="limit of one stream or of all, absent for none", source=_STORE
    )
    shared_limit: bool = flag(False, says="all streams share the limit", source=_STORE)
    create_latency_ns: int = duration_ns("0 ms", says="time to create a file", source=_STORE)
    tail_ratio: float = ratio(0.0, says="share of files that are created late", source=_STORE)
    tail_latency_ns: int = duration_ns(
        "0 ms", says="mean of what those take longer, exponential", source=_STORE
    )
    failure_ratio: float = ratio(0.0, says="share of files that cannot be written", source=_STORE)
    inline_threshold_bytes: int = size_bytes(
        "20 KiB",
        says="smaller state travels in the acknowledgement",
        source="Source: Apache Flink 1.20.3, execution.checkpointing.data-inline-threshold",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DataflowModel:
    """A dataflow job."""

    sources: tuple[SourceTable, ...] = many(
        SourceTable, (SourceTable(),), minimum=1, maximum=16, says="the sources", source=_JOB
    )
    operators: tuple[OperatorTable, ...] = many(
        OperatorTable,
        (OperatorTable(inputs=(InputTable(upstream="source"),)),),
        minimum=1,
        maximum=64,
        says="the operators, each behind those that it reads from",
        source=_JOB,
    )
    placement: PlacementKind = choice(
        "remote", PlacementKind, says="which subtasks share a task manager", source=_JOB
    )
    network: NetworkTable = nested(NetworkTable, says="records, buffers and network")
    checkpoint: CheckpointTable = nested(CheckpointTable, says="checkpoints")
    storage: StorageTable = nested(StorageTable, says="checkpoint storage")
    duration_ns: int = duration_ns(
        "20 s", minimum=1, says="the run ends here if not before", source=_JOB
    )
    engine: Engine = choice(
        "callbacks", Engine, says="the driver", source="assumption: the fast one"
    )

    @property
    def vertices(self) -> tuple[SourceTable | OperatorTable, ...]:
        """Return sources and operators, as faults name them."""
        return (*self.sources, *self.operators)

    def problems(self) -> list[Problem]:
        """Return what does not fit together."""
        found = self._name_problems()
        return found or [*self._edge_problems(), *self._mode_problems()]

    def _name_problems(self) -> list[Problem]:
        names = [s.name for s in self.sources] + [o.name for o in self.operators]
        found = []
        for position, twice in repeated(names):
            inside = position - len(self.sources)
            place = f"operators[{inside}]" if inside >= 0 else f"sources[{position}]"
            found.append(Problem(f"{place}.name", f'"{twice}"', "a name that is not taken"))
        for index, operator in enumerate(self.operators):
            for edge_index, edge in enumerate(operator.inputs):
                if edge.upstream not in names:
                    path = f"operators[{index}].inputs[{edge_index}].upstream"
                    found.append(Problem(path, f'"{edge.upstream}"', "the name of a task"))
        read = {edge.upstream for operator in self.operators for edge in operator.inputs}
        for index, source in enumerate(self.sources):
            if source.name not in read:
                path = f"sources[{index}].name"
                found.append(Problem(path, f'"{source.name}"', "a source that an operator reads"))
        circle = cycle({o.name: [e.upstream for e in o.inputs] for o in self.operators})
        if circle and not found:
            found.append(Problem("operators", " -> ".join(circle), "a graph without cycles"))
        return found

    def _edge_problems(self) -> list[Problem]:
        width = {source.name: source.parallelism for source in self.sources}
        width |= {operator.name: operator.parallelism for operator in self.operators}
        found = []
        for index, operator in enumerate(self.operators):
            for place, edge in enumerate(operator.inputs):
                unequal = width[edge.upstream] != operator.parallelism
                if edge.partitioner is Partitioner.FORWARD and unequal:
                    path = f"operators[{index}].inputs[{place}].partitioner"
                    found.append(Problem(path, '"forward"', "equal parallelism at both ends"))
            if operator.two_input and len(operator.inputs) != 2:
                path = f"operators[{index}].two_input"
                found.append(Problem(path, "true", "exactly two inputs"))
        return found

    def _mode_problems(self) -> list[Problem]:
        table = self.checkpoint
        if table.unaligned and table.max_concurrent != 1:
            return [
                Problem("checkpoint.max_concurrent", str(table.max_concurrent), "1 (unaligned)")
            ]
        return []
