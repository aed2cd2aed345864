"""Answers: what a sweep says to its question, as sentences and as a headline."""

from ckptsim.analysis.answers.compare import compare
from ckptsim.analysis.answers.sentences import answer
from ckptsim.analysis.answers.series import Layout, Series, answering, layout_of, series_of

__all__ = [
    "Layout",
    "Series",
    "answer",
    "answering",
    "compare",
    "layout_of",
    "series_of",
]
