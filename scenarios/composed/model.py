"""The composed pipeline: a source on sockets, a job with barriers, a store, and the platform.

Partitions of the source are read concurrently and travel over sockets to the readers of a job.
Records go through its stages to a sink, which writes them with each checkpoint to a store. The
durable data there is reported to the ordering core, which returns the source's states to the
platform.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.scenarios import graphs
from ckptsim.scenarios import job as jobs
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
    rate_per_s,
)
from ckptsim.scenarios.job.job import unaligned_problems
from ckptsim.scenarios.limits import PIPELINE, limit_problems, not_in_pipelines_on_records
from ckptsim.scenarios.store import StepCosts
from ckptsim.scenarios.sync import (
    DestinationTable,
    Outcome,
    PlatformTable,
    SocketTable,
    SourceTable,
    StateKind,
    StreamTable,
    SyncModel,
)

_SMALL = "assumption: small enough to be hunted in milliseconds"
_CHOICE = "assumption: a choice of the user"
_LOCAL = "assumption: order of magnitude of a local process"

READERS, SINK = "readers", "sink"


class Placement(StrEnum):
    """Where a sink's checkpoint lies, relative to the data it speaks of."""

    COLOCATED = "colocated"
    EXTERNAL = "external"
    CONSUMER_GROUP_BLOB = "consumer_group_blob"


class StepOrder(StrEnum):
    """Which of the two durable steps of a commit comes first, where they are two."""

    DATA_FIRST = "data_first"
    CHECKPOINT_FIRST = "checkpoint_first"


class Writes(StrEnum):
    """What a record becomes in the store."""

    UPSERT = "upsert"  # one row, however often it is written
    APPEND = "append"  # a row for each time that it is written


