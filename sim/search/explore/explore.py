"""Explore: draw scenarios, run them, keep what reached something new, and draw from that.

Runs are numbered.  What a run draws depends on the seed, its number and the corpus as it was when
its round of `ROUND` runs was planned: after the round `AHEAD` before it had been entered.  So the
same seed and number of runs give the same report on any number of processes or machines, and after
any interrupt.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context

from ckptsim.sim.kernel import Streams
from ckptsim.sim.search.explore.corpus import Corpus, ExploreReport, Progress, evenly
from ckptsim.sim.search.explore.run import Explored, Explorer

Plan = Sequence[tuple[int, tuple[int, ...]]]
"""The runs of a round: the number of each, and the choices that it begins with."""

CarryOut = Callable[[Plan], Iterator[Explored]]
"""Takes a round in hand and returns its runs in order; it may be asked for the next one before."""


ROUND = 32
AHEAD = 2  # rounds in hand: one fills the cores while the last runs of the one before end


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploring:
    """How long to explore, and how.

    runs, seconds: whichever is used up first. None is no bound.  jobs: processes.
    """

    seed: int = 0
    runs: int | None = None
    seconds: float | None = None
    jobs: int = 1
    keep_going: bool = False


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
    so_far: Progress | None = None,
    workers: AbstractContextManager[CarryOut] | None = None,
    progress: Callable[[ExploreReport], None] | None = None,
) -> ExploreReport:
    """Run until the budget is used up or, unless told to continue, a property breaks.

    corpus: gets the lists that reached something new. Those that it has are run first, which is
    what makes known what they reach.  so_far: kept up to date. One that comes from an exploration
    that was interrupted continues there, with the corpus as it was then.  workers: who carries out
    the rounds, in place of processes of this machine.  progress: called after each run. Raises
    ExploreStopped when it is interrupted.
    """
    so_far = so_far or Progress(begun_with=len(corpus.entries))
    report, known = so_far.report, set(corpus.entries)
    began_s = time.perf_counter() - report.seconds
    if _is_over(report, how):
        return report
    try:
        with workers or workers_of(explorer, how.seed, how.jobs) as carry_out:
            for found in _in_order(_plans(how, corpus, so_far), carry_out):
                fresh = report.enter(found)
                report.seconds = time.perf_counter() - began_s
                if fresh and found.choices not in known:
                    known.add(found.choices)
                    corpus.entries.append(found.choices)
                if progress is not None:
                    progress(report)
                if _is_over(report, how):
                    break
    except KeyboardInterrupt as stop:
        raise ExploreStopped(report) from stop
    return report


def _is_over(report: ExploreReport, how: Exploring) -> bool:
    """Return whether the budget is used up, or the target is found."""
    if report.violating and not how.keep_going:
        return True
    if how.runs is not None and report.runs >= how.runs:
        return True
    return how.seconds is not None and report.seconds >= how.seconds


def _in_order(plans: Iterator[Plan], carry_out: CarryOut) -> Iterator[Explored]:
    """Yield the runs of all rounds.

    A round is planned when everything that is yielded was entered.
    """
    in_hand = deque(carry_out(plan) for plan in islice(plans, AHEAD))
    while in_hand:
        yield from in_hand.popleft()
        in_hand.extend(carry_out(plan) for plan in islice(plans, 1))


def _plans(how: Exploring, corpus: Corpus, so_far: Progress) -> Iterator[Plan]:
    """Yield what the runs of each round begin with. The corpus is asked when its round comes.

    After an interruption the rounds that were in hand are planned once more as they were: from the
    corpus of that time, which has only grown since, and without the runs that are entered.
    """
    streams = Streams(how.seed)
    planned = so_far.planned
    begin = so_far.report.runs // ROUND * ROUND
    while how.runs is None or begin < how.runs:
        for done in [first for first in planned if first + AHEAD * ROUND <= begin]:
            del planned[done]
        length = planned.setdefault(begin, len(corpus.entries))
        then = corpus if length == len(corpus.entries) else Corpus(corpus.entries[:length])
        end = begin + ROUND if how.runs is None else min(begin + ROUND, how.runs)
        yield [
            (number, corpus.entries[number])
            if number < so_far.begun_with
            else (number, then.next(streams.stream("corpus", number)))
            for number in range(max(begin, so_far.report.runs), end)
        ]
        begin = end


# Who carries out the runs of a round: this process, or several of this machine.  Others may do it
# as well: those who return what `carried_out` returns, in the order of the plan.


def carried_out(explorer: Explorer, seed: int, plan: Plan) -> Iterator[Explored]:
    """Carry out runs one by one, here."""
    streams = Streams(seed)
    for number, given in plan:
        # A place that a changed list lacks gets any value: what kind of scenario it is, is there.
        more = streams.stream("choices", number).integer if given else evenly(seed, number)
        yield explorer.run(number, given, more)


def carried_out_apart(explorer: Explorer, seed: int, plan: Plan) -> list[Explored]:
    """Carry out a part of a round in a worker."""
    return list(carried_out(explorer, seed, plan))


def parts(plan: Plan, count: int) -> list[Plan]:
    """Return a plan in that many parts of neighbouring runs, or fewer."""
    size = -(-len(plan) // count)
    return [plan[begin : begin + size] for begin in range(0, len(plan), size or 1)]


@contextmanager
def workers_of(explorer: Explorer, seed: int, jobs: int) -> Iterator[CarryOut]:
    """Offer who carries out rounds with that many processes, which end with the block."""
    if jobs == 1:
        yield lambda plan: carried_out(explorer, seed, plan)
        return
    # Fresh interpreters, which end at once and quietly at an interrupt from the keyboard.
    quiet = (signal.SIGINT, signal.SIG_DFL)
    pool = ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=signal.signal, initargs=quiet
    )
    try:
        yield lambda plan: _results(
            [pool.submit(carried_out_apart, explorer, seed, part) for part in parts(plan, 2 * jobs)]
        )
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _results(waiting: Sequence[Future[list[Explored]]]) -> Iterator[Explored]:
    for each in waiting:
        yield from each.result()
