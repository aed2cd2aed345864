"""Every promise of a store is a property that something breaks, and every report a scenario."""

from __future__ import annotations

from collections import Counter

from ckptsim.scenarios.store import INVARIANTS, PROPERTIES
from tests.store import map_table


def test_every_promise_is_a_property_that_something_breaks() -> None:
    """Nineteen promises of safety and five of liveness, each broken by a mutant or anti-pattern."""
    assert Counter(label[0] for label in INVARIANTS) == {"I": 19, "L": 5}
    assert tuple(INVARIANTS.values()) == tuple(PROPERTIES)
    for name in INVARIANTS.values():
        assert map_table.mutants_of(name) or map_table.breakers_of(name), name


def test_every_report_has_its_scenario() -> None:
    """All eighteen reports are restated, and each anti-pattern that loses rows says how many."""
    scenarios = map_table.scenarios()
    restated = {map_table.story_of(each) for each in scenarios} - {""}
    assert restated == {f"S{number}" for number in range(1, map_table.STORIES + 1)}
    for scenario in scenarios:
        if map_table.LOSS in scenario.violates:
            words = map_table.loss_of(scenario).replace(",", "").split()
            assert sum(int(word) for word in words if word.isdigit()) > 0, scenario.name
