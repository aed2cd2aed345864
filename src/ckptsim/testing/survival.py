"""Put a core under random scenarios, and fail with the story of the smallest that breaks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ckptsim.scenarios import LINKS, Scenario, UserError
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.generators import GENERATORS
from ckptsim.sim.judging import Judging
from ckptsim.sim.own_properties import Function
from ckptsim.sim.rows import ViolationRow
from ckptsim.sim.search import Subject, check, shrink
from ckptsim.sim.search.explore import Corpus, Explored, Explorer, Exploring, explore
from ckptsim.sim.search.explore.ends import RUN_ENDS
from ckptsim.sim.search.folder import keep, slug
from ckptsim.sim.search.hunt import with_harm
from ckptsim.sim.search.shrink import Run
from ckptsim.sim.search.trial import Trial, replay_of
from ckptsim.sim.slots.resolve import only_slot, resolve

RUNS = 200
SHRINKING_RUNS_MAX = 300
OUT = Path("out", "testing")
_TIES = ("random", "pct", "structural")

Core = Callable[..., Any] | str


class CoreConvicted(AssertionError):  # noqa: N818 - named after what is the case
    """A core broke a property. The message has the story and the command that replays it.

    row: the violation. scenario: the smallest one found. folder: what `hunt` would have written.
    """

    def __init__(self, text: str, row: ViolationRow, scenario: Scenario, folder: Path) -> None:
        super().__init__(text)
        self.row = row
        self.scenario = scenario
        self.folder = folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Survived:
    """What a core has survived: so many runs, and the situations that they reached."""

    runs: int
    goals: tuple[str, ...]


def assert_survives(
    core: Core,
    link: str | Scenario,
    *,
    slot: str | None = None,
    ignore: Sequence[str] = (),
    properties: Sequence[Function | str] = (),
    runs: int = RUNS,
    seed: int = 0,
    out: Path | str = OUT,
    like_ours: bool = False,
) -> Survived:
    """Run a core under scenarios, faults and tie orders. Raise CoreConvicted for a violation.

    core: its factory, or the text `package.module:factory` or `process:COMMAND`.  With a text the
    failure has a command that replays it. A factory is named by where it is defined.
    link: a link to draw scenarios of (`ordering`, ...), or one scenario: its name, a TOML file
    or a `Scenario`. Then seeds and tie orders alone are drawn.
    slot: which slot the core takes. Not needed where the link has one.  ignore: properties that it
    does not promise. properties: invariants of yours. Both as of `ckptsim.run`.
    seed: of all that is drawn. The same seed and runs do the same.  out: the folder in which one is
    made that repeats a failure, as `hunt` writes it.
    like_ours: the first difference from our own core is a violation, too.
    Raises UserError for a link, slot or core that does not exist or does not fit.
    """
    __tracebackhide__ = True  # pytest shows the caller's line, and the story
    judging = Judging(ignore=tuple(ignore), properties=tuple(properties), like_ours=like_ours)
    if isinstance(link, Scenario) or link not in LINKS:
        scenario = link if isinstance(link, Scenario) else by_name(link)
        source = None if scenario is link else str(link)
        subject = _subject(core, scenario, slot, source, judging)
        return _checked(subject, runs, seed, Path(out))
    if link not in GENERATORS:
        raise UserError(
            f"link: found {link!r}, which has no drawn scenarios, expected one of "
            f"{', '.join(GENERATORS)}, or a scenario"
        )
    worlds = Explorer(link=link).worlds
    cores = {slot or only_slot(worlds, "slot: found none"): core}
    resolve(*worlds, cores=cores)
    return _explored(Explorer(link=link, cores=cores, judging=judging), runs, seed, Path(out))


def _subject(
    core: Core, scenario: Scenario, slot: str | None, source: str | None, judging: Judging
) -> Subject:
    cores = {slot or only_slot((scenario.world,), "slot: found none"): core}
    resolve(scenario.world, cores=cores)
    return Subject(scenario=scenario, cores=cores, source=source, judging=judging)


def _checked(subject: Subject, runs: int, seed: int, out: Path) -> Survived:
    __tracebackhide__ = True
    report = check(subject, range(seed, seed + runs), ties=_TIES)
    if not report.unexpected:
        return Survived(runs=report.runs, goals=_reached(report.goals))
    found = report.unexpected[0]
    name = next(
        row.property for row in found.violations if row.property not in subject.scenario.violates
    )
    raise _smallest(subject, found, name, out)


def _explored(explorer: Explorer, runs: int, seed: int, out: Path) -> Survived:
    __tracebackhide__ = True
    report = explore(explorer, Exploring(seed=seed, runs=runs), Corpus())
    if not report.violating:
        return Survived(runs=report.runs, goals=_reached(report.goals))
    before: Explored = report.violating[0]
    name = before.trial.violations[0].property
    subject, *_ = explorer.subject(before.choices)
    subject, found, name = with_harm(subject, before.trial, name)
    raise _smallest(subject, found, name, out, run=explorer.trial)


def _smallest(
    subject: Subject, found: Trial, name: str, out: Path, run: Run | None = None
) -> CoreConvicted:
    """Shrink, write the smallest scenario, and return the error about it."""
    most = 0 if name == RUN_ENDS else SHRINKING_RUNS_MAX  # each of its runs takes its seconds
    smallest = shrink(subject, found, property_name=name, trials_max=most, run=run)
    scenario = smallest.scenario
    folder = out / f"{scenario.name}-{slug(name)}"
    subject = replace(subject, scenario=scenario, source=str(folder), parameters="{}")
    seed, ties = smallest.trial.seed, smallest.trial.ties
    try:
        row = keep(folder, subject, seed=seed, ties=ties, name=name)
    except ValueError:  # what only an explorer sees, such as a run that does not end
        row = next(row for row in found.violations if row.property == name)
        row = replace(row, replay=replay_of(subject, seed, ties))
    return CoreConvicted(_text(subject, row), row, scenario, folder)


def _text(subject: Subject, row: ViolationRow) -> str:
    cores = ", ".join(f"{slot}={name}" for slot, name in subject.names.items())
    story = "\n".join(f"  {line}" for line in row.story.splitlines())
    ignored = subject.judging.ignore
    declined = f"\nnot judged: {', '.join(ignored)}" if ignored else ""
    says = f"core {cores} broke {row.property}: {row.says}"
    return f"{says}\n{story}\nreplay: {row.replay}{declined}"


def _reached(goals: dict[str, int]) -> tuple[str, ...]:
    return tuple(name for name, count in goals.items() if count)
