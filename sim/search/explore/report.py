"""What exploring has shown so far, as it grows, and as a document from which it continues."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from ckptsim.sim.search.explore.run import Explored, Explorer

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
