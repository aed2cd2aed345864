"""From a sweep plan to the rows that are shipped to workers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from ckptsim.analysis.sweeps.worker import SweepRow
from ckptsim.analysis.tables.store import SweepStore
from ckptsim.scenarios.files import plain
from ckptsim.scenarios.planning import SCENARIO_AXIS, Plan, Point, plan_values, runs
from ckptsim.sim.fingerprint import version
from ckptsim.sim.identity import replay_command, run_key


def sweep_rows(plan: Plan, properties: Sequence[str] = ()) -> list[SweepRow]:
    """Return the rows of a plan in its order: by point, then tie policy, then replication.

    properties: of the user's, which are judged in every run.
    Raises ScenarioError with every problem of any point.
    """
    points: dict[int, dict[str, str]] = {}
    rows = []
    for run in runs(plan):
        point = run.point
        about = points.setdefault(point.index, _about(plan, point))
        rows.append(
            SweepRow(
                run_key=run_key(
                    point.scenario, seed=run.seed, ties=run.ties, properties=properties
                ),
                point=point.index,
                seed=run.seed,
                ties=run.ties,
                version=version(point.scenario.world),
                replay=replay_command(
                    about["source"],
                    seed=run.seed,
                    ties=run.ties,
                    parameters=about["parameters"],
                    properties=properties,
                ),
                properties=tuple(properties),
                **about,
            )
        )
    return rows


def _about(plan: Plan, point: Point) -> dict[str, str]:
    """Return what all runs of a point have in common."""
    swept: dict[str, object] = json.loads(point.parameters)
    source = plan.reached(str(swept.pop(SCENARIO_AXIS, plan.scenario)))
    return {
        "scenario": point.scenario.name,
        "link": point.scenario.link,
        "source": source,
        "document": json.dumps(plain(point.scenario)),
        "parameters": json.dumps(
            {**plan.overrides, **swept}, sort_keys=True, separators=(",", ":")
        ),
    }


def prepare(
    plan: Plan, store: SweepStore, *, resume: bool = True, properties: Sequence[str] = ()
) -> list[SweepRow]:
    """Make a directory ready for a plan, and return the rows of all its runs.

    properties: of the user's, which are judged in every run.
    resume: keep the runs that are there; else those of the sweep in the directory are removed,
    whatever plan it was of.
    Raises ScenarioError for a plan that is wrong, UserError for a directory that holds other files
    or, to resume, another sweep.
    """
    rows = sweep_rows(plan, properties)
    if not resume:
        store.clear()
    store.open(about_sweep(plan, rows))
    store.write_points(rows)
    return rows


def about_sweep(plan: Plan, rows: list[SweepRow]) -> Mapping[str, object]:
    """Return what a sweep's directory says of it; two sweeps with equal texts are the same."""
    keys = hashlib.blake2b("\n".join(row.run_key for row in rows).encode(), digest_size=16)
    axes = [[path, list(values)] for path, values in plan_values(plan).items()]
    return {
        "plan": plan.name,
        "says": plan.says,
        "question": plan.question,
        "answers": list(plan.answers),
        "words": dict(plan.words),
        "scenario": plan.scenario,
        "axes": axes,
        "overrides": dict(plan.overrides),
        "runs": len(rows),
        "points": len({row.point for row in rows}),
        "program": ", ".join(dict.fromkeys(row.version for row in rows)),
        "keys": keys.hexdigest(),
    }
