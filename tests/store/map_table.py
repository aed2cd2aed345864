"""The map of a store's promises: what holds, what breaks it, and which scenario shows what.

`python -m tests.store.map_table` writes the last section of docs/checkpoint-store.md again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.store import INVARIANTS, PROPERTIES
from ckptsim.sim.world import run_world
from tests.store.killed import KILLED_BY

DOCUMENT = Path(__file__).parents[2] / "docs" / "checkpoint-store.md"
HEADING = "## The map of promises\n"
LOSS = "content_converges"
STORIES = 18


_ABOUT = """\
`python -m tests.store.map_table` writes this section, and a test compares it. Each promise is a
property that every run checks:
"""
_ABOUT_STORIES = """\
These scenarios lack a safeguard and break a promise. `s01` to `s18` restate public reports, and
the file of each names its source. The loss is from seed 0, in keys of the first partition that
differs from its log. `tests/store/killed.py` has a mutant for each other safeguard.
"""


def section() -> str:
    """Return the section with both tables."""
    return "\n".join(
        [
            HEADING,
            _ABOUT,
            *_promises(),
            "",
            _ABOUT_STORIES,
            "| scenario | breaks | loss |",
            "| --- | --- | --- |",
            *_stories(),
            "",
        ]
    )


def scenarios() -> list[Scenario]:
    """Return the scenarios of the link, by name."""
    return [each for each in all_scenarios() if each.link == "checkpoint_store"]


def story_of(scenario: Scenario) -> str:
    """Return the number of the report that a scenario restates, empty for one of our own."""
    head = scenario.name.partition("_")[0]
    return f"S{int(head[1:])}" if head[0] == "s" and head[1:].isdigit() else ""


def mutants_of(name: str) -> list[str]:
    """Return the mutants that a scenario, or its property, is the proof of."""
    return [mutant for mutant, (place, *broken) in KILLED_BY.items() if name in (place, *broken)]


def breakers_of(name: str) -> list[str]:
    """Return the anti-patterns that break a property."""
    return [each.name for each in scenarios() if name in each.violates]


def loss_of(scenario: Scenario) -> str:
    """Return what an anti-pattern loses at seed 0, in words. Empty where contents agree."""
    found = run_world(scenario, seed=0).violations
    return next((row.says.partition(": ")[2] for row in found if row.property == LOSS), "")


def _promises() -> Iterator[str]:
    yield from (f"* `{name}`: {PROPERTIES[name]}." for name in INVARIANTS.values())


def _stories() -> Iterator[str]:
    for scenario in scenarios():
        if scenario.violates:
            broken = ", ".join(f"`{name}`" for name in scenario.violates)
            yield f"| `{scenario.name}` | {broken} | {loss_of(scenario) or '-'} |"


def written() -> str:
    """Return the section as the document has it."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return text[text.index(HEADING) :] if HEADING in text else ""


def main() -> None:
    """Write the section again."""
    text = DOCUMENT.read_text(encoding="utf-8")
    kept = text.partition(HEADING)[0].rstrip()
    DOCUMENT.write_text(f"{kept}\n\n{section()}", encoding="utf-8")


if __name__ == "__main__":
    main()
