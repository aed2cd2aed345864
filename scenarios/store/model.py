"""Parameters of a checkpoint store: the input, its place and its syncs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import (
    choice,
    count,
    duration_ns,
    flag,
    nested,
    rate_bytes_per_s,
    rate_per_s,
    size_bytes,
)
from ckptsim.scenarios.store.costs import StepCosts

_VENICE = "Source: linkedin/venice at 77ea837f47, VeniceServerConfig"
_CHOICE = "assumption: a choice of the user"
# A consumer group has room for 3,072 bytes. The rest of a state takes some 500 of them.
_GROUP_DICTIONARY_BYTES_MAX = 2_500


class StorePlacement(StrEnum):
    """Where a checkpoint lies, relative to its data."""

    EXTERNAL = "external"
    COLOCATED = "colocated"
    CONSUMER_GROUP_BLOB = "consumer_group_blob"


class StepOrder(StrEnum):
    """Which durable step of a sync comes first."""

    DATA_FIRST = "data_first"
    CHECKPOINT_FIRST = "checkpoint_first"


class RecordDurability(StrEnum):
    """When an applied record is durable."""

    ON_SYNC = "on_sync"
    PER_RECORD = "per_record"


class Upsert(StrEnum):
    """Which value of a key that occurs twice in one flush is kept."""

    LAST_WINS = "last_wins"
    FIRST_WINS = "first_wins"


class OffsetReset(StrEnum):
    """Where a consumer group starts when its offset is gone."""

    EARLIEST = "earliest"
    LATEST = "latest"


class Generation(StrEnum):
    """The interface that the user's store fills."""

    THREE_OPERATIONS = "three_operations"
    SIX_OPERATIONS = "six_operations"
    ACCESSORS = "accessors"
    WRAPPERS = "wrappers"
    OFFSET_MANAGER = "offset_manager"
    TWO_LEVELS = "two_levels"
    STORE_AND_VERSION = "store_and_version"
    DECORATED_VIEWS = "decorated_views"


