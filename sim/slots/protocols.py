"""Everything that hosts ask of the core in a slot: one Protocol per slot.

This is the one statement of the contract.  Slots refuse a core that lacks a member, programs offer
the same members as questions, and the pages are written from them.  The sentence of each member
ends with what it is used for.  The ones of ordering cores and barrier handlers stand beside these
cores, in `models`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Protocol

from ckptsim.models.acknowledger import Acknowledge, AcknowledgerEvent
from ckptsim.models.barriers import BarrierHandler
from ckptsim.models.barriers.channel_state import WriterEffect, WriterEvent
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.committer import CommitterEffect, CommitterEvent
from ckptsim.models.coordinator.events import CoordinatorEffect, CoordinatorEvent
from ckptsim.models.coordinator.requests import Decision, Request, Situation
from ckptsim.models.enumerator import EnumeratorEffect, EnumeratorEvent
from ckptsim.models.lifecycle import effects as lifecycle_effects
from ckptsim.models.lifecycle import events as lifecycle_events
from ckptsim.models.lifecycle.states import EndMode, TaskState
from ckptsim.models.lifecycle.tables import Act
from ckptsim.models.ordering import OrderingDoor
from ckptsim.models.ordering.source import SourceEffect, SourceEvent
from ckptsim.models.store import StoreClient
from ckptsim.models.store.fence import FenceEffect, FenceEvent
from ckptsim.models.store.positions import PositionsEffect, PositionsEvent
from ckptsim.models.store.state import VersionState
from ckptsim.models.uncoordinated import TaskProtocol
from ckptsim.models.uncoordinated.recovery_line import LineEffect, LineEvent

__all__ = ["BarrierHandler", "OrderingDoor", "TaskProtocol"]  # and everything that is here


class SourceDoor(Protocol):
    """The states of a source's readers as hosts see them."""

    def step(self, event: SourceEvent) -> list[SourceEffect]:
        """Take one event and return its effects."""
        ...


class Coordinator(Protocol):
    """A checkpoint coordinator as hosts see it."""

    def step(self, event: CoordinatorEvent) -> list[CoordinatorEffect]:
        """Take one event and return its effects."""

    @property
    def pending(self) -> tuple[int, ...]:
        """The running checkpoints, oldest first, used where a job stalls."""

    @property
    def planning(self) -> bool:
        """Whether a request waits for its plan, used when a checkpoint is planned."""

    @property
    def completed(self) -> tuple[int, ...]:
        """The kept checkpoints, oldest first, for the next job manager."""

    @property
    def next_checkpoint(self) -> int:
        """The number that the next checkpoint gets, used when the job manager restarts."""

    def awaited(self, checkpoint: int) -> tuple[int, ...]:
        """Return the tasks that have not acknowledged, used when a checkpoint is triggered."""


class HeldTransactions(Protocol):
    """The transactions that a sink still holds."""

    @property
    def pending(self) -> tuple[int, ...]:
        """The checkpoints that pre-committed, ascending, used when the sink takes a snapshot."""

    @property
    def open(self) -> bool:
        """Whether one is open, used when the sink takes a snapshot."""


class Lifecycle(Protocol):
    """The life of a task as hosts see it."""

    def step(self, event: lifecycle_events.Event) -> list[lifecycle_effects.Effect]:
        """Take one event and return its effects."""

    @property
    def state(self) -> TaskState:
        """Where the task is in its life, used before each message and where a job stalls."""

    @property
    def mode(self) -> EndMode:
        """How the task ends its data, used when its data has ended."""

    @property
    def ended(self) -> bool:
        """Whether the data has ended, used before a record is taken."""

    @property
    def minimum_id(self) -> int | None:
        """The oldest checkpoint that can be the final one, used when a checkpoint completes."""

    @property
    def latest_reported(self) -> int:
        """The newest completion that has come, used when a notification comes."""

    @property
    def transactions(self) -> HeldTransactions | None:
        """The transactions of a sink, used when it takes a snapshot and when it closes."""

    def waits_for(self) -> tuple[Act, ...]:
        """Return the waits that are not over, used when the data has ended."""


