"""What a run is made of, as frozen data: the specification, its loader and the scenario library."""

from ckptsim.scenarios.errors import Problem, ScenarioError, UserError
from ckptsim.scenarios.files import canonical_json, load, loads, scenario_key
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Link, Scenario

__all__ = [
    "LINKS",
    "Link",
    "Problem",
    "Scenario",
    "ScenarioError",
    "UserError",
    "canonical_json",
    "load",
    "loads",
    "scenario_key",
]