class DictionaryKept(StrEnum):
    """Where a start finds the dictionary of a version."""

    FETCHED = "fetched"
    COPIED = "copied"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInput:
    """What each partition of each version has in its log."""

    SOURCE = _CHOICE

    partitions: int = count(2, minimum=1, maximum=10_000, says="partitions per topic")
    versions: int = count(
        1, minimum=1, maximum=9, says="versions of the store, one after the other"
    )
    version_gap_ns: int = duration_ns("2 s", says="time between two versions")
    view: bool = flag(False, says="whether each version has a view topic too")
    push_records: int = count(2000, maximum=10_000_000, says="records of the push, there at once")
    stream_records: int = count(4000, maximum=10_000_000, says="records that follow one by one")
    rate_per_s: float = rate_per_s(
        2000.0, minimum=0.001, maximum=1e6, says="rate of those, per partition"
    )
    record_bytes: int = size_bytes(100, minimum=1, says="size of a record")
    keys: int = count(500, minimum=1, maximum=1_000_000, says="keys that are written in turn")
    deletes_every: int = count(0, says="every how many records a delete comes; 0 is never")
    switch_every: int = count(0, says="every how many records a topic switch comes; 0 is never")
    producers: int = count(0, maximum=64, says="producers with segments in turn, or 0 for none")
    segment_records: int = count(
        100, minimum=1, says="records of one producer before the next has its turn"
    )
    compressed: bool = flag(False, says="whether values need a dictionary")
    seek_position: int = count(
        0, says="position that the first start seeks to, past the start of push"
    )
    remote_ahead: int | None = count(
        None,
        minimum=-10_000,
        maximum=10_000,
        optional=True,
        says="by how much positions in the remote log exceed those in the local one; absent: none",
        source="Source: linkedin/venice, native replication: version topics of two regions",
    )
    switch_after_ns: int = duration_ns(
        0,
        says="how long after a topic switch a partition consumes its other log, as a server does; "
        "0 is never",
        source="Source: linkedin/venice, `LeaderFollowerStoreIngestionTask`",
    )
    synthesise: bool = flag(
        True,
        says="whether a start of push that was skipped is made up",
        source="Source: linkedin/venice, pull request 2565",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSync:
    """When a partition syncs, and how."""

    SOURCE = _CHOICE

    sync_bytes: int = size_bytes(
        "100 KiB",
        says="bytes of data since the last sync that demand one; 0 is never",
        source=f"assumption; {_VENICE}: 32 MiB after the end of push, 60 MiB before",
    )
    sync_interval_ns: int = duration_ns(
        0,
        says="time since the first unsynced record that demands one; 0 is never",
        source="assumption: an addition, Venice has no such threshold",
    )
    order: StepOrder = choice(
        "data_first", StepOrder, says="which durable step comes first", source=_VENICE
    )
    durability: RecordDurability = choice(
        "on_sync", RecordDurability, says="when a record is durable"
    )
    ingest_while_syncing: bool = flag(
        False,
        says="whether a partition takes records while a sync of it is written, until the next one "
        "is due",
        source="Source: linkedin/venice, issues 1240 and 1711",
    )
    hooked: bool = flag(True, says="whether a sync flushes the user's store")
    mirror: bool = flag(False, says="whether a built-in copy is kept and put back", source=_VENICE)
    deferred_write: bool = flag(
        False,
        says="whether files written before the end of push are checked at the start",
        source="Source: linkedin/venice, checkDatabaseIntegrity",
    )
    identity: bool = flag(False, says="whether data and checkpoints carry the store's identity")
    built_in: bool = flag(
        False,
        says="whether the user names no store of its own, so that the built-in one is used",
        source="Source: linkedin/venice, pull request 1476: a hook that returns nothing",
    )
    upsert: Upsert = choice(
        "last_wins",
        Upsert,
        says="what a flush keeps of a key that occurs twice",
        source="Source: measured, duckdb 1.5.6 keeps the first unless the batch is de-duplicated",
    )
    reset: OffsetReset = choice(
        "earliest",
        OffsetReset,
        says="where a group without offset starts",
        source="Source: Apache Kafka",
    )
    offset_expiry_ns: int = duration_ns(
        "7 d",
        says="idle time after which a group's offset is gone",
        source="Source: Apache Kafka, KIP-186",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDictionary:
    """The compression dictionary of a version: where it comes from at a start, at which cost."""

    SOURCE = "assumption"

    size_bytes: int = size_bytes(0, says="size of the dictionary of a version")
    kept: DictionaryKept = choice(
        "fetched", DictionaryKept, says="whether a start fetches it, or each checkpoint has a copy"
    )
    copy_bytes_per_s: int = rate_bytes_per_s(
        "25 MB/s",
        says="bandwidth of writing a copy with a checkpoint",
        source="Source: measured with duckdb 1.5.6, checkpoints of 10, 100 and 900 KiB",
    )
    read_bytes_per_s: int = rate_bytes_per_s(
        "400 MB/s",
        says="bandwidth of reading the copies at a start",
        source="Source: measured with duckdb 1.5.6, checkpoints of 900 KiB",
    )
    clients: int = count(
        1, minimum=1, maximum=10_000, says="clients that start together, this one among them"
    )
    spread_ns: int = duration_ns(0, says="time over which the other clients ask after this one")
    capacity: int = count(4, minimum=1, says="requests that the endpoint answers at once")
    queue: int = count(0, says="requests that wait at most, the rest is refused; 0 is any number")
    request_ns: int = duration_ns(0, says="to answer one request, besides its bytes")
    answer_bytes_per_s: int = rate_bytes_per_s("100 MB/s", says="bandwidth of each answer")

    def answer_ns(self) -> int:
        """Return how long the endpoint takes for one request."""
        return self.request_ns + self.size_bytes * 1_000_000_000 // self.answer_bytes_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreProcess:
    """How fast the process is, and how long it takes to come back."""

    apply_ns: int = duration_ns(
        "50 us", minimum=1, says="to apply one record in memory", source="assumption: 20,000 /s"
    )
    restart_ns: int = duration_ns("1 s", says="to start the process again", source="assumption")
    reopen_ns: int = duration_ns(
        "500 ms", says="until an errored partition is opened anew", source="assumption"
    )
    retry_ns: int = duration_ns(
        "100 ms", minimum=1, says="until a dictionary is asked for again", source="assumption"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreModel:
    """One process that keeps the versions of one store locally."""

    SOURCE = _CHOICE

    placement: StorePlacement = choice("external", StorePlacement, says="where checkpoints lie")
    generation: Generation = choice(
        "three_operations",
        Generation,
        says="which interface the user's store fills, by one who knows no more than that",
        source="Source: linkedin/venice, pull request 1476 and its review",
    )
    input: StoreInput = nested(StoreInput, says="the input")
    sync: StoreSync = nested(StoreSync, says="when and how it is synced")
    process: StoreProcess = nested(StoreProcess, says="how fast the process is")
    costs: StepCosts = nested(StepCosts, says="what each durable step costs")
    dictionary: StoreDictionary = nested(StoreDictionary, says="the dictionary of a version")
    watchdog_ns: int = duration_ns(
        0,
        says="time without a reported completion after which the process is restarted; 0 is never",
        source="Source: linkedin/venice, pull request 2828 (24 h)",
    )
    rework_records_max: int | None = count(
        None,
        minimum=1,
        optional=True,
        says="records that the operator accepts to repeat after a crash",
    )

    def problems(self) -> list[Problem]:
        """Check what the parts ask of each other."""
        found: list[Problem] = []
        if self.input.push_records + self.input.stream_records == 0:
            found.append(Problem("input.push_records", "0", "records in push or stream"))
        if self.input.seek_position > self.input.push_records:
            expected = f"at most input.push_records, which is {self.input.push_records}"
            found.append(Problem("input.seek_position", str(self.input.seek_position), expected))
        given = self.input
        if given.switch_after_ns and (given.remote_ahead is None or not given.switch_every):
            expected = "input.remote_ahead and input.switch_every beside it"
            found.append(
                Problem("input.switch_after", duration_text(given.switch_after_ns), expected)
            )
        if self.sync.mirror and self.placement is StorePlacement.COLOCATED:
            found.append(Problem("sync.mirror", "true", "false where data is co-located"))
        each = self.sync.durability is RecordDurability.PER_RECORD
        if self.sync.ingest_while_syncing and each:
            expected = "false where each record is durable by itself: a sync writes no data"
            found.append(Problem("sync.ingest_while_syncing", "true", expected))
        return [*found, *self._problems_of_dictionary()]

    def _problems_of_dictionary(self) -> list[Problem]:
        given = self.dictionary
        size = f"{given.size_bytes} B"
        if (given.size_bytes or given.request_ns) and not self.input.compressed:
            return [Problem("input.compressed", "false", "true where a dictionary costs anything")]
        grouped = self.placement is StorePlacement.CONSUMER_GROUP_BLOB
        copied = given.kept is DictionaryKept.COPIED
        if grouped and copied and given.size_bytes > _GROUP_DICTIONARY_BYTES_MAX:
            expected = f"at most {_GROUP_DICTIONARY_BYTES_MAX} B in the metadata of a group"
            return [Problem("dictionary.size_bytes", size, expected)]
        return []
