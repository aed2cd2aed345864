"""Random faults for a scenario: every kind of its link, at places and instants of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from ckptsim.scenarios import LINKS, Scenario
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.faults import Drawing, Times, durations
from ckptsim.scenarios.generators.parts import parts_of
from ckptsim.scenarios.job import ExponentialDelay, Job, NoRestart
from ckptsim.sim.kernel import Streams
from ckptsim.sim.world import run_world

RESTARTS = "exponential_delay in place of none, with which the first failure would end the job"
# So many rehearsals a process remembers: strategies of one test ask again and again.
_REMEMBERED = 16
_TRIES = 8
# So many of a first restart delay fit into a run.  An assumption: several failures fit, too.
_BACKOFFS = 20


@lru_cache(maxsize=_REMEMBERED)
def rehearse(scenario: Scenario) -> Times:
    """Run the scenario once as it is, which takes as long as one run of a hunt.

    The trace has what protocols do and no record by itself: triggers, barriers, acknowledgements,
    completions, restores, commits.  A kind that is rare counts as much as one that is common.
    """
    result = run_world(scenario, seed=0, keep_trace=True)
    instants: dict[str, list[int]] = {}
    for at_ns, kind, *_ in result.trace:
        if isinstance(at_ns, int):
            instants.setdefault(str(kind), []).append(at_ns)
    ended_ns = max(1, result.run.ended_ns)
    return Times(
        ended_ns=ended_ns,
        events=result.run.events,
        instants=tuple(tuple(instants[kind]) for kind in sorted(instants)),
        durations=tuple(one for one in sorted(set(durations(scenario))) if 0 < one <= ended_ns),
        checkpoints=max((row.checkpoint_id for row in result.checkpoints), default=0),
    )


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of the faults that were drawn for one scenario.

    drawn: kind -> number.  refused: kind -> number of faults that did not fit the scenario.
    because: the problem of the first of them.  left_out: kind -> why it is not drawn for this one.
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


class FaultDraw:
    """Draws faults for one scenario, and counts the drawn and the refused ones.

    What it draws depends on the scenario and on the source of draws alone: the scenario is run once
    before, with our own cores, to know its instants.
    """

    def __init__(self, scenario: Scenario, *, most: int) -> None:
        self.most = most
        times = rehearse(scenario) if most else Times()
        restarted = _restarted(scenario, times) if most else None
        self._scenario = restarted or scenario
        parts = parts_of(scenario, times.checkpoints)
        self._drawing = Drawing(scenario=self._scenario, parts=parts, times=times)
        self._kinds = self._drawing.kinds
        self.tally = Tally(left_out=dict(parts.left_out), restarts=restarted is not None)

    def of_seed(self, seed: int) -> Scenario:
        """Return the scenario with one to `most` more faults, drawn from the stream of a seed."""
        return self.drawn(Choices(more=Streams(seed).stream("random faults").integer))

    def drawn(self, choices: Choices) -> Scenario:
        """Return the scenario with up to `most` more faults. One that does not fit is redrawn."""
        if not self.most or not self._kinds:
            return self._scenario
        faults: list[object] = list(self._scenario.faults)
        for _ in range(choices.integer(1, self.most)):
            for _ in range(_TRIES):
                kind = choices.of(self._kinds)
                fault, problem = self._drawing.fault(choices, kind, faults)
                self.tally.enter(kind, None if problem is None else str(problem))
                if fault is not None:
                    faults.append(fault)
                    break
        return replace(self._scenario, faults=tuple(faults))


def _restarted(scenario: Scenario, times: Times) -> Scenario | None:
    """Return a job that is not restarted by default with a strategy, None for all else.

    Its first failure would end it, and no fault would meet a restore.  Source: Apache Flink 1.20.3
    restarts jobs with checkpoints by `exponential-delay`.  Its first delay fits into the run.
    """
    job, usual = scenario.model, LINKS[scenario.link].defaults.get("restart")
    if not isinstance(job, Job) or not isinstance(job.restart, NoRestart) or usual != job.restart:
        return None
    flink = ExponentialDelay()
    backoff_ns = max(1, min(flink.initial_backoff_ns, times.ended_ns // _BACKOFFS))
    strategy = replace(flink, initial_backoff_ns=backoff_ns)
    return replace(scenario, model=replace(job, restart=strategy))
