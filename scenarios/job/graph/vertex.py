"""The vertices of a job: what their subtasks do, at which rates, and what state they have."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ckptsim.scenarios.fields import (
    REQUIRED,
    choice,
    count,
    duration_ns,
    flag,
    many,
    name,
    number,
    rate_per_s,
    ratio,
    real,
    size,
    size_bytes,
    whole,
)
from ckptsim.scenarios.job.graph.edges import NO_SIZE, Input
from ckptsim.scenarios.job.graph.kinds import RateChange, Recorded, StoppedBy, VertexKind
from ckptsim.scenarios.limits import not_in_pipelines, not_on_buffers, not_on_records

_JOB = "assumption: part of the job"
_SMALL = "assumption: small enough to be hunted in milliseconds"
_FLINK = "Source: Apache Flink 1.20.3, "
_SECOND_NS = 1_000_000_000
_PACE = not_on_records("a source keeps the pace that it was given")
_OF_IDENTITIES = not_on_buffers("its records have no identities")
_YEAR_NS = 365 * 86_400 * _SECOND_NS

# The least time between two records of a source that has no number of them, on records.
# Assumption: as the least interval of checkpoints.
SHORTEST_NS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex:
    """One vertex of the job graph. Its subtasks are built alike."""

    SOURCE = _JOB

    name: str = name(REQUIRED, says="name of the vertex")
    kind: VertexKind = choice("operator", VertexKind, says="what it does")
    parallelism: int = count(
        1, minimum=1, maximum=1024, unit="subtasks", says="number of subtasks", source=_SMALL
    )
    inputs: tuple[Input, ...] = many(
        Input,
        says="what it reads, none for a source; several are a union, or two inputs to connect",
        maximum=64,
    )
    two_input: bool = flag(
        False,
        says="its two inputs are connected: it reads from them in turn, not channel by channel as "
        "from a union (on records they are read alike)",
        source=_FLINK + "StreamMultipleInputProcessor",
        limits=not_on_records("a task reads two inputs and a union alike", noted=True),
    )
    repeat: int = count(
        1,
        minimum=1,
        maximum=32,
        unit="vertices",
        says="an operator stands so many times in a row, as NAME1, NAME2, ... if more than once; "
        "inputs and faults name each, an input that names NAME reads the last",
        source="assumption: makes the depth of a job one number",
    )
    chain: int = count(
        1, minimum=1, maximum=8, unit="operators", says="operators in the chain", source=_SMALL
    )
    service_ns: int = duration_ns(
        "1 ms",
        maximum="1 h",
        says="time to process one record, of an operator or a sink",
        source=_SMALL,
    )
    slow_subtask_factor: float = number(
        1.0, minimum=0.01, maximum=1000.0, says="times the service at subtask 0"
    )
    service_step_ns: int = duration_ns(
        0, maximum="1 h", says="added to the service time per subtask index", source=_SMALL
    )
    service_factors: tuple[float, ...] = many(
        real(minimum=0.001, maximum=1000.0),
        says="times the service, one for each subtask; absent: 1",
        maximum=1024,
    )
    service_variation: float = ratio(
        0.0,
        says="coefficient of variation of the service from buffer to buffer: a fixed part, and so "
        "much of it exponential",
        limits=not_on_records("records do not come in buffers there"),
    )
    selectivity: float = number(
        1.0,
        minimum=0.0,
        maximum=1_000_000.0,
        unit="records",
        says="records that an operator emits to each of its receivers for one that it processes, "
        "evenly spaced; all that windows emit when they fire, where it processes ticks",
        limits=not_on_records("a record keeps the identity that its source gave it"),
    )
    record_bytes: int | None = size_bytes(
        None,
        optional=True,
        minimum=1,
        maximum="64 MiB",
        says="one serialised record that it emits; absent: as `network` has it",
        limits=NO_SIZE,
    )
    record_variation: float = ratio(
        0.0,
        says="coefficient of variation of the sizes of records that it emits: a fixed part, and so "
        "much of it exponential",
        limits=NO_SIZE,
    )
    updates_per_s: float | None = rate_per_s(
        None,
        optional=True,
        minimum=0.00001,
        says="values that all subtasks together write; absent: one for each record",
        limits=NO_SIZE,
    )
    rate_per_s: float | None = rate_per_s(
        None,
        optional=True,
        minimum=0.00001,
        says="records per second of all subtasks of a source together; absent: as fast as the "
        "outputs take them (on records a source without a number of records takes 1 us for each "
        "at least)",
    )
    rate_shares: tuple[float, ...] = many(
        real(minimum=0.0, maximum=1e9),
        says="weights of the subtasks among the records of a source with a rate; absent: even",
        maximum=1024,
    )
    rate_changes: tuple[RateChange, ...] = many(
        RateChange,
        says="when the rate of a source changes, oldest first; absent: at no time",
        limits=_PACE,
    )
    rate_period_ns: int | None = duration_ns(
        None,
        optional=True,
        minimum="1 ms",
        says="after so long the changes of a source's rate begin anew, as bursts do; absent: never",
        limits=_PACE,
    )
    replayable: bool = flag(
        True,
        says="a source with a rate reads a log, as those of Kafka do: on buffers its records fall "
        "due whether the job is up or not, and it emits late ones as fast as the outputs take "
        "them; on records it resumes at its pace; off (on buffers): it drops the records that a "
        "failure or the outputs made it miss",
        source="Source: Apache Flink 1.20.3, KafkaSource; measured sources of either kind",
        limits=not_on_records("its sources drop nothing"),
    )
    in_step: bool = flag(
        False,
        says="the first records of all subtasks of a replayable source are due when the job "
        "begins; off: each at an instant of its own within the time between two (on records they "
        "are due together)",
        source="assumption: partitions of a log are written to independently",
        limits=not_on_records("the first records of all subtasks are due together", noted=True),
    )
    records: int | None = count(
        None,
        maximum=1_000_000_000,
        unit="records",
        says="what all subtasks of a source together emit before they end, shared out evenly; "
        "absent: any number",
        source=_SMALL,
        optional=True,
    )
    records_step: int = count(
        0,
        maximum=100_000,
        unit="records",
        says="added to a subtask's share of the records per subtask index",
        source=_SMALL,
    )
    ends_at_ns: int | None = duration_ns(
        None,
        says="instant at which a source ends if it has not before; absent: at no time",
        source=_SMALL,
        optional=True,
    )
    startup_ns: int = duration_ns(
        0,
        maximum="10 d",
        says="how long a source answers no trigger in an attempt that begins without a checkpoint, "
        "as one that reads its first snapshot of a table",
        limits=not_on_records("a source takes part at once"),
    )
    hot_ratio: float = ratio(0.0, says="share of a source's records with a key of subtask 0")
    keeps_position: bool = flag(
        True,
        says="what a finished source subtask has read is remembered after a restore; a source "
        "without state reads again from its beginning",
        source=_FLINK + "observed: a partly finished vertex runs all subtasks again",
    )
    recorded: Recorded = choice(
        "none",
        Recorded,
        says="what the checkpoint that the job is started from has of it: nothing (it is new, or, "
        "if so all are, the job starts afresh), that it ran, that its first subtask had finished, "
        "or that all had; what does not fit together is refused",
        source=_FLINK + "VertexFinishedStateChecker",
    )
    state_bytes: int = size_bytes(
        0, says="keyed state of all subtasks together (on records it has no size)", limits=NO_SIZE
    )
    state_delta_bytes: int | None = size_bytes(
        None,
        optional=True,
        says="what an incremental checkpoint uploads, of all subtasks together; absent: what "
        "follows from keys and updates",
        limits=NO_SIZE,
    )
    keys: int | None = count(
        None,
        optional=True,
        minimum=1,
        maximum=10_000_000_000,
        unit="keys",
        says="that all subtasks together have a value of; `state` follows from them if absent",
        limits=NO_SIZE,
    )
    value_bytes: int | None = size_bytes(
        None, optional=True, says="one serialised value", limits=NO_SIZE
    )
    hot_share: float = ratio(0.0, says="share of the updates that go to `hot_keys`", limits=NO_SIZE)
    hot_keys: int = count(
        0, maximum=10_000_000_000, unit="keys", says="that are updated more often", limits=NO_SIZE
    )
    subtask_state_bytes: tuple[int, ...] = many(
        size(),
        says="what each subtask writes at a checkpoint, all told; absent: what `job.state` makes "
        "of its part of `state`, which is what a restore reads where both are there",
        limits=NO_SIZE,
        maximum=1024,
    )
    task_managers: tuple[int, ...] = many(
        whole(maximum=100_000),
        says='number of the task manager that each subtask runs on, with placement "map"',
        maximum=1024,
    )
    snapshot_sync_ns: int | None = duration_ns(
        None,
        optional=True,
        maximum="1 min",
        says="how long copying the state keeps its threads, at each checkpoint; absent: as `costs` "
        "has it",
    )
    union_state: bool = flag(False, says="it uses union list state, which is redistributed whole")
    broadcast_state: bool = flag(
        False,
        says="its state is broadcast state, the same in every subtask; after a restore those that "
        "had finished get it from those that had not",
        source=_FLINK + "RoundRobinOperatorStateRepartitioner",
    )
    opens_after_finish: bool = flag(
        False,
        says="a sink opens transactions also after finish()",
        source=_FLINK + "TwoPhaseCommitSinkFunction opens none (FLINK-23473)",
    )
    splits: int | None = count(
        None,
        optional=True,
        minimum=1,
        maximum=1024,
        unit="splits",
        says="that an enumerator assigns to the subtasks of a source one by one, when they ask for "
        "one; absent: each subtask has one of its own",
        source=_FLINK + "SplitEnumerator, SourceCoordinator",
        limits=_OF_IDENTITIES + not_in_pipelines("its readers are fed by sockets"),
    )
    stopped_by: StoppedBy = choice(
        "cancel",
        StoppedBy,
        says="what a stop does to a legacy source: it cancels the thread and waits for its end, or "
        "it suspends the mailbox, which that thread does not look at",
        source=_FLINK + "SourceStreamTask. FLIP-147, finish task",
        limits=_OF_IDENTITIES + not_in_pipelines("its readers are fed by sockets"),
    )
    after_cancel_records: int = count(
        1,
        maximum=100_000,
        unit="records",
        says="that the function of a legacy source still emits when its thread was cancelled",
        source="assumption: it looks at its flag once a record",
        limits=_OF_IDENTITIES + not_in_pipelines("its readers are fed by sockets"),
    )
    acknowledges: bool = flag(
        False,
        says="a source acknowledges what it has read, and the owner of its log cuts it there",
        source="Source: PostgreSQL, replication slots; Apache Kafka, SourceTask.commit",
        limits=_OF_IDENTITIES + not_in_pipelines("sockets feed its readers"),
    )
    global_committer: bool = flag(
        False,
        says="the subtasks of a sink write files and hand them to one global committer, which "
        "commits those of a checkpoint in one step",
        source="Source: Apache Flink 2.0, GlobalCommitterOperator; RisingWave, exactly-once sinks",
        limits=_OF_IDENTITIES + not_in_pipelines("each subtask commits through the store"),
    )
    file_records: int | None = count(
        None,
        optional=True,
        minimum=1,
        maximum=1_000_000,
        unit="records",
        says="that a file for the global committer holds at most; absent: one file a checkpoint",
        source="assumption: small enough that a checkpoint has several",
        limits=_OF_IDENTITIES,
    )

    @property
    def is_source(self) -> bool:
        """Whether it makes records instead of reading them."""
        return self.kind in (VertexKind.SOURCE, VertexKind.LEGACY)

    @property
    def is_endless(self) -> bool:
        """Whether it is a source that has no end of its own."""
        return self.is_source and self.records is None and self.ends_at_ns is None

    @property
    def gap_ns(self) -> int | None:
        """Time between two records of one subtask of a source. None: as fast as possible."""
        if self.rate_per_s is None:
            return None
        return max(1, round(_SECOND_NS * self.parallelism / self.rate_per_s))

    def gap_of(self, subtask: int, at_ns: int = 0) -> int | None:
        """Return the time between two records of a subtask of a source at an instant."""
        if self.rate_period_ns is not None:
            at_ns %= self.rate_period_ns
        factor = next((c.factor for c in reversed(self.rate_changes) if c.at_ns <= at_ns), 1.0)
        if self.rate_per_s is None or (not self.rate_shares and factor == 1.0):
            return self.gap_ns
        shares = self.rate_shares or (1.0,) * self.parallelism
        rate = self.rate_per_s * factor * shares[subtask] / math.fsum(shares)
        # A subtask without a share has one record in the longest run there is.
        return max(1, round(_SECOND_NS / rate)) if rate > 0 else _YEAR_NS

    def rate_change_after(self, at_ns: int) -> int | None:
        """Return when the rate of a source changes next after an instant. None: at no time."""
        began_ns, period_ns = 0, self.rate_period_ns
        instants = [change.at_ns for change in self.rate_changes]
        if period_ns is not None:
            began_ns = at_ns - at_ns % period_ns
            instants.append(period_ns)
        return next((began_ns + one for one in instants if began_ns + one > at_ns), None)

    def pause_of(self, subtask: int) -> int:
        """Return the time between two records of a subtask on records, where none takes time.

        With nothing between them, and nothing in the tasks after, the instant of a source without a
        number of records would never end.
        """
        gap_ns = self.gap_of(subtask) or 0
        return max(gap_ns, SHORTEST_NS) if self.records is None else gap_ns

    def records_of(self, subtask: int) -> int | None:
        """Return how many records a subtask of a source emits, None for any number."""
        if self.records is None:
            return None
        count = self.splits or self.parallelism
        share = self.records // count + (subtask < self.records % count)
        return share + self.records_step * subtask

    def service_of(self, subtask: int) -> int:
        """Return how long a subtask takes to process one record, in ns."""
        service_ns = self.service_ns
        if subtask == 0:
            service_ns = round(service_ns * self.slow_subtask_factor)
        if self.service_factors:
            service_ns = round(service_ns * self.service_factors[subtask])
        return service_ns + self.service_step_ns * subtask
