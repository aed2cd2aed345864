"""Hypothesis strategies of scenarios, on the generators that `check --explore` draws from.

Every choice of a generator is one whole number of Hypothesis. Its simplest value is the simplest
choice, so a find shrinks as it does everywhere in Hypothesis.
"""

from __future__ import annotations

from dataclasses import replace

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ModuleNotFoundError(
        "strategies need hypothesis, which comes with the extra 'testing': "
        "pip install 'ckptsim[testing]'",
        name=error.name,
    ) from error

from ckptsim.scenarios import Scenario, UserError
from ckptsim.scenarios.generators import GENERATORS, Choices
from ckptsim.sim.search.faults import FaultDraw


def scenarios(link: str) -> st.SearchStrategy[Scenario]:
    """Draw a scenario of a link with its fault plan, valid by construction.

    Raises UserError for a link that has no generator.
    """
    if link not in GENERATORS:
        raise UserError(f"link: found {link!r}, expected one of {', '.join(GENERATORS)}")
    return _generated(link)


@st.composite
def _generated(draw: st.DrawFn, link: str) -> Scenario:
    return GENERATORS[link](_choices(draw))


def workloads(link: str) -> st.SearchStrategy[Scenario]:
    """Draw a scenario of a link in which nothing fails: sizes, options, streams or graph."""
    return scenarios(link).map(lambda scenario: replace(scenario, faults=(), violates=()))


def fault_plans(scenario: Scenario, *, most: int = 4) -> st.SearchStrategy[tuple[object, ...]]:
    """Draw up to `most` faults that may strike a scenario, besides those that it has.

    They come with `dataclasses.replace(scenario, faults=(*scenario.faults, *plan))`.  The scenario
    is run once, to know when in it something happens.
    """
    return _plans(FaultDraw(scenario, most=most), len(scenario.faults))


@st.composite
def _plans(draw: st.DrawFn, faults: FaultDraw, own: int) -> tuple[object, ...]:
    return faults.drawn(_choices(draw)).faults[own:]


def _choices(draw: st.DrawFn) -> Choices:
    return Choices(more=lambda low, high: draw(st.integers(low, high)))
