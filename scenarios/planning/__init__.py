"""Plans of sweeps: grids, the keys that vary, and the metrics that answer."""

from ckptsim.scenarios.planning.designs import (
    CORE_AXIS,
    MUTANT_AXIS,
    NO_MUTANT,
    Design,
    design_of,
    is_design,
    slot_of,
    without_designs,
)
from ckptsim.scenarios.planning.grid import (
    Plan,
    Point,
    all_plans,
    document_of,
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
    "CORE_AXIS",
    "FIGURES",
    "METRICS",
    "MUTANT_AXIS",
    "NO_MUTANT",
    "SCENARIO_AXIS",
    "Design",
    "Measure",
    "Plan",
    "Point",
    "all_plans",
    "assignments",
    "design_of",
    "document_of",
    "folder_of",
    "is_design",
    "is_plan",
    "load_plan",
    "plan_from",
    "plan_values",
    "points",
    "runs",
    "scenarios_of",
    "size_of",
    "slot_of",
    "with_parameters",
    "without_designs",
]
