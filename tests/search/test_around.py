"""Scenarios around those of the library stay sound: what no core can survive is not drawn."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators import Choices
from ckptsim.scenarios.generators.around import around
from ckptsim.scenarios.sync import RepeatIndex, SyncModel
from ckptsim.sim.kernel import Streams


@pytest.mark.parametrize("name", ["reference", "b03_index_used_twice"])
def test_no_index_is_repeated_on_several_sockets(name: str) -> None:
    """The right core cannot tell which of two states on two sockets comes first."""
    scenario = by_name(name)
    generate = around(scenario)
    repeats = 0
    for number in range(400):
        drawn = generate(Choices(more=Streams(9).stream(name, number).integer))
        sockets = cast("SyncModel", drawn.model).sockets.count
        found: list[Any] = [one for one in drawn.faults if isinstance(one, RepeatIndex)]
        repeats += len(found)
        same = sockets == cast("SyncModel", scenario.model).sockets.count
        assert sockets == 1 or all(same and one in scenario.faults for one in found)
    assert repeats > 0
