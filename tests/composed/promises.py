"""An invariant of a pipeline as a user writes it, for commands that name it."""

from __future__ import annotations

from ckptsim import GroundTruth


def little_is_sent_again(truth: GroundTruth) -> tuple[int, str] | None:
    """A failure makes the source send at most 30 records again."""
    for row in truth.recoveries:
        if row.records_reprocessed is not None and row.records_reprocessed > 30:
            says = f"{row.records_reprocessed} records again, from {row.restored_from}"
            return row.failed_ns, says
    return None
