"""The result tables of a job on records."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import VertexKind
from ckptsim.sim.job.records.state import SOURCE_SPAN
from ckptsim.sim.job.records.state.view import RecordView
from ckptsim.sim.job.records.uncoordinated.tables import checkpoint_rows, figure_rows
from ckptsim.sim.job.tables import commit_rows, job_tables
from ckptsim.sim.rows import CommitRow, FigureRow, RecordRow

if TYPE_CHECKING:
    from ckptsim.sim.job.records.world import RecordWorld
    from ckptsim.sim.rows import RunResult
    from ckptsim.sim.run_spec import RunSpec


def fill(spec: RunSpec, world: RecordWorld) -> RunResult:
    """Return the tables of a run that has ended or is stalled."""
    good = world.ended or world.control.has_enough or world.control.canceled
    outcome = "completed" if good else "failed" if world.control.gave_up else "stalled"
    result = job_tables(spec, world, outcome=outcome, error=None)
    own = world.uncoordinated
    if own is not None:
        result.checkpoints = checkpoint_rows(spec.run_key, own)
        result.figures += figure_rows(spec.run_key, own)
        result.run = replace(
            result.run,
            checkpoints_completed=sum(one.stored_ns is not None for one in own.taken),
            checkpoints_failed=sum(one.status == "failed" for one in own.taken),
        )
    result.violations = world.violation_log.counted(
        spec.violation(name, at_ns, says) for name, at_ns, says, _ in world.violations
    )
    if spec.wants_account:
        result.account = partial(_account, spec.run_key, world)
    result.figures += [
        FigureRow(run_key=spec.run_key, figure=name, value=value, expected=None)
        for name, value in _figures(world, result).items()
    ]
    return result


def _account(key: str, world: RecordWorld) -> tuple[list[RecordRow], list[CommitRow]]:
    """Return what the output of each sink owes and has of each record, and its transactions."""
    graph, due = world.graph, RecordView(world).expected()
    names = {
        number: f"{vertex}/{place}"
        for vertex, numbers in graph.splits.items()
        for place, number in enumerate(numbers)
    }
    rows: list[RecordRow] = []
    for sink in (vertex.name for vertex in graph.vertices if vertex.kind is VertexKind.SINK):
        owed, found = due[sink], world.external.committed(sink)
        for record in sorted(owed | found):
            split, position = divmod(record, SOURCE_SPAN)
            row = RecordRow(
                run_key=key,
                source=names[split],
                position=position,
                due=owed[record],
                stored=found[record],
                sink=sink,
            )
            rows.append(row)
    return rows, commit_rows(key, world.control)


def _figures(world: RecordWorld, result: RunResult) -> dict[str, float]:
    """Return what keeping data in flight has cost, of a job in which any was kept."""
    spilled = world.spilled
    if not spilled.written:
        return {}
    completed = sum(one.status == "completed" for one in result.checkpoints)
    found = {
        "write_amplification": spilled.written / spilled.sent,
        "handles": spilled.handles / max(1, completed),
        "broken_share": float(bool(world.violations)),
    }
    if spilled.restores:
        found["files_opened"] = spilled.files_opened / spilled.restores
        found["pieces_read"] = spilled.pieces_read / spilled.restores
    return found
