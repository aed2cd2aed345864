"""What a world is given for one run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ckptsim.scenarios import Scenario
from ckptsim.sim.identity import canonical_names
from ckptsim.sim.kernel import Environment, TiePolicy
from ckptsim.sim.rows import RunResult, RunRow, ViolationRow
from ckptsim.sim.slots import ProtocolCores

# Outcomes of a run that has used up its bound of work: time passes, or is stuck.
CUTS = CUT, STUCK = "cut", "stuck"


class Watch(ABC):
    """Looks on at the cores of one run, and changes nothing of it."""

    _env: Environment | None = None

    @abstractmethod
    def beside(self, cores: ProtocolCores, foreign: Collection[str]) -> ProtocolCores:
        """Return factories with observed cores. foreign: slots that are not ours."""

    @abstractmethod
    def rows(self, spec: RunSpec) -> list[ViolationRow]:
        """Return the value found."""

    def follow(self, env: Environment) -> None:
        """Take the environment in which the run, or a part of it, continues."""
        self._env = env

    @property
    def now_ns(self) -> int:
        """The present instant of the run. 0 before it has begun."""
        return 0 if self._env is None else self._env.now


class Watches(Watch):
    """Several that look on, one after the other."""

    def __init__(self, watches: Iterable[Watch]) -> None:
        self._watches = tuple(watches)

    def beside(self, cores: ProtocolCores, foreign: Collection[str]) -> ProtocolCores:
        """Return factories with cores that all of them observe."""
        for each in self._watches:
            cores = each.beside(cores, foreign)
        return cores

    def follow(self, env: Environment) -> None:
        """Take the environment in which the run, or a part of it, continues."""
        for each in self._watches:
            each.follow(env)

    def rows(self, spec: RunSpec) -> list[ViolationRow]:
        """Return what all of them found."""
        return [row for each in self._watches for row in each.rows(spec)]


def prefer_processes(env: Environment) -> None:
    """Have a small job run by SimPy processes. For `began`, where one run is made and looked at."""
    env.prefers_processes = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """Everything that decides one run, and what its rows have to say about where it came from.

    cores: the factories of the cores.  chosen, mutant: which of them are not ours: slot ->
    `package.module:factory` of the user's, and the name of a mutant.
    ties: the text that names `policy`.  ignore: properties that are not judged.  wants_account:
    the world fills `RunResult.account`.
    steps_max: more events than these end the run with TooManyStepsError. They are steps of the
    calendar, and entries of the trace where drivers differ in their steps.
    cut_after: so many steps end the run where it is, and its outcome is `CUT`. `STUCK`, where the
    second half of them was at one instant.  cuts: the ones of the run's environments.
    environments: those that the world has asked for. They tell what happened until an exception.
    watch: who looks on at the cores, if anybody does.  began: is notified of every environment.
    judged: whether properties are checked.  Without that a world of buffers takes a third of the
    time, and all other figures are the same. Other worlds check them in any case.
    """

    scenario: Scenario
    seed: int
    ties: str
    policy: TiePolicy
    keep_trace: bool
    cores: ProtocolCores
    chosen: Mapping[str, str]
    mutant: str | None
    parameters: str
    run_key: str
    version: str
    replay: str
    ignore: tuple[str, ...] = ()
    wants_account: bool = False
    steps_max: int | None = None
    cut_after: int | None = None
    environments: list[Environment] = field(default_factory=list)
    cuts: list[str] = field(default_factory=list)
    watch: Watch | None = None
    began: Callable[[Environment], None] | None = None
    judged: bool = True

    def environment(self, goals: Iterable[str] = ()) -> Environment:
        """Return the environment of this run, with seed, ties, trace and declared goals set."""
        env = Environment(self.seed, self.policy, keep_trace=self.keep_trace, goals=goals)
        if self.steps_max is not None:
            env.steps_max = self.steps_max
        self.environments.append(env)
        if self.watch is not None:
            self.watch.follow(env)
        if self.began is not None:
            self.began(env)
        return env

    def bound(self, env: Environment, end: Callable[[], object]) -> None:
        """Bound the work of an environment of this run, if the run has a bound. end: ends it."""
        steps = self.cut_after
        if steps is None:
            return

        def halfway() -> None:
            began_ns = env.now
            env.call_after(steps, partial(cut, began_ns))

        def cut(began_ns: int) -> None:
            self.cuts.append(CUT if env.now > began_ns else STUCK)
            end()

        env.call_after(steps // 2, halfway)

    def result(self, env: Environment, *, outcome: str, **counts: Any) -> RunResult:
        """Return the tables of a run that has ended, with its run row filled.

        outcome: "completed", "failed", "stalled" or "error". Of a run that was cut it is replaced.
        counts: the fields of RunRow that only the world knows (`error`, `records_produced`,
        `attempts`, ...). `violations` is counted when the run is handed back.
        """
        fields = {
            "error": None,
            "records_produced": 0,
            "records_committed": 0,
            "checkpoints_completed": 0,
            "checkpoints_failed": 0,
            "attempts": 1,
            "ended_ns": env.now,
        } | counts
        if self.cuts and outcome != "error":
            outcome = self.cuts[0]
        run = RunRow(
            run_key=self.run_key,
            scenario=self.scenario.name,
            link=self.scenario.link,
            seed=self.seed,
            ties=self.ties,
            version=self.version,
            digest=env.trace.digest(),
            outcome=outcome,
            events=env.events,
            violations=0,
            parameters=self.parameters,
            replay=self.replay,
            cores=canonical_names(self.chosen),
            mutant=self.mutant,
            **fields,
        )
        trace = env.trace.entries if self.keep_trace else []
        goals = dict(env.goals.counts)
        return RunResult(run=run, goals=goals, trace=trace, driver=env.driver)

    def violation(
        self,
        name: str,
        at_ns: int,
        says: str,
        *,
        story: Iterable[str] = (),
        scope: str | None = None,
        index: int | None = None,
    ) -> ViolationRow:
        """Return the row of a property that did not hold.

        says: one sentence. scope, index: the checkpoint concerned, if any. story: short lines,
        oldest first, where the world knows better than what the trace shows of that checkpoint.
        """
        return ViolationRow(
            run_key=self.run_key,
            property=name,
            at_ns=at_ns,
            says=says,
            story="\n".join(story),
            replay=self.replay,
            scope=scope,
            index=index,
        )
