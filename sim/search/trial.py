"""One trial: a scenario, a seed and a tie policy, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ckptsim.scenarios import Scenario
from ckptsim.sim.identity import replay_command
from ckptsim.sim.judging import AS_USUAL, Judging
from ckptsim.sim.kernel import Environment, TiePolicy
from ckptsim.sim.rows import RunResult, ViolationRow
from ckptsim.sim.run_spec import Watch, Watches
from ckptsim.sim.slots import Factory
from ckptsim.sim.slots.resolve import name_of
from ckptsim.sim.world import run_world

WatchFactory: TypeAlias = Callable[[str, int], Watch]
"""Makes what looks on at the cores of one run, of the link of its scenario and its seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A trial: a scenario with a core.

    cores: slot -> factory of a core to run instead of ours, or `package.module:factory`, which
    several processes need. mutant: a faulty core of ours.
    watches: what looks on at the cores of each run, made of its link and seed.
    judging, cut_after: see `run_world`.
    source, parameters: how a command line gets this scenario again, see `run_world`.
    """

    scenario: Scenario
    cores: Mapping[str, Factory | str] = field(default_factory=dict)
    mutant: str | None = None
    judging: Judging = AS_USUAL
    source: str | None = None
    parameters: str = "{}"
    watches: Sequence[WatchFactory] = ()
    cut_after: int | None = None

    @property
    def names(self) -> dict[str, str]:
        """Return slot -> `package.module:factory` of the cores that are not ours."""
        return {slot: name_of(core) for slot, core in sorted(self.cores.items())}

    @property
    def is_ours(self) -> bool:
        """Return whether all cores are ours."""
        return not self.cores and self.mutant is None

    @property
    def with_ours(self) -> Subject:
        """Return the same with our own cores."""
        return replace(self, cores={}, mutant=None)

    def run(
        self,
        seed: int,
        ties: str | TiePolicy,
        *,
        keep_trace: bool = False,
        steps_max: int | None = None,
        began: Callable[[Environment], None] | None = None,
        watch: Watch | None = None,
    ) -> RunResult:
        """Run the scenario once. See `run_world`.  watch: looks on besides."""
        watches = [] if watch is None else [watch]
        watches += [make(self.scenario.link, seed) for make in self.watches]
        if not self.is_ours:
            watches += self._judges(seed)
        return run_world(
            self.scenario,
            seed=seed,
            ties=ties,
            keep_trace=keep_trace,
            cores=self.cores,
            mutant=self.mutant,
            parameters=self.parameters,
            source=self.source,
            judging=self.judging,
            steps_max=steps_max,
            cut_after=self.cut_after,
            watch=Watches(watches) if watches else None,
            began=began,
        )

    def _judges(self, seed: int) -> Iterator[Watch]:
        """Yield what judges the cores that are not ours. The last one is next to the hosts."""
        from ckptsim.sim.rules.contract import Contracts  # noqa: PLC0415 - our runs need none
        from ckptsim.sim.rules.ours import LikeOurs  # noqa: PLC0415

        if self.judging.like_ours:
            yield LikeOurs(seed, judges=True)
        yield Contracts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of one run. Small enough to travel between processes.

    work: of violated properties, how much happened until the first violation, in entries of the
    trace. ended_ns: the last instant.  slowest: duration and negative number of the slowest
    completed checkpoint, empty without one.  failed: status and reason of the others -> how many,
    and the number of the first.
    """

    seed: int
    ties: str
    outcome: str
    digest: str
    events: int
    goals: dict[str, int] = field(default_factory=dict)
    violations: tuple[ViolationRow, ...] = ()
    work: dict[str, int] = field(default_factory=dict)
    ended_ns: int = 0
    slowest: tuple[int, ...] = ()
    failed: dict[str, tuple[int, int]] = field(default_factory=dict)

    def work_until(self, name: str) -> int:
        """Return how much happened until a property was violated, or in all if unknown."""
        return self.work.get(name, self.events)


def trial(
    subject: Subject, seed: int, ties: str | TiePolicy, steps_max: int | None = None
) -> Trial:
    """Run once. Raises TooManyStepsError for a run of more steps than `steps_max`."""
    text = ties if isinstance(ties, str) else ties.name
    began: list[Environment] = []
    result = subject.run(seed, ties, steps_max=steps_max, began=began.append)
    return trial_of(result, text, began)


def trial_of(result: RunResult, ties: str, began: Sequence[Environment]) -> Trial:
    """Return what came of a run. began: its environments."""
    work: dict[str, int] = {}
    for env in reversed(began):
        work |= env.entries_until
    slowest: tuple[int, ...] = ()
    failed: dict[str, tuple[int, int]] = {}
    for row in result.checkpoints:
        if row.status == "completed":
            slowest = max(slowest, (row.duration_ns or 0, -row.checkpoint_id))
        elif row.status != "pending" and not row.inner:
            kind = f"{row.status} ({row.reason})" if row.reason else row.status
            count, first = failed.get(kind, (0, row.checkpoint_id))
            failed[kind] = (count + 1, first)
    return Trial(
        seed=result.run.seed,
        ties=ties,
        outcome=result.run.outcome,
        digest=result.run.digest,
        events=result.run.events,
        goals=result.goals,
        violations=tuple(result.violations),
        work=work,
        ended_ns=result.run.ended_ns,
        slowest=slowest,
        failed=failed,
    )


def replay_of(subject: Subject, seed: int, ties: str) -> str:
    """Return the command that notifies the story of a run of the subject."""
    return replay_command(
        subject.source or subject.scenario.name,
        seed=seed,
        ties=ties,
        cores=subject.names,
        mutant=subject.mutant,
        parameters=subject.parameters,
        judged=subject.judging.words,
    )
