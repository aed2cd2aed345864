"""The tables of a report, each a part with rows that can be sorted and filtered."""

from ckptsim.analysis.report.tables.cells import TitledTable as TitledTable
from ckptsim.analysis.report.tables.points import means_part as means_part
from ckptsim.analysis.report.tables.points import points_part as points_part
from ckptsim.analysis.report.tables.points import tasks_part as tasks_part
from ckptsim.analysis.report.tables.runs import errors_part as errors_part
from ckptsim.analysis.report.tables.runs import goals_part as goals_part
from ckptsim.analysis.report.tables.runs import outliers_part as outliers_part
from ckptsim.analysis.report.tables.runs import parameters_part as parameters_part
from ckptsim.analysis.report.tables.runs import violations_of as violations_of
