"""One run of exploring: from a list of choices to a scenario, its trial, and what it reached."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from traceback import extract_tb
from typing import Any

from ckptsim import models
from ckptsim.scenarios import Scenario, UserError
from ckptsim.scenarios.catalogue import all_names, all_scenarios
from ckptsim.scenarios.generators import COMPLETE, GENERATORS, Choices
from ckptsim.scenarios.generators.choices import lowest
from ckptsim.scenarios.generators.options import SITUATIONS, has
from ckptsim.scenarios.generators.varying import around
from ckptsim.scenarios.severity import ENDS
from ckptsim.scenarios.sync import Outcome, SyncModel
from ckptsim.sim.blame import CORE_RAISED, OUTCOME_RAISED
from ckptsim.sim.judging import AS_USUAL, Judging
from ckptsim.sim.kernel import Environment
from ckptsim.sim.limits import TooLongError, limited_cpu
from ckptsim.sim.rows import RunResult, ViolationRow
from ckptsim.sim.rules.beside import HostDuties
from ckptsim.sim.search.explore.ends import RUN_ENDS, end_row, judged, steps_of
from ckptsim.sim.search.trial import Subject, Trial, trial_of
from ckptsim.sim.slots import Factory, slots_of
from ckptsim.sim.slots.guest import core_seconds

TIES = ("structural", "random", "pct", "pct:1", "pct:5")
SURVIVES = "the_scenario_completes"
# Seconds of processor time after which a run is taken for one that never ends. An assumption: some
# eight times what the longest drawn ones take.
RUN_SECONDS_MAX = 12
# Of how many runs of a link one begins with a scenario of the library instead of a drawn one. An
# assumption.  Someone has thought of these situations, which draws seldom meet.
LIBRARY_EVERY = 2
# After so many steps a run around a scenario of the library is cut short. An assumption: none of
# them takes more by itself.
_STEPS_MAX = 50_000
# A sync of more records stays as it is: with packets of one record it takes minutes.
_CHANGED_RECORDS_MAX = 10_000
# Links that run the scenarios of another link as well.
_SHARED: Mapping[str, tuple[str, ...]] = {"barriers": ("barriers", "barrier_protocol")}


# Links with drawn scenarios for several worlds, which need not have the same slots.
_WORLDS: Mapping[str, tuple[str, ...]] = {
    "barriers": ("barriers", "barrier_protocol"),
    "final_checkpoint": ("final_checkpoint", "barriers"),
}


# Everything that is made once for all runs of a process.
_around = lru_cache(maxsize=400)(around)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """What came of one run.

    choices: the list that decides it, tie policy and seed first. hazards: what it broke of what its
    scenario says that it may break, which is no part of the trial's violations. listed: the same of
    a scenario of the library. reached: everything that it reached.
    """

    number: int
    choices: tuple[int, ...]
    trial: Trial
    reached: tuple[str, ...]
    hazards: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """The explored subject: the random scenarios of a link, run with these cores.

    cores, mutant, judging: as of `Subject`. A run in a world without their slots has ours.  Hosts
    are judged by their duties.  scenario: around which one scenarios are drawn, instead of any.
    Raises UserError for a link that has no generator.
    """

    link: str
    cores: Mapping[str, Factory | str] = field(default_factory=dict)
    mutant: str | None = None
    judging: Judging = AS_USUAL
    scenario: Scenario | None = None

    @property
    def name(self) -> str:
        """Return the explored subject, as files are named after it."""
        return self.link if self.scenario is None else self.scenario.name

    @property
    def worlds(self) -> tuple[str, ...]:
        """Return the links that carry the runs out."""
        if self.scenario is not None:
            return (self.scenario.world,)
        return _WORLDS.get(self.link, (self.link,))

    def __post_init__(self) -> None:
        if self.scenario is None and self.link not in GENERATORS:
            raise UserError(
                f"--explore: found {self.link!r}, expected one of {', '.join(GENERATORS)}"
            )

    @property
    def _situations(self) -> tuple[str, ...]:
        mutants = [_slot_of(world, self.mutant) for world in self.worlds if self.mutant]
        slots = dict.fromkeys((*self.cores, *mutants))
        return tuple(slot for slot in SITUATIONS if slot in slots)

    def subject(
        self, given: Sequence[int], more: Callable[[int, int], int] = lowest
    ) -> tuple[Subject, int, str, tuple[int, ...]]:
        """Return what a list of choices means: a subject, a seed, a tie policy, the whole list."""
        choices = Choices(given, more, self._situations)
        # The order of the first choices is known to `evenly`, which gives their values turns.
        ties = choices.of(TIES)
        seed = choices.integer(0, 999_999)
        cut_after = None
        if self.scenario is not None:
            scenario: Scenario = _around(self.scenario)(choices)
            cut_after = steps_of(self.scenario)
        elif choices.integer(1, LIBRARY_EVERY) < LIBRARY_EVERY:
            scenario = GENERATORS[self.link](choices)
        else:
            scenario = choices.of(_shelf(self.link, self._situations))
            if not scenario.violates and not _is_large(scenario) and choices.integer(0, 3) > 0:
                scenario, cut_after = _around(scenario)(choices), _STEPS_MAX
        there = {slot.name for slot in slots_of(scenario.world)}
        missing = self.mutant is not None and _slot_of(scenario.world, self.mutant) is None
        subject = Subject(
            scenario=scenario,
            cores={slot: core for slot, core in self.cores.items() if slot in there},
            mutant=None if missing else self.mutant,
            judging=self.judging,
            watches=(HostDuties,),
            cut_after=cut_after,
        )
        return subject, seed, ties, tuple(choices.taken)

    def run(
        self, number: int, given: Sequence[int], more: Callable[[int, int], int] = lowest
    ) -> Explored:
        """Run what a list of choices means."""
        subject, seed, ties, taken = self.subject(given, more)
        reached: list[str] = []
        found = self.judged(subject, _trial(subject, seed, ties, reached))
        of_library = subject.scenario.name in all_names()
        violates = subject.scenario.violates
        if found.violations and self.scenario is not None and self.scenario.violates:
            violates = (*violates, *_of_the_design(found, subject))
        expected, violations = _apart(found.violations, violates)
        return Explored(
            number=number,
            choices=taken,
            trial=replace(found, violations=violations),
            reached=tuple(reached),
            hazards=() if of_library else expected,
            listed=expected if of_library else (),
        )

    def trial(self, subject: Subject, seed: int, ties: str, _steps_max: int | None) -> Trial:
        """Run a subject, such as a smaller one than was drawn, and judge it as exploring does."""
        return self.judged(subject, _trial(subject, seed, ties, []))

    def judged(self, subject: Subject, found: Trial) -> Trial:
        """Return a trial with what exploring alone judges: that a run ends, and ends well."""
        if subject.cut_after is not None:
            return judged(subject, found, lambda other: _trial(other, found.seed, found.ties, []))
        declined = {SURVIVES, *ENDS}.intersection(self.judging.ignore)
        of_library = subject.scenario.name in all_names()
        if self.scenario is not None or of_library or self.link not in COMPLETE or declined:
            return found
        return _completed(found, either_way=_ends_either_way(subject, found))


def _slot_of(world: str, name: str) -> str | None:
    """Return the slot that a mutant takes, None where a world does not have it."""
    from ckptsim.sim.mutants.registry import mutants_of  # noqa: PLC0415 - brings all worlds

    found = mutants_of(world).get(name)
    return None if found is None else found.slot


@cache
def _shelf(link: str, wanted: tuple[str, ...]) -> tuple[Scenario, ...]:
    """Return the library's scenarios of a link's worlds, anti-patterns among them, by name."""
    links = _SHARED.get(link, (link,))
    shelf = tuple(each for each in all_scenarios() if each.link in links)
    return tuple(each for each in shelf if has(each, wanted)) or shelf


def _is_large(scenario: Scenario) -> bool:
    model: Any = scenario.model
    records: int = sum(stream.records for stream in getattr(model, "streams", ()))
    return records > _CHANGED_RECORDS_MAX


def _of_the_design(found: Trial, subject: Subject) -> tuple[str, ...]:
    """Return what our own cores break in the same run of what lies around an anti-pattern."""
    if not subject.is_ours:
        found = _trial(subject.with_ours, found.seed, found.ties, [])
    names = dict.fromkeys(row.property for row in found.violations)
    return tuple(name for name in names if name not in (CORE_RAISED, RUN_ENDS))


def _apart(
    rows: Sequence[ViolationRow], violates: Sequence[str]
) -> tuple[tuple[str, ...], tuple[ViolationRow, ...]]:
    hazards: list[str] = []
    others: list[ViolationRow] = []
    for row in rows:
        text = f"{row.property}: {row.says}"
        found = [name for name in violates if f"{name}:" in text]
        hazards += found
        if not found:
            others.append(row)
    return tuple(dict.fromkeys(hazards)), tuple(others)


def _trial(subject: Subject, seed: int, ties: str, reached: list[str]) -> Trial:
    """Run once. Whatever comes out of it that is not a result is a violation, too."""
    began: list[Environment] = []
    # A core that does not come back is notified of before the run that does not end.
    seconds = RUN_SECONDS_MAX + (core_seconds() if subject.cores else 0)
    try:
        with limited_cpu(seconds):
            result = subject.run(seed, ties, keep_trace=True, began=began.append)
    except UserError:
        raise
    except TooLongError:
        says = f"the run has not ended after {seconds:g} s of work"
        return _ended(seed, ties, end_row(says))
    except Exception as error:  # noqa: BLE001 - what a core raises is what is looked for
        return _ended(seed, ties, _row(CORE_RAISED, _raised(error)))
    reached += dict.fromkeys(features(result))
    return trial_of(result, ties, began)


def _ends_either_way(subject: Subject, found: Trial) -> bool:
    """Return whether a sync may also be aborted, as where states may keep the memory."""
    model = subject.scenario.model
    held_back = "every_state_is_released" in subject.judging.ignore and found.goals.get("silence")
    return isinstance(model, SyncModel) and (model.outcome is Outcome.ANY or bool(held_back))


def _completed(found: Trial, *, either_way: bool) -> Trial:
    """Return a trial in which it is a violation that the run has not completed.

    Nor may an attempt of a sync fail in which nothing has struck, although a later one makes up for
    it: what hangs once is no less wrong.
    """
    if found.violations:
        return found
    if found.outcome != "completed" and not either_way:
        return replace(found, violations=(_row(SURVIVES, f"the run {found.outcome}"),))
    if found.goals.get("attempt_failed_undisturbed"):
        says = "an attempt failed in which no fault had struck"
        return replace(found, violations=(_row(SURVIVES, says),))
    return found


def _ended(seed: int, ties: str, row: ViolationRow) -> Trial:
    return Trial(
        seed=seed, ties=ties, outcome=OUTCOME_RAISED, digest="", events=0, violations=(row,)
    )


def _row(name: str, says: str, *, at_ns: int = 0) -> ViolationRow:
    return ViolationRow(run_key="", property=name, at_ns=at_ns, says=says, story="", replay="")


def _raised(error: Exception) -> str:
    """Describe the exception and its core. Where none was on the way, in which module."""
    root = str(Path(models.__file__).parent.resolve())
    frames = extract_tb(error.__traceback__)
    inside = [each for each in frames if str(Path(each.filename).resolve()).startswith(root)]
    last = (inside or list(frames))[-1]
    path = Path(last.filename).resolve()
    where = f"core {path.relative_to(root)}" if inside else path.name
    text = f"{type(error).__name__}: {error}".replace("\n", " ")
    return f"{where}, line {last.lineno}, raised {text}"


_NUMBERS = re.compile(r"\d+")
# Goals count as reached anew at these numbers of times (an assumption: as fuzzers bucket counts).
_BUCKETS = (1, 2, 4, 8, 16, 64)


def features(result: RunResult) -> Iterator[str]:
    """Yield the situations of a run with its trace: goals, and which event follows which."""
    yield f"outcome {result.run.outcome}"
    for name, count in result.goals.items():
        for bucket in _BUCKETS:
            if count >= bucket:
                yield f"goal {name} {bucket}"
    last: dict[str, str] = {}
    for entry in result.trace:
        kind, entity = str(entry[1]), str(entry[2])
        yield f"{_NUMBERS.sub('#', entity)}: {last.get(entity, 'begin')} > {kind}"
        last[entity] = kind
