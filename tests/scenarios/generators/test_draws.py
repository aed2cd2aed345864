"""What a list of choices means depends on nothing but the choices."""

from __future__ import annotations

import pytest

from ckptsim.scenarios.generators import GENERATORS
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.spec import Scenario
from ckptsim.sim.kernel import Streams

_DRAWN = 400


def _drawn(link: str, number: int) -> Scenario:
    return GENERATORS[link](Choices((), Streams(11).stream("choices", number).integer))


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_scenario_does_not_hang_on_those_drawn_before(generator: str) -> None:
    """The same choices give the same scenarios in any order: no draw changes what others share."""
    first = [_drawn(generator, number) for number in range(_DRAWN)]
    again = [_drawn(generator, number) for number in reversed(range(_DRAWN))]
    assert first == again[::-1]
