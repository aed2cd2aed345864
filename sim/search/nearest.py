"""The nearest run that holds a property, and where a run that breaks it departs from it.

A run beside it tells more than the run alone: all that both have in common is innocent.  With a
core that is not ours the nearest run is that with ours; else it is the one, of a few that
differ in one thing, that stays the same longest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ckptsim.scenarios import ScenarioError, UserError
from ckptsim.scenarios.files import document
from ckptsim.sim.kernel import Entry
from ckptsim.sim.rows import RunResult
from ckptsim.sim.search.trial import Subject

# A run of more events gets no run beside it (an assumption: it would take minutes).
EVENTS_MAX = 200_000
_FAULTS_MAX = 4
_SEEDS = (1, 2, 3)
_OURS = "with our core in slot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """A run that holds the property: what is other in it, its trace, and where both part.

    common: how many entries at the beginning are the same.
    """

    differs: str
    trace: Sequence[Entry]
    common: int


def nearest(
    subject: Subject, result: RunResult, name: str, tried: dict[str, RunResult] | None = None
) -> Nearest | None:
    """Return the nearest run that holds a property, or None when none of those tried does.

    result: of a run of the subject that breaks it, with its trace.  tried: the runs that were made
    for another property of the same run, by what is other in them; gets those that are made.
    """
    if result.run.events > EVENTS_MAX or not result.trace:
        return None
    tried = {} if tried is None else tried
    best: Nearest | None = None
    for differs, other, seed, ties in _others(subject, result):
        try:
            found = tried.get(differs) or other.run(seed, ties, keep_trace=True)
        except (UserError, ScenarioError):
            continue
        tried[differs] = found
        if any(row.property == name for row in found.violations) or not found.trace:
            continue
        common = _common(result.trace, found.trace)
        if best is None or common > best.common:
            best = Nearest(differs=differs, trace=found.trace, common=common)
        if other.mutant is None and not other.cores and differs.startswith(_OURS):
            break  # the one difference that is asked for
    return best


def slots_taken(subject: Subject) -> list[str]:
    """Return the slots in which no core of ours stands."""
    found = list(subject.names)
    if subject.mutant is not None:
        from ckptsim.sim.mutants.registry import find_mutant  # noqa: PLC0415 - brings all worlds

        found.append(find_mutant((subject.scenario.world,), subject.mutant).slot)
    return found


def _others(subject: Subject, result: RunResult) -> Iterator[tuple[str, Subject, int, str]]:
    seed, ties = result.run.seed, result.run.ties
    if subject.cores or subject.mutant is not None:
        slots = ", ".join(slots_taken(subject))
        yield f"{_OURS} {slots}", replace(subject, cores={}, mutant=None), seed, ties
    faults = subject.scenario.faults
    for at in range(min(len(faults), _FAULTS_MAX)):
        scenario = replace(subject.scenario, faults=faults[:at] + faults[at + 1 :])
        kind = document.plain(subject.scenario)["faults"][at]["kind"]  # type: ignore[index]
        yield f"without fault {kind}", replace(subject, scenario=scenario), seed, ties
    if ties != "structural":
        yield "with ties in structural order", subject, seed, "structural"
    for other in _SEEDS:
        if other != seed:
            yield f"with seed {other}", subject, other, ties


def _common(first: Sequence[Entry], second: Sequence[Entry]) -> int:
    """Return how many entries two traces have in common at their beginning."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
