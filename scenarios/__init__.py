"""What a run is made of, as frozen data: the specification, its loader and the scenario library."""

from ckptsim.scenarios.document import canonical_json, scenario_key
from ckptsim.scenarios.errors import Problem, ScenarioError, UserError
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.load import load, loads
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
