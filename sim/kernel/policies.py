"""Tie policies by the text that names them on a command line and in a table."""

from __future__ import annotations

import re

from ckptsim.sim.kernel.explore import Exhaustive
from ckptsim.sim.kernel.ties import STRUCTURAL, Pct, SeededRandom, TiePolicy

_DECISIONS = re.compile(r"\d{1,6}(?:\.\d{1,6})*", re.ASCII)


def parse_ties(text: str, seed: int) -> TiePolicy:
    """Return the policy that `structural`, `random`, `pct`, `pct:DEPTH` or `exhaustive` names.

    `exhaustive:0.2.1` takes these decisions and then the first choice each time.  Raises ValueError
    for any other text.
    """
    name, colon, rest = text.partition(":")
    if text == "structural":
        return STRUCTURAL
    if text == "random":
        return SeededRandom(seed)
    if name == "pct" and (not colon or (rest.isascii() and rest.isdigit() and int(rest) > 0)):
        return Pct(seed, int(rest) if colon else 3)
    if name == "exhaustive" and (not colon or _DECISIONS.fullmatch(rest)):
        return Exhaustive(tuple(map(int, rest.split("."))) if colon else ())
    raise ValueError(
        f"ties: found {text!r}, expected structural, random, pct, pct:DEPTH or exhaustive"
    )
