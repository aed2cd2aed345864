"""Parameters of a simulated sync: what the source has, how it travels, where it is stored.

The defaults are a small sync on a local machine.  Where a default is taken from a real system its
origin says so. All others are assumptions, to be replaced by measurements of the sync in question.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.models.ordering import Design
from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import (
    choice,
    count,
    duration,
    duration_ns,
    flag,
    many,
    name,
    nested,
    number,
    rate_bytes_per_s,
    size_bytes,
    text,
)
from ckptsim.scenarios.limits import not_in_pipelines

_AIRBYTE = "Source: airbytehq/airbyte, airbyte-cdk/bulk"
_JOBS = "Source: Airbyte documentation, platform/understanding-airbyte/jobs"
_SIZE = "assumption: size of a small sync"
_LOCAL = "assumption: order of magnitude of a local process pair"
_STORE = "assumption: order of magnitude of an object store"
_FINITE = "assumption: faults are finite, so a sync completes unless its host is at fault"
_STATES_TRAVEL = "assumption: a knob between one ordered channel and no order at all"
_SAFEGUARD = "assumption: the safe behaviour; the other one reproduces a known defect"

_SOCKETS = not_in_pipelines("source and job are joined by sockets")
_NO_REJECTS = not_in_pipelines("its sinks reject no record")

# Assumption: more events than this in one wait are a mistake in the units, not a wish.
_PIECES_MAX = 1_000_000


class Medium(StrEnum):
    """How source and destination are joined."""

    SOCKET = "socket"
    STDIO = "stdio"


class StateKind(StrEnum):
    """Which feeds the source has, and so which kind of states it sends."""

    STREAM = "stream"  # one feed per stream, each with states of its own.
    GLOBAL = "global"  # one change log for all streams, one sequence of global states.
    SNAPSHOT = "snapshot"  # a change log and a feed per stream, all in one global sequence.


class Levels(StrEnum):
    """At which levels the destination reports that records are durable."""

    PERSISTED = "persisted"  # once, when the upload ends
    COMPLETE = "complete"  # once, when the upload ends, as complete
    BOTH = "both"  # persisted when the upload ends, complete after a further delay
    DISJOINT = "disjoint"  # each batch at one level only, in turn: a fault of the host


class RejectsAt(StrEnum):
    """From which level on rejected records are distinguished where both levels are reported."""

    PERSISTED = "persisted"
    COMPLETE = "complete"  # at the first level they count as committed


class FinalDrain(StrEnum):
    """What a feed does at its end when no socket is free to carry its last states."""

    WAIT = "wait"
    SKIP = "skip"


class CheckpointLock(StrEnum):
    """Whether taking a global checkpoint and giving it its index are one step."""

    LOCKED = "locked"
    UNLOCKED = "unlocked"


class MissingState(StrEnum):
    """What the source takes a stream for that has no state beside the shared one."""

    UNREAD = "unread"
    FINISHED = "finished"


class MemoryPolicy(StrEnum):
    """What a socket's reader thread does with a state when the memory for states is used up."""

    OVERFLOW = "overflow"  # keeps it on disk and reads on
    BLOCK = "block"  # reads nothing more until memory is free


class CountCheck(StrEnum):
    """How the platform treats a returned state with other counts than the source's."""

    REPORT = "report"
    REJECT = "reject"


