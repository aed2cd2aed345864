"""Run one scenario: the one door through which command line, sweeps and tests enter a world.

Each link of the chain has a module that exports

* `run(spec: RunSpec) -> RunResult`, which builds the world on `spec.environment(...)`, runs it and
  fills the tables;
* `CORES`, the type of its factories of cores, made of what stands in its slots;
* `VOCABULARY`, a `Vocabulary`, how its trace entries read.

What is the same for all links is done here: which core comes to which slot, the key of the run, the
version fingerprint, the command that replays it, the fence around the run, and whom an exception
is put down to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Protocol, cast

from ckptsim.scenarios import Scenario, UserError
from ckptsim.sim.blame import raised_by_core
from ckptsim.sim.fingerprint import WORLDS, version
from ckptsim.sim.identity import replay_command, run_key
from ckptsim.sim.kernel import Environment, TiePolicy, TooManyStepsError, fence, parse_ties
from ckptsim.sim.rows import RunResult, RunRow
from ckptsim.sim.run_spec import RunSpec, Watch
from ckptsim.sim.slots import Factory, ProtocolCores
from ckptsim.sim.slots.resolve import Choice, resolve
from ckptsim.sim.story import Vocabulary


class World(Protocol):
    """A module that runs the scenarios of one link."""

    CORES: type[ProtocolCores]
    VOCABULARY: Vocabulary

    def run(self, spec: RunSpec) -> RunResult:
        """Run one scenario to its end and return its tables."""
        ...


def run_world(
    scenario: Scenario,
    *,
    seed: int,
    ties: str | TiePolicy = "structural",
    keep_trace: bool = False,
    cores: Mapping[str, Factory | str] | None = None,
    mutant: str | None = None,
    parameters: str = "{}",
    source: str | None = None,
    options: Sequence[str] = (),
    steps_max: int | None = None,
    watch: Watch | None = None,
    began: Callable[[Environment], None] | None = None,
) -> RunResult:
    """Run one scenario and return its tables; the same arguments give the same bytes anywhere.

    ties: the text of a policy that `seed` seeds, such as "pct:DEPTH", or a fresh policy.
    cores: slot -> factory of a core to run instead of ours, or the text `package.module:factory`
    that names one; mutant: the name of a mutant of ours, which takes its slot.
    parameters: canonical JSON of the swept parameters (path -> value) that `scenario` already has;
    source, options: of the replay command, the scenario (by default its name) and more words.
    watch: looks on at the cores; what it finds are violations of the run.  began: is told of its
    environment.  A core that raises what no core may raise ends the run with a violation.
    steps_max: more steps of the calendar than these raise TooManyStepsError.
    Raises UserError for ties, slots, cores, a mutant or a link that do not exist or do not fit.
    """
    world, choice = load_world(scenario.world), resolve(scenario.world, cores=cores, mutant=mutant)
    policy = _policy(ties, seed) if isinstance(ties, str) else ties
    spec = _spec(
        scenario=scenario,
        seed=seed,
        ties=policy.name,
        policy=policy,
        keep_trace=keep_trace,
        cores=_cores(world, choice, watch),
        watch=watch,
        began=began,
        chosen=dict(sorted(choice.names.items())),
        mutant=mutant,
        parameters=parameters,
        source=source,
        options=options,
        steps_max=steps_max,
    )
    try:
        with fence():
            result = world.run(spec)
    except (UserError, TooManyStepsError, MemoryError):  # limits are no fault of a core
        raise
    except Exception as error:
        blamed = raised_by_core(spec, choice.factories, error)
        if blamed is None:
            error.add_note(f"in the run that this repeats: {spec.replay}")
            raise
        result = blamed
    if watch is not None:
        result.violations += watch.rows(spec)
    result.run = _with_violations(result)
    return result


def load_world(link: str) -> World:
    """Import the module of a link's world."""
    if link not in WORLDS:
        raise UserError(f"link: found {link!r}, expected one of {', '.join(WORLDS)}")
    return cast("World", import_module(WORLDS[link]))


def _cores(world: World, choice: Choice, watch: Watch | None) -> ProtocolCores:
    """Return the factories of the run's cores, each looked at if somebody does."""
    cores = world.CORES(**choice.factories)
    return cores if watch is None else watch.beside(cores, choice.names)


def _policy(text: str, seed: int) -> TiePolicy:
    try:
        return parse_ties(text, seed)
    except ValueError as error:
        raise UserError(f"--{error}") from error


def _spec(
    *, scenario: Scenario, source: str | None, options: Sequence[str], **rest: Any
) -> RunSpec:
    decides = {name: rest[name] for name in ("seed", "ties", "mutant")}
    decides["cores"] = rest["chosen"]
    replay = replay_command(
        scenario.name if source is None else source,
        parameters=rest["parameters"],
        options=options,
        **decides,
    )
    key = run_key(scenario, **decides)
    return RunSpec(
        scenario=scenario, run_key=key, version=version(scenario.world), replay=replay, **rest
    )


def _with_violations(result: RunResult) -> RunRow:
    if not result.violations:
        return result.run
    return replace(result.run, violations=len(result.violations))
