"""Explore: draw scenarios, run them, keep what reached something new, and draw from that.

Runs are numbered.  What a run draws depends on the seed, its number and the corpus as it was
before its round of `ROUND` runs; so the same seed and number of runs give the same report on any
number of processes.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import blake2b
from multiprocessing import get_context

from ckptsim.sim.kernel import Streams
from ckptsim.sim.search.explore.branches import Branches
from ckptsim.sim.search.explore.corpus import Corpus
from ckptsim.sim.search.explore.run import Explored, Explorer

ROUND = 32
_Plan = list[tuple[int, tuple[int, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploring:
    """How long to explore, and how.

    runs, seconds: whichever is used up first; None is no bound.  jobs: processes.
    """

    seed: int = 0
    runs: int | None = None
    seconds: float | None = None
    jobs: int = 1
    keep_going: bool = False


@dataclass(slots=True, kw_only=True)
class ExploreReport:
    """What exploring showed.

    violating: the runs that broke a property, by number; covered: what was reached, and in which
    run for the first time; goals: situation -> number of runs; hazards: known hazard of a released
    system -> number of runs that showed it.
    """

    runs: int = 0
    events: int = 0
    seconds: float = 0.0
    digest: str = ""
    violating: list[Explored] = field(default_factory=list)
    covered: dict[str, int] = field(default_factory=dict)
    goals: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    hazards: dict[str, int] = field(default_factory=dict)

    @property
    def last_new(self) -> str:
        """Return what was reached last for the first time; empty where nothing was."""
        return next(reversed(self.covered), "")

    @property
    def branches(self) -> int:
        """Return how many branches of cores were reached."""
        return sum(".py:" in name for name in self.covered)


class ExploreStopped(KeyboardInterrupt):
    """An interrupted exploration, with the report of the runs before."""

    def __init__(self, report: ExploreReport) -> None:
        super().__init__()
        self.report = report


def explore(
    explorer: Explorer,
    how: Exploring,
    corpus: Corpus,
    *,
    progress: Callable[[ExploreReport], None] | None = None,
) -> ExploreReport:
    """Run until the budget is used up or, unless told to continue, a property breaks.

    corpus: gets the lists that reached something new; those that it has are run first, which is
    what makes known what they reach.  progress: called after each run.
    Raises ExploreStopped when it is interrupted.
    """
    report = ExploreReport()
    state = _State(report, corpus, began=time.perf_counter())
    try:
        with ExitStack() as stack:
            carry_out = _workers(explorer, how, stack)
            for plan in _rounds(how, corpus):
                if not _enter_all(carry_out(plan), state, how, progress):
                    break
    except KeyboardInterrupt as stop:
        raise ExploreStopped(report) from stop
    return report


class _State:
    """The report as it grows, with what it is made from."""

    def __init__(self, report: ExploreReport, corpus: Corpus, *, began: float) -> None:
        self.report = report
        self._corpus = corpus
        self._kept = set(corpus.entries)
        self._began = began
        self._digest = blake2b(digest_size=16)

    def enter(self, found: Explored) -> None:
        """Enter a run; the runs come in the order of their numbers."""
        report = self.report
        report.runs += 1
        report.events += found.trial.events
        report.seconds = time.perf_counter() - self._began
        outcome = found.trial.outcome
        report.outcomes[outcome] = report.outcomes.get(outcome, 0) + 1
        for name, count in found.trial.goals.items():
            report.goals[name] = report.goals.get(name, 0) + (count > 0)
        for name in found.hazards:
            report.hazards[name] = report.hazards.get(name, 0) + 1
        fresh = [name for name in found.reached if name not in report.covered]
        report.covered.update(dict.fromkeys(fresh, found.number))
        if fresh and found.choices not in self._kept:
            self._kept.add(found.choices)
            self._corpus.entries.append(found.choices)
        if found.trial.violations:
            report.violating.append(found)
        self._digest.update(f"{found.choices} {found.trial.digest}\n".encode())
        report.digest = self._digest.hexdigest()


def _enter_all(
    found: Iterable[Explored],
    state: _State,
    how: Exploring,
    progress: Callable[[ExploreReport], None] | None,
) -> bool:
    """Enter the runs of a round; return whether exploring continues."""
    for each in found:
        state.enter(each)
        if progress is not None:
            progress(state.report)
        if state.report.violating and not how.keep_going:
            return False
        if how.seconds is not None and state.report.seconds >= how.seconds:
            return False
    return True


def _rounds(how: Exploring, corpus: Corpus) -> Iterator[_Plan]:
    """Yield what the runs of each round begin with; the corpus is asked when its round comes."""
    kept = list(corpus.entries)
    streams = Streams(how.seed)
    begin = 0
    while how.runs is None or begin < how.runs:
        end = begin + ROUND if how.runs is None else min(begin + ROUND, how.runs)
        yield [
            (number, kept[number])
            if number < len(kept)
            else (number, corpus.next(streams.stream("corpus", number)))
            for number in range(begin, end)
        ]
        begin = end


def _workers(
    explorer: Explorer, how: Exploring, stack: ExitStack
) -> Callable[[_Plan], Iterator[Explored]]:
    """Return what carries out a round, here or in processes that end with the stack."""
    if how.jobs == 1:
        branches = Branches()
        return lambda plan: _carried_out(explorer, how.seed, plan, branches)
    # Fresh interpreters, which end at once and quietly at an interrupt from the keyboard.
    quiet = (signal.SIGINT, signal.SIG_DFL)
    pool = ProcessPoolExecutor(
        how.jobs, mp_context=get_context("spawn"), initializer=signal.signal, initargs=quiet
    )
    stack.callback(pool.shutdown, wait=True, cancel_futures=True)
    size = -(-ROUND // (2 * how.jobs))

    def in_processes(plan: _Plan) -> Iterator[Explored]:
        parts = [plan[begin : begin + size] for begin in range(0, len(plan), size)]
        waiting = [pool.submit(_part, explorer, how.seed, part) for part in parts]
        for each in waiting:
            yield from each.result()

    return in_processes


def _carried_out(
    explorer: Explorer, seed: int, plan: _Plan, branches: Branches
) -> Iterator[Explored]:
    streams = Streams(seed)
    for number, given in plan:
        more = streams.stream("choices", number).integer
        yield explorer.run(number, given, more, branches=branches)


def _part(
    explorer: Explorer, seed: int, plan: Sequence[tuple[int, tuple[int, ...]]]
) -> list[Explored]:
    """Carry out a part of a round in a worker."""
    return list(_carried_out(explorer, seed, list(plan), Branches()))