class Outcome(StrEnum):
    """How a sync must end for good, once its faults have stopped."""

    COMPLETED = "completed"
    ANY = "any"  # the platform may also give up


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTable:
    """A stream of the catalog."""

    SOURCE = _SIZE

    name: str = name("users", says="its name")
    namespace: str = text("", says="its namespace, empty for none", longest=80)
    records: int = count(200, maximum=10_000_000, says="records the source has")
    partition_records: int = count(
        50, minimum=1, maximum=10_000_000, says="records of one partition"
    )
    record_bytes: int = size_bytes("100 B", minimum=1, maximum="1 MiB", says="size of one record")
    reject_every: int = count(
        0, maximum=10_000_000, says="every n-th record is rejected, 0 for none", limits=_NO_REJECTS
    )
    state_bytes: int | None = size_bytes(
        None,
        optional=True,
        maximum="64 MiB",
        says="size of one of its own states; absent: as set for the source",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """How the source reads its feeds."""

    SOURCE = _SAFEGUARD

    round_readers: int = count(
        2, minimum=1, maximum=256, says="partition readers that one round creates", source=_AIRBYTE
    )
    generate_ns: int | None = duration_ns(
        None,
        optional=True,
        says="time to generate a feed's next partition while others are read; absent: in rounds",
        source="Source: airbytehq/airbyte-python-cdk, concurrent source (partition enqueuer).",
    )
    connections: int = count(
        4, minimum=1, maximum=256, says="readers that can run at once", source=_LOCAL
    )
    open_ns: int = duration_ns("2 ms", says="median time to open a partition", source=_LOCAL)
    open_spread: float = number(
        0.3, minimum=0.0, maximum=3.0, says="sigma of its lognormal distribution", source=_LOCAL
    )
    record_ns: int = duration_ns("10 us", says="time to read one record", source=_LOCAL)
    packet_records: int = count(
        25, minimum=1, maximum=100_000, says="records that travel as one packet", source=_SIZE
    )
    reader_limit_ns: int | None = duration_ns(
        None,
        optional=True,
        minimum=1,
        says="time after which a reader is cut off and checkpoints what it has",
        source=_AIRBYTE,
    )
    partition_id_characters: int = count(
        4, minimum=1, maximum=64, says="length of a partition id", source=_AIRBYTE
    )
    log_records: int = count(
        0, maximum=10_000_000, says="records of the change log (global, snapshot)", source=_SIZE
    )
    log_partition_records: int = count(
        50, minimum=1, maximum=10_000_000, says="log records one reader takes", source=_SIZE
    )
    state_bytes: int = size_bytes("1 KiB", maximum="64 MiB", says="size of a state", source=_SIZE)
    final_drain: FinalDrain = choice(
        "wait", FinalDrain, says="at the end of a feed when no socket is free"
    )
    checkpoint_lock: CheckpointLock = choice(
        "locked", CheckpointLock, says="how a global checkpoint is taken"
    )
    checkpoint_ns: int = duration_ns(
        "1 ms", says="longest time between view and index when unlocked", source=_LOCAL
    )
    missing_state: MissingState = choice(
        "unread", MissingState, says="reading of a stream without state"
    )
    disorder: float | None = number(
        None,
        optional=True,
        minimum=0.0,
        maximum=1.0,
        says="share of states that a random socket carries, the first one the others; absent: the "
        "next reader's socket carries them",
        source=_STATES_TRAVEL,
        limits=not_in_pipelines("a reader's socket carries its states"),
    )
    complete_on_every_socket: bool = flag(False, says="send COMPLETE of a stream on every socket")
    repeat_states: bool = flag(
        False, says="emit each pending state a second time (STDIO)", limits=_SOCKETS
    )
    keys_on_stdio: bool = flag(
        False, says="stamp states on STDIO with the keys of sockets", limits=_SOCKETS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketTable:
    """The sockets between source and destination, all alike. On STDIO there is one channel."""

    SOURCE = _LOCAL

    count: int = count(
        2, minimum=1, maximum=256, says="sockets, twice the smaller CPU limit", source=_JOBS
    )
    bandwidth_bytes_per_s: int = rate_bytes_per_s(
        "20 MB/s", minimum="1 kB/s", says="bandwidth of one socket"
    )
    latency_ns: int = duration_ns("50 us", says="latency of one socket")
    pipe_bytes: int = size_bytes(
        "64 KiB", minimum=1, says="bytes under way and unread", source="Source: Linux, pipe(7)"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationTable:
    """How the destination reads, batches, stores and answers."""

    SOURCE = _STORE

    record_ns: int = duration_ns("4 us", says="time to take one record in", source=_LOCAL)
    batch_records: int = count(
        50, minimum=1, maximum=10_000_000, says="records that close a batch", source=_SIZE
    )
    batch_delay_ns: int = duration_ns(
        "50 ms", minimum=1, says="age that closes a batch", source=_LOCAL
    )
    upload_ns: int = duration_ns("5 ms", says="median latency of an upload")
    upload_spread: float = number(
        0.5, minimum=0.0, maximum=3.0, says="sigma of its lognormal distribution"
    )
    upload_bandwidth_bytes_per_s: int = rate_bytes_per_s(
        "50 MB/s", minimum="1 kB/s", says="bandwidth of one upload"
    )
    uploads_at_once: int = count(2, minimum=1, maximum=1024, says="uploads that run at once")
    upload_tries: int = count(3, minimum=1, maximum=100, says="tries before the attempt fails")
    design: Design = choice(
        "indexes",
        Design,
        says="what attributes records to states",
        source=_AIRBYTE,
        limits=not_in_pipelines("its states have indexes"),
    )
    levels: Levels = choice(
        "complete", Levels, says="levels at which durability is reported", source=_AIRBYTE
    )
    rejects_at: RejectsAt = choice(
        "persisted", RejectsAt, says="level that reports rejected records"
    )
    complete_ns: int = duration_ns(
        "2 ms", says="from persisted to complete where both are reported"
    )
    state_memory_bytes: int = size_bytes(
        "1 MiB", minimum=1, says="memory reserved for pending states", source=_SIZE
    )
    memory_policy: MemoryPolicy = choice(
        "overflow", MemoryPolicy, says="when that memory is used up", source=_SAFEGUARD
    )
    heartbeat_ns: int | None = duration_ns(
        "60 s",
        optional=True,
        minimum="1 ms",
        says="time between two flushes that no data has asked for",
        source="Source: airbytehq/airbyte, PR #60833.",
    )
    send_ns: int = duration_ns("500 us", says="median time of a send", source=_LOCAL)
    send_spread: float = number(
        0.3, minimum=0.0, maximum=3.0, says="sigma of its lognormal distribution", source=_LOCAL
    )
    send_tries: int = count(
        5, minimum=1, maximum=100, says="failed sends in a row that end it", source=_LOCAL
    )
    end_wait_ns: int = duration_ns(
        "60 s", minimum="1 ms", says="longest wait for states at the end", source=_LOCAL
    )
    end_poll_ns: int = duration_ns(
        "1 s", minimum="1 ms", says="time between two flushes at the end", source=_AIRBYTE
    )
    stall_limit_ns: int = duration_ns(
        "10 min", minimum="1 ms", says="silence after which the attempt fails", source=_AIRBYTE
    )

    def problems(self) -> list[Problem]:
        """Return the waits that would be cut into absurdly many pieces."""
        found: list[Problem] = []
        if self.end_wait_ns // self.end_poll_ns > _PIECES_MAX:
            expected = f"at least end_wait divided by {_PIECES_MAX}"
            found.append(Problem("end_poll_ns", duration_text(self.end_poll_ns), expected))
        if self.heartbeat_ns is not None and self.stall_limit_ns // self.heartbeat_ns > _PIECES_MAX:
            expected = f"at least stall_limit divided by {_PIECES_MAX}"
            found.append(Problem("heartbeat_ns", duration_text(self.heartbeat_ns), expected))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformTable:
    """What the platform keeps, and how it starts attempts again."""

    SOURCE = _JOBS

    backoff_ns: tuple[int, ...] = many(
        duration(),
        (10_000_000_000, 30_000_000_000, 90_000_000_000, 270_000_000_000),
        minimum=1,
        maximum=20,
        says="waits after consecutive attempts without data, the last one repeated",
    )
    empty_in_a_row: int = count(5, minimum=1, maximum=1000, says="attempts without data in a row")
    empty_attempts: int = count(10, minimum=1, maximum=1000, says="attempts without data in all")
    partial_attempts: int = count(
        20, minimum=1, maximum=1000, says="failed attempts with some data"
    )
    count_check: CountCheck = choice(
        "report",
        CountCheck,
        says="when counts of source and destination differ",
        source=_SAFEGUARD,
        limits=not_in_pipelines("its counts never differ: it rejects no record"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncModel:
    """A sync: streams, source, sockets, destination and platform."""

    SOURCE = _AIRBYTE

    medium: Medium = choice("socket", Medium, says="sockets or STDIO")
    state_kind: StateKind = choice(
        "stream", StateKind, says="feeds of the source, kind of its states"
    )
    streams: tuple[StreamTable, ...] = many(
        StreamTable,
        (StreamTable(name="users"), StreamTable(name="orders")),
        minimum=1,
        maximum=256,
        says="the catalog",
        source=_SIZE,
    )
    source: SourceTable = nested(SourceTable, says="the source")
    sockets: SocketTable = nested(SocketTable, says="what joins source and destination")
    destination: DestinationTable = nested(DestinationTable, says="the destination")
    platform: PlatformTable = nested(PlatformTable, says="the platform")
    outcome: Outcome = choice("completed", Outcome, says="how the sync must end", source=_FINITE)

    def problems(self) -> list[Problem]:
        """Return what does not fit together."""
        return [*self._stream_problems(), *self._kind_problems()]

    def _stream_problems(self) -> list[Problem]:
        seen: dict[tuple[str, str], int] = {}
        found: list[Problem] = []
        for index, stream in enumerate(self.streams):
            key = (stream.namespace, stream.name)
            if key in seen:
                found.append(
                    Problem(
                        f"streams[{index}].name",
                        f'"{stream.name}"',
                        f"a name that streams[{seen[key]}] does not have",
                    )
                )
            seen.setdefault(key, index)
        return found

    def _kind_problems(self) -> list[Problem]:
        log_records = self.source.log_records
        if self.state_kind is StateKind.STREAM and log_records:
            expected = '0 where state_kind is "stream"'
            return [Problem("source.log_records", str(log_records), expected)]
        return []
