"""Answers: what a sweep says to its question, as sentences and as a headline."""

from ckptsim.analysis.answers.sentences import Answer, answer
from ckptsim.analysis.answers.series import Layout, Series, answering, layout_of, series_of

__all__ = ["Answer", "Layout", "Series", "answer", "answering", "layout_of", "series_of"]
