"""Options that few scenarios need: each random one gets a few of them, so that all are explored.

Only those with which every property holds but what `violates` names then; whatever does not fit a
scenario is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.ordering import hazards_of
from ckptsim.scenarios.generators.rare.options import OPTIONS
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Scenario
from ckptsim.scenarios.sync import SyncModel

_MOST = 4


def varied(generate: Callable[[Choices], Scenario]) -> Callable[[Choices], Scenario]:
    """Return a generator of the same scenarios with up to four rare options."""
    return lambda choices: _with_rare_options(choices, generate(choices))


def _with_rare_options(choices: Choices, scenario: Scenario) -> Scenario:
    key = LINKS[scenario.link].key
    for change in choices.several(lambda: choices.of(OPTIONS[key]), most=_MOST):
        text: Any = plain(scenario)
        change(choices, text)
        try:
            scenario = read(text, source="a rare option")
        except ScenarioError:
            continue
    if isinstance(scenario.model, SyncModel):  # an option may let a right core break what others do
        return replace(scenario, violates=hazards_of(scenario.model, scenario.faults))
    return scenario
