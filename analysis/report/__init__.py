"""Reports: one self-contained HTML page from the tables of one or several sweeps."""

from ckptsim.analysis.report.page import PAGE as PAGE
from ckptsim.analysis.report.page import Opening as Opening
from ckptsim.analysis.report.page import sweeps_in as sweeps_in
from ckptsim.analysis.report.page import write_report as write_report
from ckptsim.analysis.report.view import View as View
