"""What a completed checkpoint of a pipeline holds, record by record, on either plane."""

from collections import Counter
from itertools import pairwise

import pytest

from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.scenarios.composed import READERS, SINK
from ckptsim.scenarios.job import Mode
from ckptsim.sim.composed.world import PipelineWorld
from tests.composed.plans import random_pipeline, run_pipeline

TIES = ("structural", "random", "pct")


def steps(world: PipelineWorld) -> list[tuple[str, str]]:
    """Return the vertices of a pipeline pairwise, from the readers to the sink."""
    names = [vertex.name for vertex in world.pipeline.vertices]
    return list(pairwise(names))


def check_cuts(seeds: range, plane: str) -> Counter[str]:
    """Check the completed checkpoints of random pipelines; count what they have."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        scenario = random_pipeline(seed, plane)
        world, result = run_pipeline(scenario, seed, TIES[seed % len(TIES)])
        assert [row.says for row in result.violations] == [], f"seed {seed}"
        if world.pipeline.checkpointing.mode is Mode.AT_LEAST_ONCE:
            continue
        for checkpoint in world.job.kept:
            for above, below in steps(world):
                states = [checkpoint.vertices[name] for name in (above, below)]
                if states != [FinishedState.RUNNING] * 2 or checkpoint.lost_state & {above, below}:
                    continue  # what a finished task held is part of no checkpoint
                sent, found = Counter[int](), Counter[int]()
                for number in world.job.numbers_of(above):
                    sent.update(checkpoint.tasks[number].records)
                    for records in checkpoint.tasks[number].output_records.values():
                        found.update(records)
                        seen["at outputs"] += len(records)
                for number in world.job.numbers_of(below):
                    found.update(checkpoint.tasks[number].records)
                    for records in checkpoint.tasks[number].input_records.values():
                        found.update(records)
                        seen["at inputs"] += len(records)
                assert sent == found, f"seed {seed}, checkpoint {checkpoint.checkpoint_id}: {above}"
                seen["cuts"] += 1
    return seen


@pytest.mark.parametrize("plane", ["records", "buffers"])
def test_completed_checkpoints_are_cuts_record_by_record(plane: str) -> None:
    """What the tasks of a vertex have sent is in the state below, or in flight, each once."""
    seen = check_cuts(range(75), plane)
    assert seen["cuts"] >= 100
    assert min(seen["at inputs"], seen["at outputs"]) >= 25


def test_transactions_have_the_records_of_the_sinks() -> None:
    """On buffers a transaction holds the records themselves, each that a sink has processed."""
    world, result = run_pipeline(random_pipeline(4, "buffers"), 4)
    assert result.run.outcome == "completed"
    external = world.job.control.sinks.external
    committed = external.committed(SINK)
    assert sum(committed.values()) == external.committed_count(SINK) > 0
    assert set(committed) == set(world.ledger.all_records())
    assert set(world.job.records_of(READERS)) <= set(committed)
