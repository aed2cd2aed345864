"""Draw random faults for a scenario: every kind of its link, at places and instants of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, cast

from ckptsim.scenarios import LINKS, Problem, Scenario
from ckptsim.scenarios.dialect import At, Choice, Flag, Kind, OneOf, Real, Whole, schema
from ckptsim.scenarios.job import ExponentialDelay, Job, NoRestart
from ckptsim.sim.kernel import Streams
from ckptsim.sim.search.faults.parts import Parts, parts_of
from ckptsim.sim.search.faults.rehearsal import Rehearsal, rehearse

RESTARTS = "exponential_delay in place of none, with which the first failure would end the job"


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of the faults that were drawn for one scenario.

    drawn: kind -> number; refused: kind -> number of those that did not fit the scenario; because:
    what the first of them ran into; left_out: kind -> why it is not drawn for this scenario.
    restarts: the job has a restart strategy here, which it has not by itself.
    """

    drawn: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    because: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    restarts: bool = False

    def enter(self, kind: str, problem: str | None) -> None:
        """Count a fault that fits, or one that was refused for a problem."""
        where = self.drawn if problem is None else self.refused
        where[kind] = where.get(kind, 0) + 1
        if problem is not None:
            self.because.setdefault(kind, problem)

    def document(self) -> dict[str, Any]:
        """Return the counts as JSON data."""
        refused = {
            kind: {"count": self.refused[kind], "because": self.because[kind]}
            for kind in sorted(self.refused)
        }
        drawn = {kind: self.drawn[kind] for kind in sorted(self.drawn)}
        left_out = dict(sorted(self.left_out.items()))
        restart = {"restart": RESTARTS} if self.restarts else {}
        return {"drawn": drawn, "refused": refused, "left_out": left_out} | restart

    def rows(self) -> list[tuple[str, str]]:
        """Return the counts as lines for people: a heading and a sentence each."""
        total, kinds = sum(self.drawn.values()), len(self.drawn)
        refused = [
            f"{self.refused[kind]} {kind}: {self.because[kind]}" for kind in sorted(self.refused)
        ]
        reasons: dict[str, list[str]] = {}
        for kind, why in sorted(self.left_out.items()):
            reasons.setdefault(why, []).append(kind)
        left_out = [f"{', '.join(kinds)}: {why}" for why, kinds in reasons.items()]
        restarts = [("restart", RESTARTS)] if self.restarts else []
        return [
            *restarts,
            ("drawn", f"{total} faults of {kinds} kinds; refused: {sum(self.refused.values())}"),
            *(("refused", line) for line in refused),
            *(("not drawn", line) for line in left_out),
        ]


Item = TypeVar("Item")

_TRIES = 8
# The shortest duration that is drawn; an assumption: nothing that matters is shorter.
_TIME_MIN_NS = 1_000
# Faults strike so many times the length of the run at the latest, and last no longer.
_SIZE_MAX_BYTES = 1 << 16
# So many of a first restart delay fit into a run.  An assumption: several failures fit, too.
_BACKOFFS = 20


class Source(Protocol):
    """Where draws come from: a named stream, or whatever else draws."""

    def integer(self, low: int, high: int) -> int:
        """Draw a whole number between two bounds, both included."""
        ...

    def choice(self, options: Sequence[Item]) -> Item:
        """Draw one of the options."""
        ...

    def chance(self, probability: float) -> bool:
        """Draw whether something is so."""
        ...

    def uniform(self) -> float:
        """Draw a number from 0 to 1."""
        ...


class FaultDraw:
    """Draws faults for one scenario, and counts what was drawn and refused.

    What it draws depends on the scenario and on the source of draws alone: the scenario is run once
    before, with our own cores, to know its instants.
    """

    def __init__(self, scenario: Scenario, *, most: int) -> None:
        self.most = most
        self._tables = LINKS[scenario.link].faults
        self._rehearsal = rehearse(scenario) if most else Rehearsal()
        restarted = _restarted(scenario, self._rehearsal) if most else None
        self._scenario = restarted or scenario
        self._parts = parts_of(scenario, self._rehearsal.checkpoints)
        self._kinds = [kind for kind in self._tables if kind not in self._parts.left_out]
        self.tally = Tally(left_out=dict(self._parts.left_out), restarts=restarted is not None)

    def of_seed(self, seed: int) -> Scenario:
        """Return the scenario with one to `most` more faults, drawn from the stream of a seed."""
        return self.drawn(Streams(seed).stream("random faults"))

    def drawn(self, source: Source) -> Scenario:
        """Return the scenario with one to `most` more faults, drawn from a source.

        A fault that does not fit the scenario is counted, and drawn again a few times.
        """
        if not self.most or not self._kinds:
            return self._scenario
        faults: list[object] = list(self._scenario.faults)
        for _ in range(source.integer(1, self.most)):
            for _ in range(_TRIES):
                kind = source.choice(self._kinds)
                fault = self._fitting(kind, source, faults)
                if fault is not None:
                    faults.append(fault)
                    break
        return replace(self._scenario, faults=tuple(faults))

    def _fitting(self, kind: str, source: Source, before: Sequence[object]) -> object | None:
        """Draw a fault of a kind; None for one that is refused."""
        instants = tuple(at for at in (getattr(one, "at_ns", None) for one in before) if at)
        drawing = _Drawing(source, self._rehearsal, self._parts, instants)
        text = drawing.fault(kind, self._tables[kind])
        problems: list[Problem] = []
        fault = OneOf(tables=self._tables).read(text, At("random faults", "", problems))
        if not problems and hasattr(fault, "problems_in"):
            problems += cast("Any", fault).problems_in(self._scenario.model)
        self.tally.enter(kind, str(problems[0]) if problems else None)
        return None if problems else fault


