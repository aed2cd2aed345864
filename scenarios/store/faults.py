"""Faults of a checkpoint store as data: what breaks, and when.

Partitions are named by version (from 1) and index (from 0).  Every fault is finite. One that a run
never reaches is without effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import Planned, choice, count, duration_ns, flag, kinds_of, size_bytes


class Lost(StrEnum):
    """What of the durable state is gone when the process starts again."""

    NOTHING = "nothing"
    DATA = "data"
    CHECKPOINT = "checkpoint"
    LOCAL = "local"
    BUILT_IN = "built_in"


class Damage(StrEnum):
    """The damage of a stored checkpoint: of its frame, or of the state in a right frame."""

    BIT = "bit"
    TRUNCATED = "truncated"
    FOREIGN = "foreign"
    CHECKSUM_KIND = "checksum_kind"
    SCHEMA = "schema"
    OTHER_PARTITION = "other_partition"
    LENGTH = "length"
    NO_FIELDS = "no_fields"
    NO_TABLE = "no_table"
    OTHER_FIELDS = "other_fields"
    NO_POSITION = "no_position"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashAt(Planned):
    """The process dies at an instant and starts again, perhaps without some of its disks."""

    at_ns: int = duration_ns("1 s", says="when, since the start of the run")
    down_ns: int = duration_ns(0, says="how long it stays down")
    loses: Lost = choice("nothing", Lost, says="the part that is lost at the next start")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashBetween(Planned):
    """The process dies between the two durable steps of a sync. Before the only one's commit."""

    sync: int = count(1, minimum=1, maximum=1_000_000, says="in which sync, from 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashBetweenEffects(Planned):
    """The process dies before an effect of an ingestion is carried out, after those before it."""

    effect: int = count(1, minimum=1, maximum=1_000_000, says="before which effect of all, from 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class TornWrite(Planned):
    """The process dies while a checkpoint is written in place: a prefix lies where the old one was.

    Only where checkpoints are external. Other placements write them whole or not at all.
    """

    sync: int = count(1, minimum=1, maximum=1_000_000, says="in which sync, from 1")
    kept_bytes: int = size_bytes(0, says="length of the prefix, less than all")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashInReset(Planned):
    """The process dies between the two durable steps of a reset of a partition."""

    reset: int = count(1, minimum=1, maximum=1000, says="in which reset, from 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashRate(Planned):
    """The process dies at random, with exponential times to failure."""

    mean_ns: int = duration_ns("60 s", minimum=1, says="mean time to failure")
    until_ns: int = duration_ns("10 min", says="no crash after this")


@dataclass(frozen=True, slots=True, kw_only=True)
class StopAt(Planned):
    """The process is stopped gracefully, with a last sync, and starts again."""

    at_ns: int = duration_ns("1 s", says="when, since the start of the run")
    down_ns: int = duration_ns(0, says="how long it stays down")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailWrite(Planned):
    """One data record cannot be written. The partition is errored until it is opened anew."""

    version: int = count(1, minimum=1, maximum=9, says="version of the store")
    partition: int = count(0, maximum=9_999, says="index of the partition")
    record: int = count(0, says="which of its data records, from 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitOutage(Planned):
    """The remote side commits nothing for a while. Only where checkpoints are remote."""

    at_ns: int = duration_ns("1 s", says="when it begins")
    duration_ns: int = duration_ns("1 s", says="how long it lasts")
    partition: int | None = count(
        None, maximum=9_999, optional=True, says="partition of each topic, or absent for all"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DictionaryOutage(Planned):
    """The endpoint that serves compression dictionaries is down for a while."""

    at_ns: int = duration_ns(0, says="when it begins")
    duration_ns: int = duration_ns("1 s", says="how long it lasts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tamper(Planned):
    """A stored checkpoint is damaged: a bit of it flips, or it is another blob."""

    version: int = count(1, minimum=1, maximum=9, says="version of the store")
    partition: int = count(0, maximum=9_999, says="index of the partition")
    at_ns: int = duration_ns("1 s", says="when")
    damage: Damage = choice("bit", Damage, says="the damage")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCommit(Planned):
    """Another party overwrites the stored position of a partition."""

    version: int = count(1, minimum=1, maximum=9, says="version of the store")
    partition: int = count(0, maximum=9_999, says="index of the partition")
    at_ns: int = duration_ns("1 s", says="when")
    ahead: int = count(100, says="by how many positions too far")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact(Planned):
    """The broker compacts all logs up to where they are."""

    at_ns: int = duration_ns("1 s", says="when")


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateLog(Planned):
    """The broker loses the tail of a partition's log for good."""

    version: int = count(1, minimum=1, maximum=9, says="version of the store")
    partition: int = count(0, maximum=9_999, says="index of the partition")
    at_ns: int = duration_ns("1 s", says="when")
    entries: int = count(10, minimum=1, says="how many of the last entries")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebootstrap(Planned):
    """A changed transformer makes a partition start from scratch."""

    version: int = count(1, minimum=1, maximum=9, says="version of the store")
    partition: int = count(0, maximum=9_999, says="index of the partition")
    at_ns: int = duration_ns("1 s", says="when")
    wipe: bool = flag(True, says="whether its rows are wiped first")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopen(Planned):
    """A partition is unsubscribed and subscribed again, without a sync between."""

    version: int = count(1, minimum=1, maximum=9, says="version of the store")
    partition: int = count(0, maximum=9_999, says="index of the partition")
    at_ns: int = duration_ns("1 s", says="when")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferFromPeer(Planned):
    """A partition gets its files from a peer in another region, which read another start of push.

    It is closed and opened again, with the same rows and position, and a version of its own.
    """

    version: int = count(1, minimum=1, maximum=9, says="version of the store")
    partition: int = count(0, maximum=9_999, says="index of the partition")
    at_ns: int = duration_ns("1 s", says="when")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploy(Planned):
    """Another release takes the process over: a graceful stop, and a start as that release.

    One that names another store finds in it what an earlier release left there, or nothing.
    """

    at_ns: int = duration_ns("1 s", says="when, since the start of the run")
    down_ns: int = duration_ns(0, says="how long it stays down")
    newer: bool = flag(
        False,
        says="whether this release writes checkpoints of a newer schema, which others cannot read",
    )
    built_in: bool = flag(
        False, says="whether it names no store of its own, so that the built-in one is used"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FailRecovery(Planned):
    """The recovery of one partition fails once. Consumption of all of them stays paused."""

    start: int = count(1, minimum=1, maximum=1000, says="at which start, from 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSource(Planned):
    """A partition consumes its other log from now on, the remote one or again the local one."""

    version: int = count(1, minimum=1, maximum=9, says="version of the store")
    partition: int = count(0, maximum=9_999, says="index of the partition")
    at_ns: int = duration_ns("1 s", says="when")

    def problems_in(self, model: object) -> list[Problem]:
        """Return the problem of a partition that has no other log."""
        if getattr(getattr(model, "input", None), "remote_ahead", None) is not None:
            return []
        return [Problem("kind", '"switch_source"', "store.input.remote_ahead beside it")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover(Planned):
    """The process is taken for dead and replaced, but lives on and writes its next syncs late."""

    at_ns: int = duration_ns("1 s", says="when, since the start of the run")
    lives_on_ns: int = duration_ns("100 ms", says="when it writes, since its successor has begun")
    begun: bool = flag(False, says="whether the first step of those syncs is durable before")


StoreFault: TypeAlias = (
    CrashAt
    | CrashBetween
    | CrashBetweenEffects
    | TornWrite
    | CrashInReset
    | CrashRate
    | StopAt
    | FailWrite
    | CommitOutage
    | DictionaryOutage
    | Tamper
    | ForeignCommit
    | Compact
    | TruncateLog
    | Rebootstrap
    | Reopen
    | TransferFromPeer
    | FailRecovery
    | Deploy
    | Takeover
    | SwitchSource
)

STORE_FAULTS: dict[str, type] = kinds_of(StoreFault)
