"""Result tables: one frozen row type per table, the same for every link of the chain.

A column that a link has no value for is None.  Times are simulated nanoseconds since the start of
the run, sizes are bytes.  Every row of a run begins with its `run_key`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.scenarios import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run: its scenario, how it ended, and the command that repeats it.

    finishing_ns: from the end of the last source's input until the last task has closed.
    finishing_checkpoints: how many were triggered meanwhile.  Both are of jobs that have ended.
    """

    run_key: str
    scenario: str
    link: str
    seed: int
    ties: str
    version: str
    digest: str
    # "completed", "failed" (the modelled system gave up), "stalled" or "error". "cut" or "stuck" of
    # a run that has used up its bound of work
    outcome: str
    error: str | None
    ended_ns: int
    events: int  # steps of the calendar. With a job on buffers entries of the trace
    records_produced: int
    records_committed: int
    checkpoints_completed: int
    checkpoints_failed: int
    violations: int
    attempts: int
    parameters: str  # the swept parameters as canonical JSON, "{}" outside a sweep
    replay: str
    cores: str = "{}"  # slot -> `package.module:factory` of a core not ours, as canonical JSON
    mutant: str | None = None
    finishing_ns: int | None = None
    finishing_checkpoints: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRow:
    """One checkpoint, source state or savepoint from its trigger to its end.

    `wait_*_ns` say where the time went. They add up to `duration_ns` where a link fills them.
    `inner` marks one that is a step on the way of others, as a job's within a pipeline. Statistics
    over checkpoints leave it out.
    """

    run_key: str
    scope: str  # stream name or "*" for source states. The job for barrier checkpoints
    checkpoint_id: int
    attempt: int
    kind: str
    status: str  # "completed", "failed", "aborted", "expired", "pending"
    reason: str | None
    triggered_ns: int
    completed_ns: int | None
    duration_ns: int | None
    wait_records_ns: int | None = None
    wait_upload_ns: int | None = None
    wait_predecessor_ns: int | None = None
    wait_send_ns: int | None = None
    start_delay_ns: int | None = None
    alignment_ns: int | None = None
    sync_ns: int | None = None
    async_ns: int | None = None
    processed_bytes: int | None = None
    persisted_bytes: int | None = None
    state_bytes: int | None = None
    records: int | None = None
    unaligned: bool | None = None
    inner: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCheckpointRow:
    """One subtask's part in one checkpoint."""

    run_key: str
    task: str
    subtask: int
    checkpoint_id: int
    acknowledged_ns: int | None
    start_delay_ns: int
    alignment_ns: int
    sync_ns: int
    async_ns: int
    processed_bytes: int
    persisted_bytes: int
    state_bytes: int
    unaligned: bool
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One subtask over a whole run: throughput and how its time was spent."""

    run_key: str
    task: str
    subtask: int
    records: int
    records_per_s: float
    busy_ratio: float
    backpressured_ratio: float
    idle_ratio: float
    input_queue_buffers_mean: float
    output_queue_buffers_mean: float
    finished_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRow:
    """One state that was released to the platform (or one commit to a store)."""

    run_key: str
    scope: str
    index: int
    attempt: int
    released_ns: int
    records: int
    rejected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRow:
    """States of a scope that one socket brought and that wait to be returned, after a change.

    oldest_age_ns: how long the oldest of them, just before the change, had waited.
    """

    run_key: str
    attempt: int
    scope: str
    socket: int
    at_ns: int
    states: int
    size_bytes: int
    oldest_age_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryRow:
    """One recovery: from which checkpoint, how long, and how much was done again.

    When the failure was known, all tasks were cancelled and the next attempt began.  On records,
    and where a failover takes time: when all tasks were open with their state read, all in-flight
    data of inputs had been processed, and an operator without outputs took the first record.  Where
    it takes time: the bytes that were read.  Of jobs with sources by a clock that does not stop:
    when no record was late any more, the latest one until the next failure, and when sources had
    emitted all that was due.
    """

    run_key: str
    attempt: int
    cause: str
    failed_ns: int
    resumed_ns: int | None
    restored_from: str | None
    records_reprocessed: int
    detected_ns: int | None = None
    canceled_ns: int | None = None
    state_read_ns: int | None = None
    handed_over_ns: int | None = None
    first_record_ns: int | None = None
    caught_up_ns: int | None = None
    bytes_read: int | None = None
    peak_latency_ns: int | None = None
    backlog_gone_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationRow:
    """One property that did not hold, with the shortest story of what it concerns.

    It is the first violation of the property in its run. count: how many there were.
    """

    run_key: str
    property: str
    at_ns: int
    says: str
    story: str  # lines, oldest first
    replay: str
    scope: str | None = None  # of the checkpoint concerned, where there is one
    index: int | None = None
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureRow:
    """One figure of a run that its link computes by itself, and what theory says of it.

    figure: a name of `scenarios/metrics`. expected: the value on paper, None without a closed form.
    """

    run_key: str
    figure: str
    value: float
    expected: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """One record, from the account that the world keeps apart from cores and hosts.

    source: the stream, or `*` for a change log (syncs, pipelines). `vertex/split` (jobs).
    `topic/partition` (stores).  position: its place there, from 0.  sink: the vertex with the
    output (jobs).
    due: how often the output must have it. stored: how often it has it, durable or committed.
    acknowledged: whether a restart does not read it again. None where states do not say so.
    """

    run_key: str
    source: str
    position: int
    due: int
    stored: int
    acknowledged: bool | None = None
    sink: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRow:
    """One state that the platform got (syncs, pipelines), or one transaction of a sink (jobs).

    scope: the stream, or the subtask of the sink. index: of the state, or the checkpoint with which
    it was pre-committed. status: "committed", "pre-committed", "open" or "aborted".
    committed_ns: None where it was not, and of transactions.
    """

    run_key: str
    scope: str
    index: int | None
    attempt: int
    status: str
    records: int
    committed_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundTruth:
    """All that a property of the user's looks at, when a run is over.

    records: none of a job on buffers, where records have no identity.  The other tables are the
    ones of `RunResult`, in the order in which things happened.  `kept` has the durable content of a
    store at the end, and in a pipeline also every checkpoint of its job.
    """

    scenario: Scenario
    run: RunRow
    records: tuple[RecordRow, ...]
    checkpoints: tuple[CheckpointRow, ...]
    task_checkpoints: tuple[TaskCheckpointRow, ...]
    commits: tuple[CommitRow, ...]
    recoveries: tuple[RecoveryRow, ...]
    tasks: tuple[TaskRow, ...]
    figures: tuple[FigureRow, ...]
    goals: dict[str, int]
    holdings: Callable[[], list[KeptPartition]] = field(default=list, repr=False, compare=False)

    @property
    def kept(self) -> list[KeptPartition]:
        """Return what stores and sinks held as durable at the end, by topic and partition."""
        return self.holdings()


def no_account() -> tuple[list[RecordRow], list[CommitRow]]:
    """Return neither records nor commits."""
    return [], []


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPartition:
    """What a simulated store held as durable of one partition when the run ended.

    topic: `<store>_v<N>`. checkpoint: the blob, None without one.
    """

    topic: str
    partition: int
    rows: dict[str, bytes]
    checkpoint: bytes | None


@dataclass(slots=True, kw_only=True)
class RunResult:
    """Everything that one run of a world leaves.

    `goals` counts how often each "sometimes" situation was reached.  `trace` is the list of trace
    entries `(time_ns, kind, entity, *fields)` when the caller asked to keep it, else empty. So is
    `kept`, what stores and sinks held as durable at the end, which is read when it is asked for:
    `holdings` does so.  `driver` names what moved the data, SimPy processes or the compiled kernel:
    both give the same tables.  `pending` is of syncs alone, and no table of a sweep.  `account`
    returns records and commits, for properties of the user's, until these have been judged.
    """

    run: RunRow
    checkpoints: list[CheckpointRow] = field(default_factory=list)
    task_checkpoints: list[TaskCheckpointRow] = field(default_factory=list)
    tasks: list[TaskRow] = field(default_factory=list)
    releases: list[ReleaseRow] = field(default_factory=list)
    recoveries: list[RecoveryRow] = field(default_factory=list)
    violations: list[ViolationRow] = field(default_factory=list)
    figures: list[FigureRow] = field(default_factory=list)
    pending: list[PendingRow] = field(default_factory=list)
    goals: dict[str, int] = field(default_factory=dict)
    trace: list[tuple[object, ...]] = field(default_factory=list)
    driver: str = field(default="", compare=False)
    holdings: Callable[[], list[KeptPartition]] = field(default=list, repr=False, compare=False)
    account: Callable[[], tuple[list[RecordRow], list[CommitRow]]] = field(
        default=no_account, repr=False, compare=False
    )

    @property
    def kept(self) -> list[KeptPartition]:
        """Return what stores and sinks held as durable at the end, by topic and partition."""
        return self.holdings()
