"""Plans that were found, kept as JSON: a scenario's document, seed, tie policy, mutant, property.

`python -m tests.sync.mutants.corpus MUTANT...` looks for a small generated plan that distinguishes
each mutant from the right core, and writes it down.  Entries outlive changes of the strategies,
which Hypothesis's own database does not.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from hypothesis import HealthCheck, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.files import read
from ckptsim.scenarios.files.document import human
from ckptsim.sim.world import run_world
from tests.mutants.ordering import MUTANTS
from tests.sync import support

FOLDER = Path(__file__).parent / "corpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One plan: how it runs, and which property the mutant breaks in it (None: none)."""

    name: str
    scenario: Scenario
    seed: int
    ties: str
    mutant: str | None
    property: str | None


def load() -> list[Found]:
    """Return all kept plans by name."""
    return [_read(path) for path in sorted(FOLDER.glob("*.json"))]


def _read(path: Path) -> Found:
    document = json.loads(path.read_text(encoding="utf-8"))
    scenario = read(document["scenario"], source=path.name)
    rest = {key: document[key] for key in ("seed", "ties", "mutant", "property")}
    return Found(name=path.stem, scenario=scenario, **rest)


def write(found: Found) -> None:
    """Keep a plan."""
    document = {
        "mutant": found.mutant,
        "property": found.property,
        "seed": found.seed,
        "ties": found.ties,
        "scenario": human(found.scenario),
    }
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(document, indent=1, sort_keys=True)
    (FOLDER / f"{found.name}.json").write_text(text + "\n", encoding="utf-8")


def broken(scenario: Scenario, seed: int, ties: str, mutant: str | None) -> str | None:
    """Return the property that a mutant (or the right core) breaks, or None."""
    violations = run_world(scenario, seed=seed, ties=ties, mutant=mutant).violations
    return violations[0].property if violations else None


class _Search:
    """Says whether a mutant breaks a property. After `budget_s` knows only what it has seen."""

    def __init__(self, mutant: str, budget_s: float) -> None:
        self._mutant = mutant
        self._until = process_time() + budget_s
        self._seen: dict[str, bool] = {}

    def __call__(self, plan: tuple[Scenario, int, str]) -> bool:
        key = repr(plan)
        if key not in self._seen:
            if process_time() > self._until:
                return False
            mutant, right = broken(*plan, self._mutant), broken(*plan, None)
            self._seen[key] = mutant is not None and right is None
        return self._seen[key]


def smallest(mutant: str, *, examples: int, budget_s: float) -> Found | None:
    """Return a small plan that distinguishes a mutant from the right core, or None."""
    search = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    try:
        scenario, seed, ties = find(
            st.tuples(support.scenarios(), support.SEEDS, support.TIES),
            _Search(mutant, budget_s),
            settings=search,
        )
    except NoSuchExample:
        return None
    return Found(
        name=mutant,
        scenario=scenario,
        seed=seed,
        ties=ties,
        mutant=mutant,
        property=broken(scenario, seed, ties, mutant),
    )


def _main(mutants: list[str]) -> None:
    for mutant in mutants or [name for name, one in MUTANTS.items() if one.profile == "spec"]:
        found = smallest(mutant, examples=3000, budget_s=25.0)
        print(mutant, "not found" if found is None else found.property, flush=True)
        if found is not None:
            write(found)


if __name__ == "__main__":
    _main(sys.argv[1:])
