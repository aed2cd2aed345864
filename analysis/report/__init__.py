"""Reports: one self-contained HTML page from the tables of one or several sweeps."""

from ckptsim.analysis.report.page import PAGE, sweeps_in, write_report

__all__ = ["PAGE", "sweeps_in", "write_report"]
