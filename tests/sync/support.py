"""What the tests of the simulated sync share: scenarios by name, changed ones, random ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, cast

from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.generators import Choices, ordering
from ckptsim.scenarios.sync import SyncFault
from ckptsim.sim.search.explore.run import TIES as DRAWN_TIES

TIES = st.sampled_from(DRAWN_TIES)
SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Draw a workload with a fault plan. It shrinks towards a quiet sync."""
    return ordering(Choices(more=lambda low, high: draw(st.integers(low, high))))


@cache
def library(name: str) -> Scenario:
    """Return a library scenario."""
    return by_name(name)


def changed(scenario: Scenario, path: str, value: object) -> Scenario:
    """Return a scenario with one parameter of its sync changed, such as `sockets.count`."""
    document = plain(scenario)
    table = cast("dict[str, Any]", document["sync"])
    *parents, key = path.split(".")
    for parent in parents:
        table = table[parent]
    if key not in table:
        raise KeyError(path)
    table[key] = value
    return read(document, source="test")


def with_faults(scenario: Scenario, *faults: SyncFault) -> Scenario:
    """Return a scenario with these faults instead of its own."""
    return replace(scenario, faults=faults)
