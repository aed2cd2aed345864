"""Plans of sweeps: grids, the keys that vary, and the metrics that answer."""

from ckptsim.scenarios.planning.grid import (
    Plan,
    Point,
    Run,
    all_plans,
    folder_of,
    is_plan,
    load_plan,
    plan_from,
    plan_values,
    points,
    runs,
    scenarios_of,
    size_of,
)
from ckptsim.scenarios.planning.metrics import FIGURES, METRICS, Measure
from ckptsim.scenarios.planning.plan_keys import SCENARIO_AXIS
from ckptsim.scenarios.planning.vary import assignments, with_parameters

__all__ = [
    "FIGURES",
    "METRICS",
    "SCENARIO_AXIS",
    "Measure",
    "Plan",
    "Point",
    "Run",
    "all_plans",
    "assignments",
    "folder_of",
    "is_plan",
    "load_plan",
    "plan_from",
    "plan_values",
    "points",
    "runs",
    "scenarios_of",
    "size_of",
    "with_parameters",
]
