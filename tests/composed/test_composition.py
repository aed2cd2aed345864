"""What joins the parts of a pipeline: Protocols and public methods, and signs of life."""

from __future__ import annotations

import inspect
import json
import pkgutil
from collections import Counter
from importlib import import_module
from itertools import pairwise
from typing import Any

import pytest

from ckptsim.models.coordinator.plan import FinishedState
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.composed import READERS, SINK
from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import from_json, plain
from ckptsim.scenarios.job import Mode
from ckptsim.sim import composed
from ckptsim.sim.composed.destination.committer import Committer
from ckptsim.sim.composed.destination.job import PipelineJob
from ckptsim.sim.composed.world import PipelineWorld
from ckptsim.sim.world import run_world
from tests.composed.plans import random_pipeline, run_pipeline


def test_no_part_of_a_pipeline_overrides_what_another_package_keeps_to_itself() -> None:
    """A class of a pipeline that derives from another package's keeps off its private methods."""
    seen, found = 0, []
    for module in pkgutil.iter_modules(composed.__path__):
        for name, kind in vars(import_module(f"{composed.__name__}.{module.name}")).items():
            if not inspect.isclass(kind) or not kind.__module__.startswith(composed.__name__):
                continue
            others = [base for base in kind.__mro__ if base.__module__.startswith("ckptsim.")]
            for base in others:
                if base.__module__.startswith(composed.__name__):
                    continue
                seen += 1
                private = {key for key in vars(base) if key.startswith("_") and key[1] != "_"}
                found += [(name, key) for key in sorted(private & set(vars(kind)))]
    assert found == []
    assert seen >= 4


@pytest.mark.parametrize("plane", ["records", "buffers"])
def test_a_job_that_works_slowly_is_not_silent(plane: str) -> None:
    """Records that take long are signs of life, also in the middle of a buffer of hundreds."""
    document: Any = plain(by_name("pipeline_buffers")) | {"faults": [], "goals": []}
    pipeline = document["pipeline"]
    pipeline["plane"] = plane
    pipeline["network"] |= {"segment_bytes": 1 << 20, "buffer_timeout_ns": 0}
    pipeline["stages"][1]["service_ns"] = 50_000_000
    pipeline["checkpointing"]["interval_ns"] = 60_000_000_000
    pipeline["checkpointing"]["first_trigger_ns"] = "none"
    pipeline["release"]["stall_limit_ns"] = 300_000_000
    result = run_world(from_json(json.dumps(document)), seed=1)
    assert result.violations == []
    assert (result.run.outcome, result.run.attempts) == ("completed", 1)


TIES = ("structural", "random", "pct")


def steps(world: PipelineWorld) -> list[tuple[str, str]]:
    """Return the vertices of a pipeline pairwise, from the readers to the sink."""
    names = [vertex.name for vertex in world.pipeline.vertices]
    return list(pairwise(names))


def check_cuts(seeds: range, plane: str) -> Counter[str]:
    """Check the completed checkpoints of random pipelines. Count what they have."""
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


def test_a_pipeline_has_no_map_of_task_managers() -> None:
    """Stages name no task managers, so a placement that asks for their names is refused."""
    text = json.loads(json.dumps(plain(by_name("pipeline"))))
    text["pipeline"]["placement"] = "map"
    with pytest.raises(ScenarioError, match=r'pipeline\.placement: found "map"'):
        from_json(json.dumps(text))


def test_sinks_of_an_attempt_that_is_over_write_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that keeps the committers of a failed attempt flushes what the crash had lost."""
    kept: list[Committer] = []
    right = PipelineJob.next_attempt

    def next_attempt(self: PipelineJob) -> None:
        kept.extend(self.committers)
        right(self)
        self.committers = [*kept, *self.committers]

    monkeypatch.setattr(PipelineJob, "next_attempt", next_attempt)
    document: Any = plain(by_name("pipeline_not_hooked")) | {"violates": [], "goals": []}
    document["pipeline"]["store"]["own_flush_ns"] = 20_000_000
    found: set[str] = set()
    for at_ms in range(5, 60, 5):
        crash = {"kind": "crash_at", "side": "destination", "at_ns": at_ms * 1_000_000}
        rows = run_world(from_json(json.dumps(document | {"faults": [crash]})), seed=1).violations
        found |= {row.property for row in rows}
    assert "failed_tasks_do_nothing" in found
