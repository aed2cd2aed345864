"""Run one scenario: the one door through which command line, sweeps and tests enter a world.

Each link of the chain has a module that exports

* `run(spec: RunSpec) -> RunResult`, which builds the world on `spec.environment(...)`, runs it and
  fills the tables;
* `VOCABULARY: sim.story.Vocabulary`, how its trace entries read.

What is the same for all links is done here: the key of the run, the version fingerprint, the
command that replays it, and the fence around the run.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Protocol, cast

from scenarios import Scenario, UserError, canonical_json
from sim.kernel import Environment, TiePolicy, fence, parse_ties
from sim.rows import RunResult, RunRow, ViolationRow
from sim.story import Vocabulary

CoreFactory = Callable[..., Any]

# Link -> module of its world.
WORLDS: dict[str, str] = {
    "ordering": "sim.sync",
    "barriers": "sim.dataflow",
    "barrier_protocol": "sim.jobs",
    "final_checkpoint": "sim.jobs",
    "checkpoint_store": "sim.store",
    "composed": "sim.composed",
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

    core: makes the core under test instead of ours; twin: names a deliberately faulty twin.
    ties: the text that names `policy`.
    """

    scenario: Scenario
    seed: int
    ties: str
    policy: TiePolicy
    keep_trace: bool
    core: CoreFactory | None
    twin: str | None
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
    twin: str | None = None,
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
    Raises UserError for ties, a twin or a link that do not exist.
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
        twin=twin,
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


def replay_command(
    source: str,
    *,
    seed: int,
    ties: str,
    core: str | None = None,
    twin: str | None = None,
    parameters: str = "{}",
) -> str:
    """Return the command that tells the story of this run again."""
    words = ["ckptsim", "replay", source, "--seed", str(seed)]
    if ties != "structural":
        words += ["--ties", ties]
    if twin is not None:
        words += ["--twin", twin]
    if core is not None:
        words += ["--core", core]
    for path, value in json.loads(parameters).items():
        words += ["--set", f"{path}={json.dumps(value)}"]
    return shlex.join(words)


def core_name(core: CoreFactory) -> str:
    """Return `package.module:factory` of a factory."""
    return f"{core.__module__}:{getattr(core, '__qualname__', type(core).__qualname__)}"


@lru_cache(maxsize=1)
def version() -> str:
    """Return a fingerprint of the program: a hash of the sources that decide a run."""
    digest = blake2b(digest_size=6)
    for package in ("models", "scenarios", "sim"):
        for path, text in sorted(_sources(files(package), package)):
            digest.update(f"{path}\0{len(text)}\0".encode())
            digest.update(text)
    return digest.hexdigest()


def _sources(folder: Traversable, path: str) -> list[tuple[str, bytes]]:
    """Return the Python sources below a package; the command line decides nothing in a run."""
    found: list[tuple[str, bytes]] = []
    for item in folder.iterdir():
        inner = f"{path}/{item.name}"
        if item.is_dir():
            if inner != "sim/cli":
                found += _sources(item, inner)
        elif item.name.endswith(".py"):
            found.append((inner, item.read_bytes()))
    return found


def _policy(text: str, seed: int) -> TiePolicy:
    try:
        return parse_ties(text, seed)
    except ValueError as error:
        raise UserError(f"--{error}") from error


def _spec(*, scenario: Scenario, source: str | None, core_text: str | None, **rest: Any) -> RunSpec:
    seed, ties, twin = rest["seed"], rest["ties"], rest["twin"]
    core = None if rest["core"] is None else core_text or core_name(rest["core"])
    replay = replay_command(
        scenario.name if source is None else source,
        seed=seed,
        ties=ties,
        core=core,
        twin=twin,
        parameters=rest["parameters"],
    )
    key = run_key(scenario, seed=seed, ties=ties, core=core, twin=twin)
    return RunSpec(scenario=scenario, run_key=key, version=version(), replay=replay, **rest)


def run_key(
    scenario: Scenario,
    *,
    seed: int,
    ties: str,
    core: str | None = None,
    twin: str | None = None,
) -> str:
    """Return the key of a run: a hash of all that decides it, as 32 hexadecimal digits."""
    identity = [_canonical(scenario), seed, ties, version(), core, twin]
    text = json.dumps(identity, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()


@lru_cache(maxsize=16)
def _canonical(scenario: Scenario) -> str:
    return canonical_json(scenario)


def _with_violations(result: RunResult) -> RunRow:
    if not result.violations:
        return result.run
    return replace(result.run, violations=len(result.violations))
