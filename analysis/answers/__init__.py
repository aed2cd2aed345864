"""Answers: what a sweep says to its question, as sentences, as a table and as a headline."""

from ckptsim.analysis.answers.compare import compare as compare
from ckptsim.analysis.answers.phases import CAUSED as CAUSED
from ckptsim.analysis.answers.phases import cliff_sentences as cliff_sentences
from ckptsim.analysis.answers.printed import paragraph as paragraph
from ckptsim.analysis.answers.printed import printed as printed
from ckptsim.analysis.answers.printed import violations_of as violations_of
from ckptsim.analysis.answers.sentences import answer as answer
from ckptsim.analysis.answers.series import Layout as Layout
from ckptsim.analysis.answers.series import Series as Series
from ckptsim.analysis.answers.series import answering as answering
from ckptsim.analysis.answers.series import layout_of as layout_of
from ckptsim.analysis.answers.series import series_of as series_of
