"""How scenarios are drawn: kinds have their turns, and what no core can survive is not drawn."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.files import plain, read
from ckptsim.scenarios.generators import GENERATORS, Choices
from ckptsim.scenarios.generators.around import around
from ckptsim.scenarios.sync import RepeatIndex, SyncModel
from ckptsim.sim.kernel import Streams
from ckptsim.sim.search.explore.evenly import evenly
from ckptsim.sim.search.explore.run import LIBRARY_EVERY

_KINDS = 40


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


@pytest.mark.parametrize("link", list(GENERATORS))
def test_what_is_drawn_is_valid(link: str) -> None:
    """Every drawn scenario can be written into a file and read again, and is the same then."""
    for number in range(150):
        drawn = GENERATORS[link](Choices(more=Streams(4).stream(link, number).integer))
        assert read(plain(drawn), source=link) == drawn


@pytest.mark.parametrize("seed", range(5))
def test_every_kind_has_its_turn(seed: int) -> None:
    """Of forty kinds none is missing from a hundred runs, and none is drawn far too often."""
    found = Counter(_first(seed, number)[2] for number in range(100))
    assert set(found) == set(range(_KINDS))
    assert max(found.values()) <= 4


def test_the_library_is_asked_every_sixth_time() -> None:
    """Whichever runs are looked at, each six of them have one of the library."""
    from_library = [_first(3, number)[1] == LIBRARY_EVERY for number in range(120)]
    for begin in range(0, 120, LIBRARY_EVERY):
        assert sum(from_library[begin : begin + LIBRARY_EVERY]) == 1


def test_seeds_and_what_follows_are_drawn() -> None:
    """The choices of a run depend on the exploration's seed and its number alone, and differ."""
    assert _first(1, 7) == _first(1, 7)
    assert len({_first(1, number)[3] for number in range(50)}) == 50
    assert [_first(1, n)[2] for n in range(9)] != [_first(2, n)[2] for n in range(9)]


def _first(seed: int, number: int) -> tuple[int, int, int, int]:
    """Return what a run draws: its tie policy, whether of the library, its kind, its seed."""
    choose = evenly(seed, number)
    ties, drawn = choose(0, 2), choose(0, 999_999)
    return ties, choose(1, LIBRARY_EVERY), choose(0, _KINDS - 1), drawn
