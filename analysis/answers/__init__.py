"""Answers: what a sweep says to its question, as sentences, as a table and as a headline."""

from ckptsim.analysis.answers.compare import compare
from ckptsim.analysis.answers.phases import cliff_sentences
from ckptsim.analysis.answers.printed import paragraph, printed, violations_of
from ckptsim.analysis.answers.sentences import answer
from ckptsim.analysis.answers.series import Layout, Series, answering, layout_of, series_of

__all__ = [
    "Layout",
    "Series",
    "answer",
    "answering",
    "cliff_sentences",
    "compare",
    "layout_of",
    "paragraph",
    "printed",
    "series_of",
    "violations_of",
]
