"""The result tables of a job that do not depend on its data plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.rows import RecoveryRow

if TYPE_CHECKING:
    from ckptsim.sim.job.world import JobWorld


def recovery_rows(key: str, job: JobWorld) -> list[RecoveryRow]:
    """Return a row per failure that the job came back from, or was to come back from."""
    return [
        RecoveryRow(
            run_key=key,
            attempt=one.attempt,
            cause=one.cause,
            failed_ns=one.failed_ns,
            resumed_ns=one.resumed_ns,
            restored_from=_restored_from(one.restored) if one.resumed_ns is not None else None,
            records_reprocessed=one.reprocessed,
        )
        for one in job.failovers
    ]


def _restored_from(checkpoint: int | None) -> str:
    return "its beginning" if checkpoint is None else f"checkpoint {checkpoint}"
