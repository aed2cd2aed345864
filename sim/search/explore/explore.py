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
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from multiprocessing import get_context
from typing import Any

from ckptsim.sim.kernel import Stream, Streams
from ckptsim.sim.search.explore.run import LIBRARY_EVERY, Explored, Explorer

# Of the runs of an exploration with a corpus, how many draw everything anew. An assumption.
_ANEW = 0.8
# Of the changed lists, how many get another seed: what depends on the seed alone, such as the walks
# of cores, would be the same again. An assumption.
_RESEEDED = 0.5


@dataclass(slots=True)
class Corpus:
    """Lists of choices in the order in which they were found."""

    entries: list[tuple[int, ...]] = field(default_factory=list)

    def next(self, stream: Stream) -> tuple[int, ...]:
        """Return the beginning of a list. What it lacks is drawn, so an empty one is all new."""
        if not self.entries or stream.chance(_ANEW):
            return ()
        # Later entries reached what earlier ones did not: each half is twice as likely as the last.
        behind = min(stream.integer(0, len(self.entries) - 1) for _ in range(2))
        chosen = self.entries[len(self.entries) - 1 - behind]
        return _changed(chosen, self.entries, stream)


def _changed(
    chosen: tuple[int, ...], others: Sequence[tuple[int, ...]], stream: Stream
) -> tuple[int, ...]:
    found = list(chosen)
    for _ in range(stream.integer(1, 4)):
        if not found:
            break
        at = stream.integer(0, len(found) - 1)
        kind = stream.integer(0, 6)
        if kind == 0:
            found[at] = stream.integer(0, 1 << 20)
        elif kind == 1:
            found[at] = max(0, found[at] + stream.choice((-1, 1)))
        elif kind == 2:
            found[at] = stream.integer(0, 3)
        elif kind == 3:
            del found[at : at + stream.integer(1, 4)]
        elif kind == 4:
            found[at:at] = [stream.integer(0, 9) for _ in range(stream.integer(1, 3))]
        elif kind == 5:  # another seed and another order of ties of the same scenario
            found[:2] = [stream.integer(0, 1 << 20) for _ in range(2)]
        else:  # the beginning of this one, the end of another
            found[at:] = stream.choice(others)[at:]
    if len(found) > 1 and stream.chance(_RESEEDED):
        found[1] = stream.integer(0, 1 << 20)
    return tuple(found)


_TWO_POW_64 = 1 << 64
# By the places of the choices, everything that is added from run to run in shares of 2**64: for the
# tie policy sqrt(2) - 1. For whether the scenario comes from the library 1 / 6, so that it does
# every sixth time. For its kind the golden ratio, which spreads any number of runs.  Between them
# lies the seed, which is drawn like all that follows.
# Source: Knuth, The Art of Computer Programming 3, 6.4 (the golden ratio spreads best).
_STEPS = {
    0: 7_640_891_576_956_012_808,
    2: _TWO_POW_64 // LIBRARY_EVERY,
    3: 11_400_714_819_323_198_485,
}


def evenly(seed: int, number: int) -> Callable[[int, int], int]:
    """Return what draws the choices of a run, given the exploration's seed and the run's number.

    The first choices say which kind of scenario it is.  By chance alone a kind that is meant for
    one run in forty would now and then be missing from a hundred runs. Here it has its turn.
    """
    drawn = Streams(seed).stream("choices", number).integer
    begin = _begin(seed)
    place = -1

    def choose(low: int, high: int) -> int:
        nonlocal place
        place += 1
        step = _STEPS.get(place)
        if step is None:
            return drawn(low, high)
        share = (begin[place] + number * step) % _TWO_POW_64
        return low + (share * (high - low + 1) >> 64)

    return choose


@lru_cache(maxsize=1)
def _begin(seed: int) -> dict[int, int]:
    streams = Streams(seed)
    return {place: streams.stream("turns", place).bits() for place in _STEPS}


# No draw of a generator has as many values. Seeds have 64 bits.
CHOICE_MAX = (1 << 64) - 1


