"""What a run is made of, as frozen data: the specification, its loader and the scenario library."""

from scenarios.document import canonical_json, scenario_key
from scenarios.errors import Problem, ScenarioError, UserError
from scenarios.links import LINKS
from scenarios.load import load, loads
from scenarios.spec import Link, Scenario

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
