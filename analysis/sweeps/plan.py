"""From a sweep plan to the rows that are shipped to workers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from ckptsim.analysis.sweeps.worker import SweepRow
from ckptsim.analysis.tables.lock import LOCK
from ckptsim.analysis.tables.store import ABOUT, SweepStore
from ckptsim.scenarios import UserError
from ckptsim.scenarios.files import plain
from ckptsim.scenarios.planning import (
    CORE_AXIS,
    MUTANT_AXIS,
    SCENARIO_AXIS,
    Design,
    Plan,
    Point,
    plan_values,
    runs,
)
from ckptsim.sim.fingerprint import version
from ckptsim.sim.identity import canonical_names, replay_command, run_key
from ckptsim.sim.judging import Judging
from ckptsim.sim.slots.guest import CoreUnansweredError
from ckptsim.sim.slots.resolve import resolve, source_mark, try_out


def sweep_rows(plan: Plan, properties: Sequence[str] = ()) -> list[SweepRow]:
    """Return the rows of a plan in its order: by point, then tie policy, then replication.

    properties: of the user's, which are judged in every run.
    Raises ScenarioError with every problem of any point.
    """
    points: dict[int, dict[str, Any]] = {}
    rows = []
    every = runs(plan)
    _check_designs(plan, [run.point for run in every])
    for run in every:
        point = run.point
        about = points.setdefault(point.index, _about(plan, point))
        decides: dict[str, Any] = {
            "seed": run.seed,
            "ties": run.ties,
            "cores": point.design.cores,
            "mutant": point.design.mutant,
        }
        own = tuple(properties)
        rows.append(
            SweepRow(
                run_key=run_key(point.scenario, **decides, properties=own),
                point=point.index,
                seed=run.seed,
                ties=run.ties,
                version=version(point.scenario.world),
                replay=replay_command(
                    about["source"],
                    parameters=about["parameters"],
                    judged=Judging(properties=own).words,
                    **decides,
                ),
                properties=own,
                **about,
            )
        )
    return rows


def _check_designs(plan: Plan, points: Sequence[Point]) -> None:
    """Look at every combination of cores and mutants once, before anything runs.

    Raises UserError for those that do not exist, do not fit or cannot be imported.
    """
    seen: list[tuple[str, Design]] = []
    for point in points:
        if (point.scenario.world, point.design) in seen:
            continue
        seen.append((point.scenario.world, point.design))
        cores = point.design.cores
        try:
            resolve(point.scenario.world, cores=cores, mutant=point.design.mutant)
            try_out(cores)
        except CoreUnansweredError:
            raise
        except UserError as error:
            said = (
                str(error).replace("--core ", f"{CORE_AXIS}.", 1).replace("--mutant", MUTANT_AXIS)
            )
            raise UserError(f"{plan.source}: {said}") from error


def _about(plan: Plan, point: Point) -> dict[str, Any]:
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
        "cores": canonical_names(point.design.cores),
        "mutant": point.design.mutant,
    }


@contextmanager
def prepared(
    plan: Plan,
    out: Path | None,
    *,
    base: Path = Path("out"),
    resume: bool = True,
    properties: Sequence[str] = (),
) -> Iterator[tuple[SweepStore, list[SweepRow]]]:
    """Hold a directory that is ready for a plan, with the rows of all its runs.

    out: the directory. Without it the first of `base/NAME`, `base/NAME-2`, ... that is free or has
    this very sweep.  properties: of the user's, which are judged in every run. Raises ScenarioError
    for a plan that is wrong, and UserError as `make_ready` does, or when another process writes
    into the directory.
    """
    rows = sweep_rows(plan, properties)
    about = about_sweep(plan, rows)
    store = SweepStore(out or free_place(base / plan.name, about, resume=resume))
    with store.writing():
        make_ready(store, rows, about, resume=resume)
        yield store, rows


def make_ready(
    store: SweepStore, rows: list[SweepRow], about: Mapping[str, object], *, resume: bool = True
) -> None:
    """Make a directory ready for the rows of a sweep.

    resume: keep the runs that are there. Else the ones of the sweep in the directory are removed,
    whatever plan it was of. Raises UserError for a directory that holds other files or, to resume,
    another sweep.
    """
    if not resume:
        store.clear()
    store.open(about)
    store.write_points(rows)


def about_sweep(plan: Plan, rows: list[SweepRow]) -> Mapping[str, object]:
    """Return what a sweep's directory says of it. Two sweeps with equal texts are the same."""
    keys = hashlib.blake2b("\n".join(row.run_key for row in rows).encode(), digest_size=16)
    axes = [[path, list(values)] for path, values in plan_values(plan).items()]
    designs = dict.fromkeys(row.cores for row in rows)
    cores = [name for found in designs for name in json.loads(found).values()]
    programs = [*(row.version for row in rows), *map(source_mark, cores)]
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
        "program": ", ".join(dict.fromkeys(programs)),
        "keys": keys.hexdigest(),
    }


def free_place(place: Path, about: Mapping[str, object], *, resume: bool) -> Path:
    """Return the first directory of a name that is free, or that has this very sweep."""
    for number in count(1):
        found = place if number == 1 else place.with_name(f"{place.name}-{number}")
        if not resume or not found.is_dir():
            return found
        if not (found / ABOUT).exists():
            if all(path.name == LOCK for path in found.iterdir()):
                return found
            continue
        try:
            if not SweepStore(found).differs(about):
                return found
        except UserError:  # one that is damaged
            continue
    raise AssertionError
