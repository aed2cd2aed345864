"""Who owns a shared store: a new owner gets an epoch, and a write of an older one is refused.

A process that is taken for dead may live on: it was paused, or cut off.  When it wakes it still
holds records that it has not made durable, and writes them to the store that its successor has
taken over.  Only the store can refuse that.  Each owner gets an epoch when it starts, each write
carries the epoch of its writer, and the store accepts the newest epoch only.  An owner that is
refused stops: it reads nothing of the store again without a new epoch.

Promised: after an owner has started, no write of an earlier one is accepted, be it of rows or of a
checkpoint.  The writes of the newest owner are accepted.  Not promised: a write that was under way
when the new owner started is not undone.

Source: Apache Spark, Structured Streaming: of two concurrent runs on one checkpoint location one
has to fail (`HDFSMetadataLog.add`, SPARK-26425).  Apache Kafka, KIP-98: epochs fence zombies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from ckptsim.models.core import ProtocolError
from ckptsim.models.store.settings import StepContent


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerStarted:
    """A process takes the store over: `owner` is its number, never used before."""

    owner: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRequested:
    """A process wants a step of a partition's sync to become durable.

    epoch: that it was granted.  part: what the step holds.  position: up to which the sync is.
    """

    owner: int
    epoch: int
    partition: str
    part: StepContent
    position: int


FenceEvent = OwnerStarted | WriteRequested


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantEpoch:
    """Grant an owner an epoch, which its writes carry."""

    owner: int
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptWrite:
    """Carry the write out."""

    owner: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseWrite:
    """Change nothing, and let the writer stop."""

    owner: int


FenceEffect = GrantEpoch | AcceptWrite | RefuseWrite


class Fence:
    """The epochs of one store."""

    def __init__(self) -> None:
        self.epoch = 0

    def step(self, event: FenceEvent) -> list[FenceEffect]:
        """Take one event and return its effects.  An epoch to come is a ProtocolError."""
        match event:
            case OwnerStarted():
                self.epoch += 1
                return [GrantEpoch(owner=event.owner, epoch=self.epoch)]
            case WriteRequested():
                if event.epoch > self.epoch:
                    state = f"epoch {self.epoch}"
                    raise ProtocolError("unknown_epoch", state=state, event=event)
                if event.epoch < self.epoch:
                    return [RefuseWrite(owner=event.owner)]
                return [AcceptWrite(owner=event.owner)]
            case _:
                assert_never(event)
