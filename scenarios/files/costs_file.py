"""A file with measured costs of a store's durable steps, and how a scenario takes them over.

    [costs]
    transaction = "5.1 ms"
    flush_ns = "4.2 ms"

`[costs]` has keys of `StepCosts`. What it leaves out stays as the scenario has it.  Another table,
`[measured]`, may say where the costs come from. Nothing reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ckptsim.scenarios.dialect import At, Bad, read_keys, schema, shown
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.files.load import parse, read_text
from ckptsim.scenarios.files.toml import write
from ckptsim.scenarios.limits import PIPELINE, limits_of
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Link
from ckptsim.scenarios.store import StepCosts

_TABLES = ("costs", "measured")


def load_costs(path: Path) -> dict[str, object]:
    """Return the costs that a file names, in base units, by the field of `StepCosts`.

    Raises ScenarioError with every problem found.
    """
    source = str(path)
    found = parse(read_text(path), source)
    problems: list[Problem] = []
    at = At(source, "", problems)
    for key in found:
        if key not in _TABLES:
            at.key(key).note("an unknown table", "one of costs, measured")
    costs = found.get("costs")
    if not isinstance(costs, Mapping) or not costs:
        at.key("costs").note("nothing" if costs is None else shown(costs), "a table of costs")
        raise ScenarioError(problems)
    values = read_keys(schema(StepCosts), costs, at.key("costs"))
    if problems or isinstance(values, Bad):
        raise ScenarioError(problems)
    return values


def cost_parameters(
    costs: Mapping[str, object], link: str, *, links: Mapping[str, Link] = LINKS
) -> dict[str, object]:
    """Return costs as parameters of a scenario, by path, without those that mean nothing there.

    Raises ScenarioError for a link without a store.
    """
    path = links[link].costs
    if path is None:
        known = ", ".join(f"'{each.name}'" for each in links.values() if each.costs is not None)
        raise ScenarioError(
            [Problem("--costs", f"a scenario of link '{link}'", f"one with a store, of {known}")]
        )
    key, limits = links[link].key, limits_of(links[link].model)
    unused = {f"{key}.{one.path}" for one in limits if key == one.limit.place == PIPELINE}
    every = {f"{path}.{name}": value for name, value in costs.items()}
    return {place: value for place, value in every.items() if place not in unused}


def costs_text(costs: Mapping[str, int], measured: Mapping[str, object]) -> str:
    """Return the text of a file with these costs, in base units, and where they come from."""
    written: dict[str, object] = {}
    for entry in schema(StepCosts):
        if entry.name in costs:
            human = entry.kind.human(costs[entry.name])
            bare = isinstance(human, int | float)
            written[entry.name if entry.short is None or bare else entry.short] = human
    return write({"measured": measured, "costs": written})