class ChannelStateWriter(Protocol):
    """A writer of in-flight data as hosts see it."""

    def step(self, event: WriterEvent) -> list[WriterEffect]:
        """Take one event and return its effects."""


class GlobalCommitter(Protocol):
    """The global committer of a sink as its host sees it."""

    def step(self, event: CommitterEvent) -> list[CommitterEffect]:
        """Take one event and return its effects."""
        ...


class Acknowledger(Protocol):
    """The acknowledger of a source as its host sees it."""

    def step(self, event: AcknowledgerEvent) -> list[Acknowledge]:
        """Take one event and return its effects."""
        ...


class SplitEnumerator(Protocol):
    """The split enumerator of a source as its host sees it."""

    def step(self, event: EnumeratorEvent) -> list[EnumeratorEffect]:
        """Take one event and return its effects."""
        ...


class Store(Protocol):
    """A checkpoint store as hosts see it. They call its client's methods as well."""

    @property
    def client(self) -> StoreClient:
        """The client with medium, codecs and ingestion cores, used by all that is written."""

    @property
    def current(self) -> Mapping[str, int]:
        """The current version of each store, used when a version is swapped."""

    def swap(self, store: str, version: int) -> None:
        """Point a store at a version, used when a push has ended."""

    def drop(self, topic: str) -> None:
        """Delete a version, used when a newer one has taken its place."""

    def state(self, topic: str) -> VersionState | None:
        """Return what a version has in common, used after a restart."""


class FenceDoor(Protocol):
    """The fence of a shared store as hosts see it."""

    def step(self, event: FenceEvent) -> list[FenceEffect]:
        """Take one event and return its effects."""
        ...


class PositionsDoor(Protocol):
    """The positions of a partition in its two logs as hosts see them."""

    def step(self, event: PositionsEvent) -> list[PositionsEffect]:
        """Take one event and return its effects."""
        ...


class RecoveryLines(Protocol):
    """The search for a recovery line as hosts see it."""

    def step(self, event: LineEvent) -> list[LineEffect]:
        """Take one event and return its effects."""


class Decider(Protocol):
    """A decider of requests as the vectors see it."""

    @property
    def queued(self) -> tuple[Request, ...]:
        """The requests that wait, used after each step of a vector."""

    def submit(self, request: Request, situation: Situation) -> list[Decision]:
        """Take a request, used when a vector submits one."""

    def choose(self, situation: Situation) -> list[Decision]:
        """Choose among the waiting requests, used when a checkpoint of a vector ends."""


class Counter(Protocol):
    """A counter of failures as the vectors see it."""

    @property
    def count(self) -> int:
        """The failures that count now, used after each step of a vector."""

    def failed(self, reason: FailureReason, checkpoint: int | None) -> bool:
        """Count a failure, used when a checkpoint of a vector fails."""

    def succeeded(self, checkpoint: int) -> None:
        """Begin anew, used when a checkpoint of a vector completes."""


class Debloater(Protocol):
    """A debloater of buffers as the vectors see it."""

    @property
    def announced_bytes(self) -> int:
        """The size in force, used after each step of a vector."""

    @property
    def consume_ms(self) -> int:
        """The estimate after it, used after each step of a vector."""

    def update(self, throughput_bytes_per_s: int, buffers_in_use: int) -> int | None:
        """Take a measurement and return a new size, used in each step of a vector."""


def members(protocol: type) -> dict[str, Any]:
    """Return the members of a Protocol by name, `step` first."""
    found = {name: each for name, each in vars(protocol).items() if not name.startswith("_")}
    return {name: found[name] for name in sorted(found, key=lambda name: name != "step")}


def used(protocol: type, name: str) -> str:
    """Say what a member of a Protocol is used for, as "used when ..."."""
    text = (inspect.getdoc(members(protocol)[name]) or "").partition("\n")[0]
    _, comma, what = text.rpartition(", used ")
    return f"used {what.removesuffix('.')}" if comma else "used for every event"
