"""Findings: what the tables of a sweep say, as small frames."""

from ckptsim.analysis.findings.find import Findings, find, wants_spark

__all__ = ["Findings", "find", "wants_spark"]
