"""What each interface of a store loses under the same faults.

`python -m tests.store.generations_table` writes its table into docs/checkpoint-store.md again.
"""

from __future__ import annotations

from pathlib import Path

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import with_parameters
from ckptsim.scenarios.store import Generation
from ckptsim.sim.world import run_world

DOCUMENT = Path(__file__).parents[2] / "docs" / "checkpoint-store.md"
HEAD = "| interface | reopened | started anew | crash | versions, views | producers | new disk |"
SCENARIOS = (
    "s13_reopened_partition",
    "s08_rebootstrap_wiped",
    "colocated_crashes",
    "s14_versions_and_views_apart",
    "two_producers",
    "built_in_store_lost",
)
# Of a cell the first of these that does not hold, where no record is lost.
WORST = {
    "no_checkpoint_ahead_of_data": "ahead of its rows",
    "version_state_agrees": "version state",
    "dropped_versions_leave_nothing": "left after a drop",
    "checkpoint_is_of_one_instant": "producers",
    "other_partitions_untouched": "others written",
    "fallback_uses_one_store": "two stores written",
}


def table() -> str:
    """Return the table, a row for each interface."""
    rows = ([one.value, *(cell(name, one) for name in SCENARIOS)] for one in Generation)
    return "\n".join([HEAD, "| --- " * 7 + "|", *(f"| {' | '.join(row)} |" for row in rows)])


def cell(name: str, generation: Generation) -> str:
    """Return what the run of one cell loses, `-` where every promise holds."""
    scenario = with_parameters(by_name(name), {"store.generation": generation.value})
    found = {row.property: row.says for row in run_world(scenario, seed=0).violations}
    if "content_converges" in found:
        lost = found["content_converges"].partition(": ")[2].partition(",")[0]
        return f"**{lost}**"
    return next((says for name, says in WORST.items() if name in found), "-")


if __name__ == "__main__":
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition("| interface |")
    after = rest.partition("\n\n")[2]
    DOCUMENT.write_text(f"{before}{table()}\n\n{after}", encoding="utf-8")
