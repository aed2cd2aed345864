"""Lists of choices, kept, changed or drawn anew, and what exploring has shown so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
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
    """Return the list with one to four changes of any kind."""
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
    """Return the progress of a document. The runs that broke a property are run again.

    Raises ValueError, KeyError or TypeError for one that `Progress.document` has not made.
    """
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
