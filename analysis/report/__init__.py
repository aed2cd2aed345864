"""Reports: one self-contained HTML page from the tables of one or several sweeps."""

from ckptsim.analysis.report.page import PAGE, Opening, sweeps_in, write_report
from ckptsim.analysis.report.view import View

__all__ = ["PAGE", "Opening", "View", "sweeps_in", "write_report"]
