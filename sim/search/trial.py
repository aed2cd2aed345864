"""One trial: a scenario, a seed and a tie policy, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from traceback import extract_tb

from ckptsim.scenarios import Scenario, UserError
from ckptsim.sim.identity import replay_command
from ckptsim.sim.kernel import TiePolicy
from ckptsim.sim.plugins import load_factory
from ckptsim.sim.rows import RunResult, ViolationRow
from ckptsim.sim.story import Target, shortened, tell
from ckptsim.sim.world import load_world, run_world

# The property that is violated when the core under test raises what no core may raise.
CORE_RAISED = "the_core_raises_protocol_errors_only"
_OUTCOME_RAISED = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is tried: a scenario with a core.

    core: `package.module:factory` of a core to run instead of ours; mutant: a mutant of ours.
    source, parameters: how a command line gets this scenario again, see `run_world`.
    """

    scenario: Scenario
    core: str | None = None
    mutant: str | None = None
    source: str | None = None
    parameters: str = "{}"

    def run(self, seed: int, ties: str | TiePolicy, *, keep_trace: bool = False) -> RunResult:
        """Run the scenario once."""
        return run_world(
            self.scenario,
            seed=seed,
            ties=ties,
            keep_trace=keep_trace,
            core=load_factory(self.core) if self.core else None,
            mutant=self.mutant,
            parameters=self.parameters,
            source=self.source,
            core_text=self.core,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of one run; small enough to travel between processes."""

    seed: int
    ties: str
    outcome: str
    digest: str
    events: int
    goals: dict[str, int] = field(default_factory=dict)
    violations: tuple[ViolationRow, ...] = ()


def trial(subject: Subject, seed: int, ties: str | TiePolicy) -> Trial:
    """Run once and return what came of it.

    An exception out of a core that is not ours is a violation of that core's duty; one out of our
    own program is passed on with the command that repeats it.
    """
    text = ties if isinstance(ties, str) else ties.name
    try:
        result = subject.run(seed, ties)
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001 - a core that is not ours may raise anything
        row = blame(subject, error, seed=seed, ties=text)
        return Trial(
            seed=seed, ties=text, outcome=_OUTCOME_RAISED, digest="", events=0, violations=(row,)
        )
    return Trial(
        seed=seed,
        ties=text,
        outcome=result.run.outcome,
        digest=result.run.digest,
        events=result.run.events,
        goals=result.goals,
        violations=tuple(result.violations),
    )


def with_story(subject: Subject, found: Trial) -> Trial:
    """Run a violating trial again with its trace kept, and put the stories into its violations."""
    if not found.violations or all(row.story for row in found.violations):
        return found
    result = subject.run(found.seed, found.ties, keep_trace=True)
    return replace(found, violations=tuple(stories(subject.scenario.link, result)))


def stories(link: str, result: RunResult) -> list[ViolationRow]:
    """Return the violations of a run whose trace was kept, each with its story."""
    vocabulary = load_world(link).VOCABULARY
    told: list[ViolationRow] = []
    for row in result.violations:
        if not row.story:
            target = None if row.index is None else Target(row.index, row.scope)
            lines = tell(result.trace, vocabulary, target=target, until_ns=row.at_ns)
            row = replace(row, story="\n".join(shortened(lines)))  # noqa: PLW2901
        told.append(row)
    return told


def blame(subject: Subject, error: Exception, *, seed: int, ties: str) -> ViolationRow:
    """Return the violation of a core that is not ours and raised what no core may raise.

    Raises the error again, with the command that repeats it, when the core is ours.
    """
    replay = replay_of(subject, seed, ties)
    if subject.core is None and subject.mutant is None:
        error.add_note(f"in the run that this repeats: {replay}")
        raise error
    return ViolationRow(
        run_key="",
        property=CORE_RAISED,
        at_ns=0,
        says=f"{subject.core or subject.mutant} raised {type(error).__name__}: {error}",
        story=_where(error),
        replay=replay,
    )


def replay_of(subject: Subject, seed: int, ties: str) -> str:
    """Return the command that tells the story of a run of the subject."""
    return replay_command(
        subject.source or subject.scenario.name,
        seed=seed,
        ties=ties,
        core=subject.core,
        mutant=subject.mutant,
        parameters=subject.parameters,
    )


def _where(error: Exception) -> str:
    """Return the last places of an exception's way, oldest first."""
    frames = extract_tb(error.__traceback__)[-4:]
    return "\n".join(f"{frame.name}, line {frame.lineno}: {frame.line}" for frame in frames)
