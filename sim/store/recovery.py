"""What a restart of the process was about, and what it did again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Recovery:
    """One restart: why, when, from where, and what was done again because of it."""

    start: int
    reason: str
    failed_ns: int
    resumed_ns: int | None = None
    restored_from: str | None = None
    reprocessed: int = 0
    undone: int = 0  # records that had been applied behind the checkpoints it restored
    lost: int = 0  # records behind those checkpoints whose effect was never durable
    bounded: bool = True  # whether the bound of one interval applies to what it repeats