def _restarted(scenario: Scenario, rehearsal: Rehearsal) -> Scenario | None:
    """Return a job that is not restarted by default with a strategy; None for all else.

    Its first failure would end it, and no fault would meet a restore.  Source: Apache Flink 1.20.3
    restarts jobs with checkpoints by `exponential-delay`.  Its first delay fits into the run.
    """
    job, usual = scenario.model, LINKS[scenario.link].defaults.get("restart")
    if not isinstance(job, Job) or not isinstance(job.restart, NoRestart) or usual != job.restart:
        return None
    flink = ExponentialDelay()
    backoff_ns = max(1, min(flink.initial_backoff_ns, rehearsal.ended_ns // _BACKOFFS))
    strategy = replace(flink, initial_backoff_ns=backoff_ns)
    return replace(scenario, model=replace(job, restart=strategy))


class _Drawing:
    """Draws the parameters of one fault.

    before: the instants of the faults that the scenario has and of those drawn before.
    """

    def __init__(
        self, source: Source, rehearsal: Rehearsal, parts: Parts, before: Sequence[int]
    ) -> None:
        self._source, self._parts, self._before = source, parts, before
        self._rehearsal = rehearsal

    def fault(self, kind: str, table: type) -> dict[str, Any]:
        """Return a fault as a scenario file has it; parameters may depend on those above them."""
        drawn: dict[str, Any] = {"kind": kind}
        for entry in schema(table):
            options = self._parts.options(kind, entry.name, drawn)
            if options is not None:
                drawn[entry.name] = self._source.choice(options)
            else:
                value = self._value(entry.name, entry.kind)
                if value is not None:
                    drawn[entry.name] = value
        return drawn

    def _value(self, name: str, kind: Kind) -> Any:
        """Draw a value of a kind, or None to leave the parameter at its default."""
        source = self._source
        match kind:
            case Choice(options=options):
                return source.choice(options)
            case Flag():
                return source.chance(0.5)
            case Whole(mark="_ns"):
                drawn = self._instant() if name == "at_ns" else self._duration()
                return min(max(drawn, kind.minimum), kind.maximum)
            case Whole(mark="_bytes"):
                high = min(kind.maximum, _SIZE_MAX_BYTES)
                return self._magnitude(kind.minimum, max(kind.minimum, high))
            case Whole(mark=""):
                return self._count(kind)
            case Real(minimum=low, maximum=high):
                return low + source.uniform() * (min(high, low + 100.0) - low)
            case _:
                return None

    def _instant(self) -> int:
        """Draw an instant: anywhere in the run, or near one at which something happens.

        What a fault before it has caused, such as a restore, comes a duration of the scenario's own
        later, which no run without that fault shows.
        """
        source, rehearsal = self._source, self._rehearsal
        how = source.integer(0, 3)
        if how < 2 or not rehearsal.instants:
            return source.integer(0, rehearsal.ended_ns)
        if how == 2 and self._before:
            return source.choice(self._before) + self._duration()
        near_ns = source.choice(source.choice(rehearsal.instants))
        if source.chance(0.5):
            return near_ns
        later_ns = self._magnitude(1, max(1, rehearsal.ended_ns // 100))
        return max(0, near_ns + (later_ns if source.chance(0.5) else -later_ns))

    def _duration(self) -> int:
        """Draw a duration: one that the scenario has, or any that is no longer than its run."""
        source, rehearsal = self._source, self._rehearsal
        if rehearsal.durations and source.chance(0.5):
            return max(0, source.choice(rehearsal.durations) + source.integer(-1, 1))
        return self._magnitude(min(_TIME_MIN_NS, rehearsal.ended_ns), rehearsal.ended_ns)

    def _count(self, kind: Whole) -> int:
        """Draw a number up to that of the events of one kind, which are the things counted."""
        instants = self._rehearsal.instants
        most = len(self._source.choice(instants)) if instants else 1
        low = max(kind.minimum, -most)
        return self._source.integer(low, min(kind.maximum, max(low, 0) + most))

    def _magnitude(self, low: int, high: int) -> int:
        """Draw between low and high with even odds per power of two."""
        exponent = self._source.integer(low.bit_length(), high.bit_length())
        top = (1 << exponent) - 1
        return min(max(self._source.integer(top >> 1, top), low), high)


def with_random_faults(scenario: Scenario, *, seed: int, count: int) -> Scenario:
    """Return the scenario with up to `count` more faults, drawn from the stream of `seed`."""
    return FaultDraw(scenario, most=count).of_seed(seed)