@dataclass(slots=True, kw_only=True)
class ExploreReport:
    """What exploring showed.

    violating: the runs that broke a property, by number. covered: everything that was reached, and
    in which run for the first time. goals: situation -> number of runs. hazards: known hazard of a
    released system -> number of runs of drawn scenarios that showed it. listed: property -> number
    of runs of scenarios of the library that broke it, as they list. digest: of the choices and
    digests of all runs.
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
    listed: dict[str, int] = field(default_factory=dict)

    @property
    def last_new(self) -> str:
        """Return the goal that was reached last for the first time. Empty where nothing was."""
        return next(reversed(self.covered), "")

    def enter(self, found: Explored) -> bool:
        """Enter a run, and return whether it reached something new. They come in their order."""
        self.runs += 1
        self.events += found.trial.events
        outcome = found.trial.outcome
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        for name, count in found.trial.goals.items():
            self.goals[name] = self.goals.get(name, 0) + (count > 0)
        for name in found.hazards:
            self.hazards[name] = self.hazards.get(name, 0) + 1
        for name in found.listed:
            self.listed[name] = self.listed.get(name, 0) + 1
        fresh = [name for name in found.reached if name not in self.covered]
        self.covered.update(dict.fromkeys(fresh, found.number))
        if found.trial.violations:
            self.violating.append(found)
        # A chain of digests, as the state of a hash cannot be written down.
        entry = f"{self.digest} {found.choices} {found.trial.digest}"
        self.digest = blake2b(entry.encode(), digest_size=16).hexdigest()
        return bool(fresh)


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far an exploration has come: all that it needs to go on, beside its corpus.

    begun_with: the length of the corpus before the first run.  planned: first run of a round -> the
    length of the corpus when the round was planned, of the rounds that are not entered whole.
    """

    report: ExploreReport = field(default_factory=ExploreReport)
    begun_with: int
    planned: dict[int, int] = field(default_factory=dict)

    def document(self, corpus_length: int) -> dict[str, Any]:
        """Return the progress as JSON has it. Of runs that broke a property the choices alone."""
        report = {name: getattr(self.report, name) for name in ExploreReport.__slots__}
        violating = [(each.number, each.choices) for each in self.report.violating]
        return {
            "corpus": corpus_length,
            "begun_with": self.begun_with,
            "planned": list(self.planned.items()),
            "report": report | {"violating": violating},
        }


def is_choices(found: object) -> bool:
    """Return whether a value that was read is a list of choices."""
    return isinstance(found, list) and all(_is_count(each) for each in found)


def _is_count(found: object) -> bool:
    return type(found) is int and 0 <= found <= CHOICE_MAX


def progress_of(document: dict[str, Any], explorer: Explorer) -> Progress:
    """Return the progress of a document of `Progress`. Raises ValueError, KeyError or TypeError."""
    report = dict(document["report"])
    fresh = ExploreReport()
    for name, value in report.items():
        # `violating` has lists where a report has runs. Counts stand under names.
        counts = value.values() if isinstance(value, dict) else ()
        if not isinstance(value, type(getattr(fresh, name, None))) or not all(
            map(_is_count, counts)
        ):
            raise TypeError(f"report.{name}")
    known = [document["begun_with"], *(part for pair in document["planned"] for part in pair)]
    runs = [number for number, _ in report["violating"]]
    lists = [choices for _, choices in report["violating"]]
    if not all(map(_is_count, known + runs)) or not all(map(is_choices, lists)):
        raise TypeError("begun_with, planned or violating")
    violating = [explorer.run(number, choices) for number, choices in report.pop("violating")]
    return Progress(
        report=ExploreReport(**report, violating=violating),
        begun_with=document["begun_with"],
        planned=dict(document["planned"]),
    )


Plan = Sequence[tuple[int, tuple[int, ...]]]
"""The runs of a round: the number of each, and the choices that it begins with."""

CarryOut = Callable[[Plan], Iterator[Explored]]
"""Takes a round in hand and returns its runs in order; it may be asked for the next one before."""


ROUND = 32
AHEAD = 2  # rounds in hand: one fills the cores while the last runs of the one before end


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploring:
    """How long to explore (runs, seconds: None is no bound), in how many processes (jobs)."""

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
    if report.violating and not how.keep_going:
        return True
    if how.runs is not None and report.runs >= how.runs:
        return True
    return how.seconds is not None and report.seconds >= how.seconds


def _in_order(plans: Iterator[Plan], carry_out: CarryOut) -> Iterator[Explored]:
    """Yield the runs of all rounds. The next is planned when all were entered."""
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
