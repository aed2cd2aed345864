"""Events and effects of the ingestion of one partition."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ckptsim.models.store.errors import Refusal
from ckptsim.models.store.log import ControlRecord
from ckptsim.models.store.settings import StepContent, SyncRules
from ckptsim.models.store.state import ProducerState, VersionCopy


class IngestionState(IntEnum):
    """Where the ingestion of a partition is."""

    OPEN = 0
    SYNCING = 1
    ERRORED = 2


class Cause(IntEnum):
    """Why a sync was begun."""

    CONTROL = 0
    BYTES = 1
    TIME = 2
    REQUEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DataWritten:
    """Data records up to and with `position` were written to the working content.

    During a sync too, where the host writes beside its ingestion: they are no part of that sync.
    """

    position: int
    size_bytes: int
    producer: ProducerState | None = None


@dataclass(frozen=True, slots=True)
class WriteFailed:
    """The data record at this position could not be written."""

    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRead:
    """A control entry arrived. `siblings` are the version copies of the other partitions."""

    position: int
    record: ControlRecord
    siblings: tuple[VersionCopy, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncRequested:
    """The host wants a sync now: a graceful stop, or the user."""


@dataclass(frozen=True, slots=True)
class SyncTimerFired:
    """The time since the first record after the last sync is over."""


@dataclass(frozen=True, slots=True)
class StepDurable:
    """The durable step that was asked for is done."""


@dataclass(frozen=True, slots=True)
class StepRefused:
    """The durable step that was asked for failed. Nothing of it is durable."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class RulesChanged:
    """The rules of syncing are others from now on."""

    rules: SyncRules


Event = (
    DataWritten
    | WriteFailed
    | ControlRead
    | SyncRequested
    | SyncTimerFired
    | StepDurable
    | StepRefused
    | RulesChanged
)


@dataclass(frozen=True, slots=True)
class MakeDurable:
    """Carry out one durable step and report StepDurable or StepRefused.

    checkpoint: the bytes to store, None in a step that holds data only.  It holds the data written
    before the request of the step.
    """

    part: StepContent
    checkpoint: bytes | None


@dataclass(frozen=True, slots=True)
class FinishSync:
    """The sync is complete: everything up to `position` survives a crash."""

    position: int
    cause: Cause


@dataclass(frozen=True, slots=True)
class AbortSync:
    """The sync failed. Ingestion continues from where it is, the counter as it was."""

    refusal: Refusal


@dataclass(frozen=True, slots=True)
class FreezePartition:
    """The partition is errored: no entry and no checkpoint until it is opened anew."""

    refusal: Refusal
    reason: str


@dataclass(frozen=True, slots=True)
class SetSyncTimer:
    """Report SyncTimerFired after this time."""

    delay_ns: int


@dataclass(frozen=True, slots=True)
class CancelSyncTimer:
    """Forget the timer, if one is set."""


Effect = MakeDurable | FinishSync | AbortSync | FreezePartition | SetSyncTimer | CancelSyncTimer
