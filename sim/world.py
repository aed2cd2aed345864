"""Run one scenario: the one door through which command line, sweeps and tests enter a world.

Each link of the chain has a module that exports

* `run(spec: RunSpec) -> RunResult`, which builds the world on `spec.environment(...)`, runs it and
  fills the tables;
* `VOCABULARY: ckptsim.sim.story.Vocabulary`, how its trace entries read.

What is the same for all links is done here: the key of the run, the version fingerprint, the
command that replays it, and the fence around the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol, cast

from ckptsim.scenarios import Scenario, UserError
from ckptsim.sim.identity import core_name, replay_command, run_key, version
from ckptsim.sim.kernel import Environment, TiePolicy, fence, parse_ties
from ckptsim.sim.rows import RunResult, RunRow, ViolationRow
from ckptsim.sim.story import Vocabulary

CoreFactory = Callable[..., Any]

# Link -> module of its world.
WORLDS: dict[str, str] = {
    "ordering": "ckptsim.sim.sync",
    "barriers": "ckptsim.sim.job.buffers",
    "barrier_protocol": "ckptsim.sim.job.records",
    "final_checkpoint": "ckptsim.sim.job.records",
    "checkpoint_store": "ckptsim.sim.store",
    "composed": "ckptsim.sim.composed",
}


class World(Protocol):
    """A module that runs the scenarios of one link."""

    VOCABULARY: Vocabulary

    def run(self, spec: RunSpec) -> RunResult:
        """Run one scenario to its end and return its tables."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """Everything that decides one run, and what its rows have to say about where it came from.

    core: makes the core under test instead of ours; mutant: names a mutant.
    ties: the text that names `policy`.
    """

    scenario: Scenario
    seed: int
    ties: str
    policy: TiePolicy
    keep_trace: bool
    core: CoreFactory | None
    mutant: str | None
    parameters: str
    run_key: str
    version: str
    replay: str

    def environment(self, goals: Iterable[str] = ()) -> Environment:
        """Return the environment of this run, with seed, ties, trace and declared goals set."""
        return Environment(self.seed, self.policy, keep_trace=self.keep_trace, goals=goals)

    def result(self, env: Environment, *, outcome: str, **counts: Any) -> RunResult:
        """Return the tables of a run that has ended, with its run row filled.

        outcome: "completed", "failed", "stalled" or "error"; counts: the fields of RunRow that only
        the world knows (`error`, `records_produced`, `attempts`, ...); `violations` is counted
        when the run is handed back.
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
        run = RunRow(
            run_key=self.run_key,
            scenario=self.scenario.name,
            link=self.scenario.link,
            seed=self.seed,
            ties=self.ties,
            version=self.version,
            digest=env.trace.digest(),
            outcome=outcome,
            events=env.steps,
            violations=0,
            parameters=self.parameters,
            replay=self.replay,
            **fields,
        )
        trace = env.trace.entries if self.keep_trace else []
        return RunResult(run=run, goals=dict(env.goals.counts), trace=trace)

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

        says: one sentence; scope, index: the checkpoint concerned, if any; story: short lines,
        oldest first, where the world knows better than what the trace tells of that checkpoint.
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


def run_world(
    scenario: Scenario,
    *,
    seed: int,
    ties: str | TiePolicy = "structural",
    keep_trace: bool = False,
    core: CoreFactory | None = None,
    mutant: str | None = None,
    parameters: str = "{}",
    source: str | None = None,
    core_text: str | None = None,
) -> RunResult:
    """Run one scenario and return its tables; the same arguments give the same bytes anywhere.

    ties: "structural", "random", "pct", "pct:DEPTH", "exhaustive" or "exhaustive:DECISIONS", seeded
    by `seed`; or a fresh policy.
    parameters: canonical JSON of the swept parameters (path -> value) that `scenario` already has;
    source, core_text: what a command line names to get the scenario without them (by default its
    name) and the core (by default module and name of the factory).
    Raises UserError for ties, a mutant or a link that do not exist.
    """
    world = load_world(scenario.link)
    policy = _policy(ties, seed) if isinstance(ties, str) else ties
    spec = _spec(
        scenario=scenario,
        seed=seed,
        ties=policy.name,
        policy=policy,
        keep_trace=keep_trace,
        core=core,
        mutant=mutant,
        parameters=parameters,
        source=source,
        core_text=core_text,
    )
    with fence():
        result = world.run(spec)
    result.run = _with_violations(result)
    return result


def load_world(link: str) -> World:
    """Import the module of a link's world."""
    if link not in WORLDS:
        raise UserError(f"link: found {link!r}, expected one of {', '.join(WORLDS)}")
    return cast("World", import_module(WORLDS[link]))


def _policy(text: str, seed: int) -> TiePolicy:
    try:
        return parse_ties(text, seed)
    except ValueError as error:
        raise UserError(f"--{error}") from error


def _spec(*, scenario: Scenario, source: str | None, core_text: str | None, **rest: Any) -> RunSpec:
    seed, ties, mutant = rest["seed"], rest["ties"], rest["mutant"]
    core = None if rest["core"] is None else core_text or core_name(rest["core"])
    replay = replay_command(
        scenario.name if source is None else source,
        seed=seed,
        ties=ties,
        core=core,
        mutant=mutant,
        parameters=rest["parameters"],
    )
    key = run_key(scenario, seed=seed, ties=ties, core=core, mutant=mutant)
    return RunSpec(scenario=scenario, run_key=key, version=version(), replay=replay, **rest)


def _with_violations(result: RunResult) -> RunRow:
    if not result.violations:
        return result.run
    return replace(result.run, violations=len(result.violations))
