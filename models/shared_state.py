"""The shared-state registry: which files of incremental checkpoints may be deleted, and when.

A part of an incremental checkpoint names files that were uploaded for older ones, which may have
been aborted.  The registry keeps the newest checkpoint that has named each file.  A retained
checkpoint goes when newer ones take its place.  Files go with it that were last named before the
oldest retained one: a task that has compacted a file away never names it again.

Promised: a restore finds every file that its checkpoint names.  Not promised: that files of aborted
checkpoints go at once.  A savepoint shares nothing, and takes no checkpoint's place.

Source: Apache Flink 1.20.3, SharedStateRegistryImpl (registerReference, unregisterUnusedState) and
CheckpointCoordinator.receiveAcknowledgeMessage, which registers parts of ended checkpoints, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never


@dataclass(frozen=True, slots=True)
class RetainedCheckpoint:
    """A retained checkpoint, and the files that it names."""

    checkpoint: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Restored:
    """The job manager begins with these retained checkpoints, oldest first."""

    retained: tuple[RetainedCheckpoint, ...]


@dataclass(frozen=True, slots=True)
class PartArrived:
    """A task acknowledges a checkpoint, which may have ended by now, with these files."""

    checkpoint: int
    task: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckpointCompleted:
    """A checkpoint is complete, and is retained unless it is a savepoint."""

    checkpoint: int
    savepoint: bool


@dataclass(frozen=True, slots=True)
class CheckpointAborted:
    """A checkpoint has failed."""

    checkpoint: int


@dataclass(frozen=True, slots=True)
class CheckpointSubsumed:
    """A checkpoint is retained no longer."""

    checkpoint: int


SharedStateEvent: TypeAlias = (
    Restored | PartArrived | CheckpointCompleted | CheckpointAborted | CheckpointSubsumed
)


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """Delete a file of the checkpoint storage."""

    name: str


class SharedStateRegistry:
    """The registry of one job manager."""

    def __init__(self) -> None:
        self.last_named: dict[str, int] = {}
        self.retained: list[int] = []

    def step(self, event: SharedStateEvent) -> list[DeleteFile]:
        """Take one event and return its effects."""
        match event:
            case Restored(retained):
                for one in retained:
                    self.retained.append(one.checkpoint)
                    self._name(one.checkpoint, one.files)
            case PartArrived(checkpoint, _, files):
                self._name(checkpoint, files)
            case CheckpointCompleted(checkpoint, savepoint):
                if not savepoint:
                    self.retained.append(checkpoint)
            case CheckpointAborted():
                pass  # a checkpoint that runs may name its files, too
            case CheckpointSubsumed(checkpoint):
                self.retained = [one for one in self.retained if one != checkpoint]
                return self._delete_unused()
            case _:
                assert_never(event)
        return []

    def _name(self, checkpoint: int, files: tuple[str, ...]) -> None:
        for name in files:
            self.last_named[name] = max(checkpoint, self.last_named.get(name, 0))

    def _delete_unused(self) -> list[DeleteFile]:
        oldest = min(self.retained, default=0)
        unused = [name for name, last in self.last_named.items() if last < oldest]
        for name in unused:
            del self.last_named[name]
        return [DeleteFile(name) for name in unused]
