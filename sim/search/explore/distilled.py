"""Runs that are known to reach much in little time: every second run of a link begins as one.

Of some thousand drawn runs they are those that between them reach each branch of cores and hosts,
and each event of an entity behind another one, a few times in the least time (in the words of
fuzzing, a distilled corpus).  They take turns with runs that are drawn anew: what they have in
common, being short, is no reason to see nothing else.

`python -m tests.search.exploring.distil` chooses them, and chooses anew when generators have
changed: a number stands for another draw then, as good as any.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from ckptsim.sim.kernel import Streams
from ckptsim.sim.search.explore.evenly import evenly
from ckptsim.sim.search.explore.run import Explorer

FILE = Path(__file__).with_suffix(".toml")
SEED = 1000
"""The seed of the exploration among whose runs they are; any other than the default of 0."""

_SEED_PLACE = 1  # among the choices of a run


def drawn(explorer: Explorer, seed: int, number: int) -> Callable[[int, int], int]:
    """Return what draws the choices of a run that begins with none.

    seed: of the exploration; number: of the run in it.  Exploring around a scenario has no runs
    that are known.
    """
    known = distilled().get(explorer.link, ()) if explorer.scenario is None else ()
    turn, is_fresh = divmod(number, 2)
    if turn >= len(known):
        return evenly(seed, number - len(known))
    return evenly(seed, turn) if is_fresh else _again(known[turn], seed, number)


@cache
def distilled() -> Mapping[str, tuple[int, ...]]:
    """Return, by link, the numbers of the known runs in the exploration with seed `SEED`."""
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {link: tuple(numbers) for link, numbers in document["runs"].items()}


def _again(known: int, seed: int, number: int) -> Callable[[int, int], int]:
    """Return what draws a known run, but for the seed of its scenario, which is drawn anew."""
    as_known = evenly(SEED, known)
    own = Streams(seed).stream("seeds of known runs", number).integer
    place = -1

    def choose(low: int, high: int) -> int:
        nonlocal place
        place += 1
        value = as_known(low, high)
        return own(low, high) if place == _SEED_PLACE else value

    return choose
