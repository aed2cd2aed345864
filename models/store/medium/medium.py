"""The durable data: rows of data, rows of the mirror, and slots of checkpoints.

A medium is the part of a placement that survives a crash.  It is written in steps: a step is
durable as a whole or not at all.  Where data and checkpoints share one transaction (`atomic`), a
step may hold both. Elsewhere a step that touches both is refused, because nothing could keep its
promise.  `ModelMedium` is the deterministic model. Real components fill the same protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from ckptsim.models.core import ProtocolError
from ckptsim.models.store.topics import TopicPartition

Rows = dict[str, bytes]
Changes = Mapping[str, bytes | None]  # key -> value, None deletes the key


class Area(IntEnum):
    """Which rows: the ones of the user's store, or of the built-in copy beside it."""

    DATA = 0
    MIRROR = 1


class Slot(IntEnum):
    """Which checkpoint store a blob lies in: the user's own, or the built-in one."""

    CUSTOM = 0
    BUILT_IN = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsWrite:
    """Changes to the rows of one partition. `wipe` removes all rows first."""

    area: Area
    key: TopicPartition
    changes: Changes
    wipe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotWrite:
    """A new value of one checkpoint slot. None deletes it."""

    slot: Slot
    key: TopicPartition
    stored: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One durable step: everything in it becomes durable together, or nothing does."""

    rows: tuple[RowsWrite, ...] = ()
    slots: tuple[SlotWrite, ...] = ()


class Medium(Protocol):
    """The durable part of a placement, a model or a real one."""

    @property
    def atomic(self) -> bool:
        """Return whether one step may hold rows and checkpoints."""

    def rows(self, area: Area, key: TopicPartition) -> Rows:
        """Return a copy of the durable rows of one partition."""

    def row(self, area: Area, key: TopicPartition, name: str) -> bytes | None:
        """Return the durable value of one row, or None."""

    def slot(self, slot: Slot, key: TopicPartition) -> bytes | None:
        """Return the stored bytes of one checkpoint slot, or None."""

    def commit(self, step: Step) -> None:
        """Make a step durable. It survives every later crash."""

    def abandon(self, step: Step) -> None:
        """Begin a step and never commit it: nothing of it becomes durable."""

    def crash(self) -> None:
        """Lose everything that is not durable and open again."""

    def lose(self, *, areas: tuple[Area, ...], slots: bool) -> None:
        """Lose durable state of all partitions, as a broken or replaced disk does."""

    def close(self) -> None:
        """Release what the medium holds of the system. It is not used afterwards."""


class ModelMedium:
    """A medium as a model: dictionaries with atomic, durable writes."""

    def __init__(self, *, atomic: bool) -> None:
        self._atomic = atomic
        self._rows: dict[tuple[Area, TopicPartition], Rows] = {}
        self._slots: dict[tuple[Slot, TopicPartition], bytes] = {}

    @property
    def atomic(self) -> bool:
        """Return whether one step may hold rows and checkpoints."""
        return self._atomic

    def rows(self, area: Area, key: TopicPartition) -> Rows:
        """Return a copy of the durable rows of one partition."""
        return dict(self._rows.get((area, key), {}))

    def row(self, area: Area, key: TopicPartition, name: str) -> bytes | None:
        """Return the durable value of one row, or None."""
        return self._rows.get((area, key), {}).get(name)

    def slot(self, slot: Slot, key: TopicPartition) -> bytes | None:
        """Return the stored bytes of one checkpoint slot, or None."""
        return self._slots.get((slot, key))

    def commit(self, step: Step) -> None:
        """Make a step durable. Raises ProtocolError `not_one_step` where it cannot be whole."""
        check_one_step(step, atomic=self._atomic)
        for write in step.rows:
            self._write_rows(write)
        for each in step.slots:
            if each.stored is None:
                self._slots.pop((each.slot, each.key), None)
            else:
                self._slots[each.slot, each.key] = each.stored

    def abandon(self, step: Step) -> None:
        """Begin a step and never commit it: nothing of it becomes durable."""
        check_one_step(step, atomic=self._atomic)

    def crash(self) -> None:
        """Lose nothing: whatever the model holds is durable."""

    def lose(self, *, areas: tuple[Area, ...], slots: bool) -> None:
        """Lose durable state of all partitions."""
        self._rows = {place: rows for place, rows in self._rows.items() if place[0] not in areas}
        if slots:
            self._slots = {}

    def close(self) -> None:
        """Release nothing: the model holds only memory."""

    def _write_rows(self, write: RowsWrite) -> None:
        rows = self._rows.setdefault((write.area, write.key), {})
        if write.wipe:
            rows.clear()
        for name, value in write.changes.items():
            if value is None:
                rows.pop(name, None)
            else:
                rows[name] = value


def check_one_step(step: Step, *, atomic: bool) -> None:
    """Raise ProtocolError `not_one_step` for a step that this kind of medium cannot hold whole."""
    if step.rows and step.slots and not atomic:
        raise ProtocolError("not_one_step", state="data and checkpoints are two media", event=step)