class OffsetReset(StrEnum):
    """What a consumer group that has no offset takes for committed."""

    EARLIEST = "earliest"  # nothing
    LATEST = "latest"  # everything


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The source subtasks of the job. They take turns at the sockets."""

    SOURCE = _SMALL

    parallelism: int = count(2, minimum=1, maximum=64, unit="subtasks", says="number of subtasks")
    rate_per_s: float | None = rate_per_s(
        20_000.0,
        optional=True,
        minimum=0.00001,
        says="records per second of all subtasks together, at most; absent: as fast as they come, "
        "1 us for each",
    )
    buffer_records: int = count(
        40,
        minimum=1,
        maximum=1_000_000,
        unit="records",
        says="read from the sockets and not yet emitted, per subtask",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage between readers and sink."""

    SOURCE = _CHOICE

    name: str = name(REQUIRED, says="name of the stage")
    parallelism: int = count(
        2, minimum=1, maximum=64, unit="subtasks", says="number of subtasks", source=_SMALL
    )
    partitioner: jobs.Partitioner = choice(
        "hash", jobs.Partitioner, says="how records choose a subtask of it"
    )
    service_ns: int = duration_ns(
        "200 us", maximum="1 h", says="time to process one record", source=_SMALL
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """The sink: its transactions are committed when their checkpoint is complete."""

    SOURCE = _SMALL

    parallelism: int = count(2, minimum=1, maximum=64, unit="subtasks", says="number of subtasks")
    partitioner: jobs.Partitioner = choice(
        "hash", jobs.Partitioner, says="how records choose a subtask of it", source=_CHOICE
    )
    service_ns: int = duration_ns("100 us", maximum="1 h", says="time to process one record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Where the sink's data and checkpoints lie, how they get there, and what it costs."""

    SOURCE = _CHOICE

    placement: Placement = choice("colocated", Placement, says="where checkpoints lie")
    order: StepOrder = choice("data_first", StepOrder, says="which durable step comes first")
    hooked: bool = flag(True, says="whether a commit flushes the user's data store")
    own_flush_ns: int = duration_ns(
        "40 ms", minimum="1 us", says="time between two flushes of a data store that is not hooked"
    )
    writes: Writes = choice("upsert", Writes, says="what a record becomes")
    reset: OffsetReset = choice(
        "earliest",
        OffsetReset,
        says="where a group without offset starts",
        source="Source: Apache Kafka, auto.offset.reset.",
    )
    costs: StepCosts = nested(StepCosts, says="what each durable step costs")
    spread: float = number(
        0.4,
        minimum=0.0,
        maximum=3.0,
        says="sigma of the lognormal distribution of each local step",
        source="assumption: 95th percentile at twice the median",
    )
    report_ns: int = duration_ns(
        0, maximum="1 h", says="from a commit to its report, at most, by chance", source=_SMALL
    )
    retry_ns: int = duration_ns(
        "5 ms", minimum="1 us", says="until a refused commit is tried again", source=_SMALL
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """How the destination takes input in and returns states."""

    SOURCE = _LOCAL

    record_ns: int = duration_ns("4 us", says="time to take one record in")
    heartbeat_ns: int | None = duration_ns(
        "60 s",
        optional=True,
        minimum="1 ms",
        says="time between two flushes that no data has asked for",
        source="Source: airbytehq/airbyte, PR #60833.",
    )
    send_ns: int = duration_ns("500 us", says="median time of a send")
    send_spread: float = number(
        0.3, minimum=0.0, maximum=3.0, says="sigma of its lognormal distribution"
    )
    send_tries: int = count(5, minimum=1, maximum=100, says="failed sends in a row that end it")
    end_wait_ns: int = duration_ns(
        "2 s", minimum="1 ms", says="longest wait for states at the end", source=_SMALL
    )
    end_poll_ns: int = duration_ns(
        "100 ms", minimum="1 ms", says="time between two flushes at the end", source=_SMALL
    )
    stall_limit_ns: int = duration_ns(
        "3 s", minimum="1 ms", says="silence after which the attempt fails", source=_SMALL
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A pipeline from the partitions of a source to a store and the platform."""

    SOURCE = _CHOICE

    state_kind: StateKind = choice(
        "stream", StateKind, says="feeds of the source, kind of its states"
    )
    streams: tuple[StreamTable, ...] = many(
        StreamTable,
        (
            StreamTable(name="users", records=100, partition_records=25),
            StreamTable(name="orders", records=100, partition_records=25),
        ),
        minimum=1,
        maximum=64,
        says="the catalog",
        source=_SMALL,
    )
    source: SourceTable = nested(
        SourceTable, says="the source", default=SourceTable(packet_records=5)
    )
    sockets: SocketTable = nested(SocketTable, says="what joins source and job")
    readers: Readers = nested(Readers, says="the source subtasks of the job")
    stages: tuple[Stage, ...] = many(
        Stage,
        (
            Stage(name="upstream", partitioner=jobs.Partitioner.REBALANCE),
            Stage(name="downstream", partitioner=jobs.Partitioner.HASH),
        ),
        maximum=8,
        says="the stages between readers and sink, in order",
    )
    sink: Sink = nested(Sink, says="the sink")
    plane: jobs.Plane = choice(
        "records", jobs.Plane, says="what moves between the subtasks of the job"
    )
    placement: jobs.PlacementKind = choice(
        "remote",
        jobs.PlacementKind,
        says="which subtasks share a task manager (plane buffers)",
        limits=not_in_pipelines_on_records(
            "all channels are alike, and no fault strikes a task manager"
        ),
    )
    profile: jobs.Profile = choice(
        "plain",
        jobs.Profile,
        says="profile of constants on plane buffers, as in a job",
        source="Source: measurements of Apache Flink 1.20.3, on two machines",
        limits=not_in_pipelines_on_records("no work takes a processor"),
    )
    network: jobs.Network = nested(
        jobs.Network, says="buffers and network of the job (plane buffers)"
    )
    channels: jobs.Channels = nested(jobs.Channels, says="every channel of the job (plane records)")
    checkpointing: jobs.Checkpointing = nested(jobs.Checkpointing, says="the job's checkpoints")
    storage: jobs.Storage = nested(
        jobs.Storage, says="the job's checkpoint storage (plane buffers)"
    )
    machine: jobs.Machine = nested(jobs.Machine, says="what runs the job's tasks (plane buffers)")
    costs: jobs.Costs = nested(jobs.Costs, says="messages and snapshots of the job (plane records)")
    store: Store = nested(Store, says="the store of the sink")
    release: Release = nested(Release, says="taking input in and returning states")
    platform: PlatformTable = nested(PlatformTable, says="the platform")
    outcome: Outcome = choice("completed", Outcome, says="how the run must end")

    @property
    def places(self) -> tuple[str, ...]:
        """Return where parameters may mean nothing: the plane, and a pipeline."""
        return (self.plane, PIPELINE, f"{PIPELINE} on {self.plane}")

    @property
    def vertices(self) -> tuple[jobs.Vertex, ...]:
        """The vertices of the job: readers, stages, sink."""
        readers = jobs.Vertex(
            name=READERS,
            replayable=False,  # the source sends the missing records again
            kind=jobs.VertexKind.SOURCE,
            parallelism=self.readers.parallelism,
            rate_per_s=self.readers.rate_per_s,
            # What a reader has taken in is union list state: an attempt gives sockets to readers
            # anew, so every reader has to know what all have taken in.
            union_state=True,
        )
        before = [READERS, *(stage.name for stage in self.stages)]
        stages = tuple(
            jobs.Vertex(
                name=one.name,
                parallelism=one.parallelism,
                inputs=(jobs.Input(upstream=upstream, partitioner=one.partitioner),),
                service_ns=one.service_ns,
            )
            for one, upstream in zip(self.stages, before, strict=False)
        )
        sink = jobs.Vertex(
            name=SINK,
            kind=jobs.VertexKind.SINK,
            parallelism=self.sink.parallelism,
            inputs=(jobs.Input(upstream=before[-1], partitioner=self.sink.partitioner),),
            service_ns=self.sink.service_ns,
        )
        return (readers, *stages, sink)

    def job(self) -> jobs.Job:
        """Return the job of the pipeline."""
        return jobs.Job(
            plane=self.plane,
            placement=self.placement,
            profile=self.profile,
            vertices=self.vertices,
            network=self.network,
            channels=self.channels,
            checkpointing=self.checkpointing,
            storage=self.storage,
            machine=self.machine,
            costs=self.costs,
        )

    def sync(self) -> SyncModel:
        """Return the sync of the pipeline: source, sockets, the release of states, platform."""
        release = self.release
        return SyncModel(
            state_kind=self.state_kind,
            streams=self.streams,
            source=self.source,
            sockets=self.sockets,
            destination=DestinationTable(
                record_ns=release.record_ns,
                heartbeat_ns=release.heartbeat_ns,
                send_ns=release.send_ns,
                send_spread=release.send_spread,
                send_tries=release.send_tries,
                end_wait_ns=release.end_wait_ns,
                end_poll_ns=release.end_poll_ns,
                stall_limit_ns=release.stall_limit_ns,
            ),
            platform=self.platform,
            outcome=self.outcome,
        )

    def problems(self) -> list[Problem]:
        """Return what does not fit together."""
        return [
            *self.sync().problems(),
            *self._stage_problems(),
            *self._placement_problems(),
            *unaligned_problems(self.checkpointing),
            *limit_problems(self),
        ]

    def _placement_problems(self) -> list[Problem]:
        if self.placement is not jobs.PlacementKind.MAP:
            return []
        expected = '"remote", "local" or "mixed": stages name no task managers'
        return [Problem("placement", '"map"', expected)]

    def _stage_problems(self) -> list[Problem]:
        names = [READERS, *(stage.name for stage in self.stages), SINK]
        found = [
            Problem(
                f"stages[{index - 1}].name" if repeated != SINK else "stages",
                f'"{repeated}"',
                f'a name that is used once, other than "{READERS}" and "{SINK}"',
            )
            for index, repeated in graphs.repeated(names)
        ]
        parallelisms = [vertex.parallelism for vertex in self.vertices]
        steps = [(f"stages[{i}]", stage.partitioner) for i, stage in enumerate(self.stages)]
        for index, (path, partitioner) in enumerate([*steps, ("sink", self.sink.partitioner)]):
            up, down = parallelisms[index], parallelisms[index + 1]
            where = f"{path}.partitioner"
            if partitioner is jobs.Partitioner.FORWARD and up != down:
                says = f"forward from {up} to {down} subtasks"
                found.append(Problem(where, says, "equal parallelism on both sides"))
            if partitioner is jobs.Partitioner.BROADCAST:
                found.append(Problem(where, '"broadcast"', "each record to one subtask only"))
        return found
