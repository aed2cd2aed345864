"""A world that costs nothing, for tests of the machinery around worlds.

Its link exists in the processes that import this module only: the tests and their Spark workers.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.worker import SweepRow
from scenarios.document import plain
from scenarios.fields import count
from scenarios.links import LINKS
from scenarios.spec import Link, Scenario
from sim.rows import CheckpointRow, RunResult, RunRow

WORLD = "tests.analysis.synthetic:run_world"
WORLD_OF_GLOBALS = "tests.analysis.synthetic:run_with_global_random"


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Parameters of the synthetic link."""

    checkpoints: int = count(3, says="how many checkpoints a run has", source="test")
    fails: int = count(0, says="which seed raises; 0 for none", source="test")
    dies: int = count(0, says="which seed kills its worker; 0 for none", source="test")


LINKS.setdefault(
    "synthetic",
    Link(name="synthetic", says="no link of the chain", key="synthetic", model=Model),
)


def scenario(**parameters: int) -> Scenario:
    """Return a scenario of the synthetic link."""
    return Scenario(name="synthetic", link="synthetic", says="none", model=Model(**parameters))


def rows(points: Sequence[Scenario], seeds: Sequence[int]) -> list[SweepRow]:
    """Return the rows of a grid of points and seeds."""
    return [
        SweepRow(
            run_key=key_of(point, seed),
            point=index,
            scenario=point.name,
            link=point.link,
            source=point.name,
            document=json.dumps(plain(point)),
            parameters=json.dumps({"checkpoints": point.model.checkpoints}),
            seed=seed,
            ties="structural",
            version="1",
            replay=f"replay {seed}",
        )
        for index, point in enumerate(points)
        for seed in seeds
    ]


def key_of(point: Scenario, seed: int) -> str:
    text = json.dumps(plain(point), sort_keys=True) + str(seed)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def run_world(point: Scenario, *, seed: int, ties: str, parameters: str, source: str) -> RunResult:
    """Return rows that depend on the seed only."""
    model = point.model
    if seed == model.fails:
        raise ValueError(f"seed {seed} is the one that fails")
    if seed == model.dies:
        os.kill(os.getpid(), signal.SIGKILL)
    key = key_of(point, seed)
    draws = random.Random(seed)
    checkpoints = [
        _checkpoint(key, index, draws.randrange(10**9)) for index in range(model.checkpoints)
    ]
    run = RunRow(
        run_key=key,
        scenario=point.name,
        link=point.link,
        seed=seed,
        ties=ties,
        version="1",
        digest=hashlib.blake2b(str(draws.random()).encode(), digest_size=8).hexdigest(),
        outcome="completed",
        error=None,
        ended_ns=sum(row.duration_ns or 0 for row in checkpoints),
        events=10,
        records_produced=100,
        records_committed=100,
        checkpoints_completed=model.checkpoints,
        checkpoints_failed=0,
        violations=0,
        attempts=1,
        parameters=parameters,
        replay=f"replay {seed}",
    )
    return RunResult(run=run, checkpoints=checkpoints, goals={"crash_survived": seed % 2})


def _checkpoint(key: str, index: int, duration_ns: int) -> CheckpointRow:
    aborted = duration_ns % 5 == 0
    return CheckpointRow(
        run_key=key,
        scope="*",
        checkpoint_id=index,
        attempt=1,
        kind="periodic",
        status="aborted" if aborted else "completed",
        reason="synthetic" if aborted else None,
        triggered_ns=index * 10**9,
        completed_ns=None if aborted else index * 10**9 + duration_ns,
        duration_ns=duration_ns,
    )


def run_with_global_random(
    point: Scenario, *, seed: int, ties: str, parameters: str, source: str
) -> RunResult:
    """Draw from the global generator, which a worker must refuse."""
    random.random()
    return run_world(point, seed=seed, ties=ties, parameters=parameters, source=source)
