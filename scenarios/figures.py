"""The figures of a run that a link computes by itself, with what they are."""

from __future__ import annotations

FIGURES: dict[str, str] = {
    "undone_per_crash": "records undone by a crash",
    "lost_per_crash": "records lost by a crash",
    "sync_share": "share of the working time that durability takes",
    "lost_share": "working time lost to syncs and crashes, per useful time",
}
