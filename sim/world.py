"""Run one scenario: the one door through which command line, sweeps and tests enter a world.

Each link of the chain has a module that exports

* `run(spec: RunSpec) -> RunResult`, which builds the world on `spec.environment(...)`, runs it and
  fills the tables.
* `CORES`, the type of its factories of cores, made from its slots.
* `VOCABULARY`, a `Vocabulary`, how its trace entries read.

Common work of all links is done here: the core of each slot, the key of the run, the fingerprint,
the replay command, the fence, and the origin of an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from typing import Any, Protocol, cast

from ckptsim.scenarios import LINKS, Scenario, UserError
from ckptsim.scenarios.dialect import suggestion
from ckptsim.scenarios.job.names import RENAMED
from ckptsim.scenarios.severity import OF_EVERY_LINK, severity_of
from ckptsim.sim.blame import raised_by_core
from ckptsim.sim.fingerprint import WORLDS, version
from ckptsim.sim.identity import replay_command, run_key
from ckptsim.sim.judging import AS_USUAL, Judging
from ckptsim.sim.kernel import Environment, TiePolicy, TooManyStepsError, fence, parse_ties
from ckptsim.sim.own_properties import Properties, is_own, own_properties, violations_of
from ckptsim.sim.rows import RunResult, ViolationRow, no_account
from ckptsim.sim.run_spec import RunSpec, Watch
from ckptsim.sim.slots import Factory, ProtocolCores
from ckptsim.sim.slots.guest import guest, note
from ckptsim.sim.slots.resolve import Choice, resolve
from ckptsim.sim.story import Vocabulary


class World(Protocol):
    """A module that runs the scenarios of one link."""

    CORES: type[ProtocolCores]
    VOCABULARY: Vocabulary

    def run(self, spec: RunSpec) -> RunResult:
        """Run one scenario to its end and return its tables."""


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
    judging: Judging = AS_USUAL,
    steps_max: int | None = None,
    cut_after: int | None = None,
    watch: Watch | None = None,
    began: Callable[[Environment], None] | None = None,
    judged: bool = True,
) -> RunResult:
    """Run one scenario and return its tables. The same arguments give the same bytes anywhere.

    ties: the text of a policy that `seed` seeds, such as "pct:DEPTH", or a fresh policy.
    cores: slot -> factory of a core to run instead of ours, or the text `package.module:factory`
    that names one. mutant: the name of a mutant of ours, which takes its slot.
    parameters: canonical JSON of the swept parameters (path -> value) that `scenario` already has.
    source: the scenario in the replay command, by default its name.
    watch: looks on at the cores. What it finds are violations of the run.
    began, judged, steps_max, cut_after: see RunSpec.
    The violations come harm first, then in the order in which they happened.
    Raises UserError for what does not exist or fit: ties, cores, a mutant, a link or properties.
    """
    world, choice = load_world(scenario.world), resolve(scenario.world, cores=cores, mutant=mutant)
    policy = _policy(ties, seed) if isinstance(ties, str) else ties
    check_properties("--ignore", judging.ignore, scenario.link)
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
        words=judging.words,
        ignore=tuple(sorted(judging.ignore)),
        own=(own := own_properties(judging.properties)),
        steps_max=steps_max,
        cut_after=cut_after,
        judged=judged,
    )
    result = _ran(world, spec, choice, own)
    # What neither a world nor its log knows is declined here: rules beside cores, exceptions.
    kept = [row for row in result.violations if row.property not in judging.ignore]
    return _with_violations(result, sorted(kept, key=_by_harm))


def _ran(world: World, spec: RunSpec, choice: Choice, own: Properties) -> RunResult:
    """Run a world with the user's cores as guests, and judge the user's properties.

    A core that raises what no core may raise ends the run with a violation.
    """
    visit = None
    try:
        with ExitStack() as stack:
            if choice.names:
                visit = stack.enter_context(guest(_who(choice, spec)))
            stack.enter_context(fence())
            result = world.run(spec)
            result.violations += violations_of(own, spec, result)
    except (UserError, TooManyStepsError, MemoryError):  # limits are no fault of a core
        raise
    except BaseException as error:
        fault = None if visit is None else visit.fault(error)
        if fault is None and not isinstance(error, Exception):
            raise
        blamed = raised_by_core(spec, choice.factories, error, fault=fault)
        if blamed is None:
            error.add_note(f"in the run that this repeats: {spec.replay}")
            raise
        result = blamed
    if spec.watch is not None:
        result.violations += spec.watch.rows(spec)
    result.account = no_account  # it holds the whole world, as the next one does
    if not spec.keep_trace:
        result.holdings = list
    return result


def _by_harm(row: ViolationRow) -> tuple[int, bool]:
    """Return how bad a violation is. Among broken rules the one of the user comes first."""
    return severity_of(row.property), not is_own(row.property)


def check_properties(option: str, names: Iterable[str], *links: str) -> None:
    """Raise UserError for a name that is no property of any of the links. option: has the names."""
    for name in names:
        if name in RENAMED:
            raise UserError(f"{option}: {name} is called {RENAMED[name]} now")
        if not any(is_property(name, link) for link in links):
            known = [each for link in links for each in LINKS[link].properties]
            known = list(dict.fromkeys([*known, *OF_EVERY_LINK]))
            hint, listed = suggestion(name, known), ", ".join(known)
            raise UserError(
                f"{option}: found {name!r}, expected a property of {' or '.join(links)}{hint}: "
                f"{listed}"
            )


def is_property(name: str, link: str) -> bool:
    """Return whether a link has a property of that name."""
    return name in LINKS[link].properties or name in OF_EVERY_LINK


def load_world(link: str) -> World:
    """Import the module of a link's world."""
    if link not in WORLDS:
        raise UserError(f"link: found {link!r}, expected one of {', '.join(WORLDS)}")
    return cast("World", import_module(WORLDS[link]))


def _cores(world: World, choice: Choice, watch: Watch | None) -> ProtocolCores:
    """Return the factories of the run's cores, each looked at if someone does."""
    cores = world.CORES(**choice.factories)
    return cores if watch is None else watch.beside(cores, choice.factories)


def _who(choice: Choice, spec: RunSpec) -> str:
    """Return what a line shows of a run in which the process was lost."""
    cores = ", ".join(f"core {slot}={name}" for slot, name in choice.names.items())
    return note(cores, seed=spec.seed, replay=spec.replay)


def _policy(text: str, seed: int) -> TiePolicy:
    try:
        return parse_ties(text, seed)
    except ValueError as error:
        raise UserError(f"--{error}") from error


def _spec(
    *, scenario: Scenario, source: str | None, words: Sequence[str], own: Properties, **rest: Any
) -> RunSpec:
    decides = {name: rest[name] for name in ("seed", "ties", "mutant")}
    decides |= {"cores": rest["chosen"]}
    replay = replay_command(
        scenario.name if source is None else source,
        parameters=rest["parameters"],
        judged=words,
        **decides,
    )
    return RunSpec(
        scenario=scenario,
        run_key=run_key(scenario, **decides, ignore=rest["ignore"], properties=tuple(own)),
        version=version(scenario.world),
        replay=replay,
        wants_account=bool(own),
        **rest,
    )


def _with_violations(result: RunResult, rows: list[ViolationRow]) -> RunResult:
    result.violations = rows
    result.run = replace(result.run, violations=len(rows))
    return result
