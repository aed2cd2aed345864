"""A world that costs nothing, for tests of the machinery around worlds.

It takes any scenario and looks at the swept parameters alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import time
from collections.abc import Mapping, Sequence

from ckptsim.analysis.sweeps.worker import SweepRow
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import plain
from ckptsim.sim.judging import Judging
from ckptsim.sim.rows import CheckpointRow, RunResult, RunRow

WORLD = "tests.analysis.sweeps.synthetic:run_world"
WORLD_OF_GLOBALS = "tests.analysis.sweeps.synthetic:run_with_global_random"
Point = Mapping[str, int]


def point(
    *, checkpoints: int = 3, fails: int = 0, dies: int = 0, sleeps: int = 0, hoards: int = 0
) -> Point:
    """Return the parameters of a point: how many checkpoints a run has, and which seed goes wrong.

    fails: the seed that raises. dies: the one that kills its worker. sleeps: the one that takes
    three seconds. hoards: the one that needs a gigabyte. 0 is no seed.
    """
    point = {"checkpoints": checkpoints, "fails": fails, "dies": dies}
    return point | {"sleeps": sleeps, "hoards": hoards}


def rows(points: Sequence[Point], seeds: Sequence[int]) -> list[SweepRow]:
    """Return the rows of a grid of points and seeds."""
    scenario = by_name("reference")
    document = json.dumps(plain(scenario))
    return [
        SweepRow(
            run_key=key_of(parameters, seed),
            point=index,
            scenario=scenario.name,
            link=scenario.link,
            source=scenario.name,
            document=document,
            parameters=json.dumps(parameters),
            seed=seed,
            ties="structural",
            version="1",
            replay=f"replay {seed}",
        )
        for index, parameters in enumerate(points)
        for seed in seeds
    ]


def key_of(parameters: Point, seed: int) -> str:
    """Return a key that depends on the parameters and the seed."""
    text = json.dumps(parameters, sort_keys=True) + str(seed)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def run_world(
    scenario: Scenario,
    *,
    seed: int,
    ties: str,
    parameters: str,
    source: str,
    judging: Judging,
) -> RunResult:
    """Return rows that depend on the parameters and the seed only."""
    wanted: Point = json.loads(parameters)
    if seed == wanted["fails"]:
        raise ValueError(f"seed {seed} is the one that fails")
    if seed == wanted["dies"]:
        os.kill(os.getpid(), signal.SIGKILL)
    if seed == wanted["sleeps"]:
        time.sleep(3)
    if seed == wanted["hoards"]:
        bytearray(1 << 30)
    key = key_of(wanted, seed)
    draws = random.Random(seed)
    checkpoints = [
        _checkpoint(key, index, draws.randrange(10**9)) for index in range(wanted["checkpoints"])
    ]
    run = RunRow(
        run_key=key,
        scenario=scenario.name,
        link=scenario.link,
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
        checkpoints_completed=wanted["checkpoints"],
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
    scenario: Scenario,
    *,
    seed: int,
    ties: str,
    parameters: str,
    source: str,
    judging: Judging,
) -> RunResult:
    """Draw from the global generator, which a worker must refuse."""
    random.random()
    return run_world(
        scenario,
        seed=seed,
        ties=ties,
        parameters=parameters,
        source=source,
        judging=judging,
    )
