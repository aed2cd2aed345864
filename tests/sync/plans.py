"""The random syncs of the product as Hypothesis strategies, which shrink towards a quiet sync."""

from __future__ import annotations

from hypothesis import strategies as st

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.generators import Choices, ordering
from ckptsim.sim.search.explore.run import TIES as DRAWN_TIES

TIES = st.sampled_from(DRAWN_TIES)
SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A workload with a fault plan."""
    return ordering(Choices(more=lambda low, high: draw(st.integers(low, high))))
