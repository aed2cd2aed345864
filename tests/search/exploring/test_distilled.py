"""The runs that are known to reach much: how they are chosen, and when they have their turn."""

from __future__ import annotations

import pytest

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators import GENERATORS
from ckptsim.sim.search.explore.branches import Branches
from ckptsim.sim.search.explore.distilled import SEED, distilled, drawn
from ckptsim.sim.search.explore.evenly import evenly
from ckptsim.sim.search.explore.run import Explorer
from tests.search.exploring.distil import CHOSEN, RUNS, Run, chosen, observed, text_of

_LINK = "checkpoint_store"  # its runs are the shortest


def _choices(choose: object) -> list[int]:
    """Return ten choices, of which the second is a run's seed."""
    return [choose(0, 999_999) for _ in range(10)]  # type: ignore[operator]


def test_known_runs_take_turns_with_fresh_ones() -> None:
    """Of an exploration's runs those with even numbers are known, until all have had their turn."""
    known = distilled()[_LINK]
    explorer = Explorer(link=_LINK)
    for place in (0, 1, len(known) - 1):
        again = _choices(drawn(explorer, 5, 2 * place))
        as_known = _choices(evenly(SEED, known[place]))
        assert again[:1] + again[2:] == as_known[:1] + as_known[2:]
        assert _choices(drawn(explorer, 5, 2 * place + 1)) == _choices(evenly(5, place))
    for behind in (0, 1, 2):
        number = 2 * len(known) + behind
        assert _choices(drawn(explorer, 5, number)) == _choices(evenly(5, len(known) + behind))


def test_a_known_run_has_another_seed_in_each_exploration() -> None:
    """What hangs on the seed alone, such as the walks of cores, is not the same each time."""
    explorer = Explorer(link=_LINK)
    seeds = {_choices(drawn(explorer, seed, 0))[1] for seed in range(8)}
    assert len(seeds) == 8


def test_around_a_scenario_all_runs_are_fresh() -> None:
    """Known runs are of a link, and mean nothing where one scenario is changed."""
    around = Explorer(link="ordering", scenario=by_name("reference"))
    for number in range(4):
        assert _choices(drawn(around, 2, number)) == _choices(evenly(2, number))


def test_every_link_has_known_runs() -> None:
    """All links that can be explored begin with runs that were chosen, none of them twice."""
    assert set(distilled()) == set(GENERATORS)
    for numbers in distilled().values():
        assert len(set(numbers)) == len(numbers) == CHOSEN
        assert all(0 <= number < RUNS for number in numbers)


def test_what_reaches_most_for_its_length_comes_first() -> None:
    """A short run comes before a long one that shows the same, and what is rare is not left out."""
    common = frozenset("abc")
    runs = [
        Run(number=0, seconds=0.5, reached=common),
        Run(number=1, seconds=0.01, reached=common),
        Run(number=2, seconds=0.9, reached=frozenset("z")),
        *(Run(number=number, seconds=0.01, reached=common) for number in range(3, 9)),
    ]
    numbers = chosen(runs, 6)
    assert numbers[0] == 1
    assert numbers.index(2) == 4  # all of `common` has been reached four times by then
    assert 0 not in numbers


def test_what_hosts_do_is_observed() -> None:
    """Runs are told apart by branches of the worlds around cores, too, and a file says which."""
    runs = observed(_LINK, 6)
    assert any("ckptsim.sim.store" in name for run in runs for name in run.reached)
    assert any("ckptsim.models.store" in name for run in runs for name in run.reached)
    assert "a_link = [3, 1]" in text_of({"a_link": (3, 1)})


def test_who_observes_takes_no_branches_from_others() -> None:
    """An exploration of the same process sees the branches of cores that it saw before."""
    explorer = Explorer(link=_LINK)
    seen = []
    for _ in range(2):
        seen.append(explorer.run(0, (), evenly(0, 0), branches=Branches()).reached)
        observed(_LINK, 1)
    assert seen[0] == seen[1]
    assert any(".py:" in name for name in seen[0])


@pytest.mark.parametrize(
    "link",
    [_LINK, *(pytest.param(one, marks=pytest.mark.long) for one in GENERATORS if one != _LINK)],
)
def test_known_runs_reach_more_than_fresh_ones(link: str) -> None:
    """In as many events they reach more: else generators have changed, and one has to choose."""
    explorer = Explorer(link=link)
    branches = Branches()
    known: set[str] = set()
    events = 0
    for number in range(0, 100, 2):
        run = explorer.run(number, (), drawn(explorer, 0, number), branches=branches)
        known.update(run.reached)
        events += run.trial.events
    branches, fresh, number = Branches(), set(), 0
    while events > 0:
        run = explorer.run(number, (), evenly(0, number), branches=branches)
        fresh.update(run.reached)
        events -= run.trial.events
        number += 1
    assert len(known) > len(fresh)
