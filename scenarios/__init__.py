"""What a run is made of, as frozen data: the specification, its loader and the scenario library."""

from ckptsim.scenarios.errors import Problem as Problem
from ckptsim.scenarios.errors import ScenarioError as ScenarioError
from ckptsim.scenarios.errors import UserError as UserError
from ckptsim.scenarios.files import canonical_json as canonical_json
from ckptsim.scenarios.files import load as load
from ckptsim.scenarios.files import loads as loads
from ckptsim.scenarios.files import scenario_key as scenario_key
from ckptsim.scenarios.links import LINKS as LINKS
from ckptsim.scenarios.spec import Link as Link
from ckptsim.scenarios.spec import Scenario as Scenario
