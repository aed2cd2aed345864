"""The tables of a report, each a part with rows that can be sorted and filtered."""

from ckptsim.analysis.report.tables.cells import TitledTable
from ckptsim.analysis.report.tables.points import means_part, points_part, tasks_part
from ckptsim.analysis.report.tables.runs import (
    errors_part,
    goals_part,
    outliers_part,
    parameters_part,
    violations_of,
)

__all__ = [
    "TitledTable",
    "errors_part",
    "goals_part",
    "means_part",
    "outliers_part",
    "parameters_part",
    "points_part",
    "tasks_part",
    "violations_of",
]
