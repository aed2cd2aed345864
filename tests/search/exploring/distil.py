"""Choose the runs with which exploring begins: `python -m tests.search.exploring.distil`.

Drawn runs are run with a note in each branch of cores and hosts.  One after the other the run is
chosen that reaches most for its time of what those before have reached few times, so a cheap run
comes before a dear one that shows the same.
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ckptsim.scenarios.generators import GENERATORS
from ckptsim.sim.search.explore.branches import Notes, compiled, give_notes
from ckptsim.sim.search.explore.distilled import FILE, SEED, distilled
from ckptsim.sim.search.explore.evenly import evenly
from ckptsim.sim.search.explore.run import Explorer

RUNS = 1500
"""Among how many runs of a link are chosen."""
CHOSEN = 100
"""How many are chosen; an assumption: with as many fresh ones they take some 20 s."""

_TIMES = 4  # how often each thing is to be reached; an assumption
_BEGINNING_S = 0.01  # what a run costs beside its own time; an assumption
_WATCHED = (
    "ckptsim.models.",
    "ckptsim.sim.job.",
    "ckptsim.sim.sync.",
    "ckptsim.sim.store.",
    "ckptsim.sim.composed.",
)
_UNWATCHED = (".oracle.", ".real.", ".truth")  # what looks on


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run reached, and its seconds of processor time."""

    number: int
    seconds: float
    reached: frozenset[str]


def chosen(runs: Sequence[Run], count: int) -> list[int]:
    """Return the numbers of the runs to begin with, so many at most, the most worthwhile first."""
    have: Counter[str] = Counter()

    def gain(run: Run) -> float:
        fresh = sum(1 / (1 + have[name]) for name in run.reached if have[name] < _TIMES)
        return fresh / (run.seconds + _BEGINNING_S)

    # What a run gains only shrinks as others are chosen, so the best one known is looked at anew.
    waiting = [(-gain(run), run.number, run) for run in runs]
    heapq.heapify(waiting)
    found: list[int] = []
    while waiting and len(found) < count:
        _, number, run = heapq.heappop(waiting)
        now = -gain(run)
        if waiting and now > waiting[0][0]:
            heapq.heappush(waiting, (now, number, run))
        elif now == 0:
            break  # all that there is has been reached often enough
        else:
            found.append(number)
            have.update(run.reached)
    return found


def observed(link: str, count: int) -> list[Run]:
    """Run as many draws of a link as asked for, and return what each reached."""
    explorer = Explorer(link=link)
    explorer.run(0, (), evenly(SEED, 0))  # so that its world is imported
    notes = [_noted(module) for name, module in sorted(sys.modules.items()) if _is_watched(name)]
    found = []
    for number in range(count):
        for one in notes:
            one.clear()
        began_s = time.process_time()
        run = explorer.run(number, (), evenly(SEED, number))
        seconds = time.process_time() - began_s
        if run.trial.violations:
            raise RuntimeError(f"run {number} of {link}: {run.trial.violations[0]}")
        reached = set(run.reached)
        for one in notes:
            reached.update(one.names[place] for place in one.numbers())
        found.append(Run(number=number, seconds=seconds, reached=frozenset(reached)))
        if sys.stderr.isatty():
            print(f"\r{link}: {number + 1} of {count} runs", end="", file=sys.stderr)
    return found


def _is_watched(name: str) -> bool:
    return name.startswith(_WATCHED) and not any(part in f"{name}." for part in _UNWATCHED)


def _noted(module: ModuleType) -> Notes:
    """Give the functions of a module notes, as those of cores have where branches are watched."""
    file = module.__file__ or ""
    return give_notes(module, compiled(Path(file).read_bytes(), module.__name__, file))


def text_of(numbers: dict[str, tuple[int, ...]]) -> str:
    """Return the file that exploring reads."""
    says = "# By `python -m tests.search.exploring.distil`; what the numbers are: distilled.py.\n"
    rows = [f"{link} = {json.dumps(numbers[link])}" for link in sorted(numbers)]
    return "\n".join([says, "[runs]", *rows, ""])


def main(words: Sequence[str]) -> int:
    """Choose the runs of some links, or all, and write the file again."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.search.exploring.distil", description=__doc__
    )
    parser.add_argument("link", nargs="*", help="one that can be explored; by default all")
    parser.add_argument("--runs", type=int, default=RUNS, help="among which to choose, per link")
    arguments = parser.parse_args(words)
    numbers = dict(distilled())
    links: Iterable[str] = arguments.link or GENERATORS
    for link in links:
        numbers[link] = tuple(chosen(observed(link, arguments.runs), CHOSEN))
        FILE.write_text(text_of(numbers), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
