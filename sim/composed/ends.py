"""What must hold when a run has completed: every record once, in the store and in every state."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Mode
from ckptsim.sim.composed.store.identity import row_name
from ckptsim.sim.job.oracle.contents import differences

if TYPE_CHECKING:
    from ckptsim.sim.composed.world import PipelineWorld


def check_end(world: PipelineWorld) -> None:
    """Compare the store and the state of the stages with the records of the source.

    A job whose checkpoints are at-least-once owes no more than every record in the store.  Its
    state is owed nothing: a record that a sink commits with a checkpoint may be in no state of that
    checkpoint, and once its state was returned nobody sends it again.
    """
    expected = Counter(world.ledger.all_records())
    exactly = world.pipeline.checkpointing.mode is not Mode.AT_LEAST_ONCE
    found = world.store.durable()
    _note_missing(world, expected, found)
    if exactly and found - expected:
        extra = found - expected
        name = row_name(min(extra))
        says = f"{sum(extra.values())} rows too many in the store, such as of record {name}"
        world.note("exactly_once_output", says)
    job = world.job
    job.control.sinks.check_end(())
    for vertex in world.pipeline.vertices:
        # What a finished subtask held is not part of a checkpoint; nothing asks for it any more.
        if vertex.name in job.plane.lost_state:
            continue
        says_state = (
            differences(expected, Counter(job.records_of(vertex.name))) if exactly else None
        )
        if says_state is not None:
            world.note("exactly_once_state", f"state of {vertex.name}: {says_state}")


def _note_missing(world: PipelineWorld, expected: Counter[int], found: Counter[int]) -> None:
    missing = expected - found
    if missing:
        says = (
            f"the run completed, but {sum(missing.values())} of {sum(expected.values())} records "
            f"are not in the store, such as {row_name(min(missing))}"
        )
        world.properties.lost(says)
