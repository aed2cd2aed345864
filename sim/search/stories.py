"""The story of a violation: from the last good point, along causes, to what does not hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ckptsim.scenarios import ScenarioError, UserError
from ckptsim.scenarios.dialect import exact_text
from ckptsim.scenarios.files import document
from ckptsim.sim.kernel import Entry
from ckptsim.sim.rows import RunResult, ViolationRow
from ckptsim.sim.search.trial import Subject, Trial
from ckptsim.sim.story import Target, Vocabulary, concerning, instant_us, tell, time_of
from ckptsim.sim.story.causes import causes
from ckptsim.sim.world import load_world

if TYPE_CHECKING:
    from ckptsim.sim.rules.ours import LikeOurs

# A run of more events gets no run beside it (an assumption: it would take minutes).
EVENTS_MAX = 200_000
_FAULTS_MAX = 4
_SEEDS = (1, 2, 3)
_OURS = "with our core in slot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """A run that holds the property: its trace, the differences, and `common` first entries."""

    differs: str
    trace: Sequence[Entry]
    common: int


def nearest(
    subject: Subject, result: RunResult, name: str, tried: dict[str, RunResult] | None = None
) -> Nearest | None:
    """Return the nearest run that holds a property, or None when none of those tried does.

    result: of a run of the subject that breaks it, with its trace.  tried: the runs that were made
    for another property of the same run, by everything that is other in them. Gets those that are
    made.
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
        if other.is_ours and differs.startswith(_OURS):
            break  # the one difference that is asked for
    return best


def slots_taken(subject: Subject) -> list[str]:
    """Return the slots in which no core of ours is."""
    found = list(subject.names)
    if subject.mutant is not None:
        from ckptsim.sim.mutants.registry import find_mutant  # noqa: PLC0415 - brings all worlds

        found.append(find_mutant((subject.scenario.world,), subject.mutant).slot)
    return found


def _others(subject: Subject, result: RunResult) -> Iterator[tuple[str, Subject, int, str]]:
    seed, ties = result.run.seed, result.run.ties
    if not subject.is_ours:
        yield f"{_OURS} {', '.join(slots_taken(subject))}", subject.with_ours, seed, ties
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
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


LAST_GOOD, THEN_HERE = "last good point", "then here"
_BEFORE = 6  # lines before the last good point
_LINES_MAX = 24
_EVENTS_KEPT = 20_000
_PLACE = re.compile(r"\b([A-Za-z_][\w.]*)/(\d+)\b")


def with_story(subject: Subject, found: Trial, *, beside: bool = True) -> Trial:
    """Run a violating trial again with its trace, and put the stories into its violations."""
    if not found.violations:
        return found
    result = subject.run(found.seed, found.ties, keep_trace=True)
    if not result.violations:  # what only a search sees
        return found
    return replace(found, violations=tuple(stories(subject, result, beside=beside)))


def stories(subject: Subject, result: RunResult, *, beside: bool = True) -> list[ViolationRow]:
    """Return the violations of a run with its trace, each with its story."""
    vocabulary = load_world(subject.scenario.world).VOCABULARY
    hints = _hints(subject, result)
    told: list[ViolationRow] = []
    tried: dict[str, RunResult] = {}
    for row in result.violations:
        other = nearest(subject, result, row.property, tried) if beside else None
        # Traces are large: of a long run the first violation alone is reported beside another run.
        beside = beside and result.run.events <= _EVENTS_KEPT
        lines = _story(result.trace, vocabulary, row, other)
        head = _head(subject, row)
        if hints is not None:
            head += hints.hints(row)
        told.append(replace(row, story="\n".join([*head, *lines])))
    return told


def _hints(subject: Subject, result: RunResult) -> LikeOurs | None:
    """Run once more with our cores beside those that are not. None where all cores are ours."""
    if subject.is_ours or not result.violations:
        return None
    from ckptsim.sim.rules import ours  # noqa: PLC0415 - runs of our cores need none

    hints = ours.LikeOurs(result.run.seed, judges=False)
    alone = replace(subject, watches=(), judging=replace(subject.judging, like_ours=False))
    alone.run(result.run.seed, result.run.ties, watch=hints)
    return hints


def _head(subject: Subject, row: ViolationRow) -> list[str]:
    about = [] if row.index is None else [f"about {row.scope or 'checkpoint'}/{row.index}"]
    ran = [f"core {slot}={name}" for slot, name in subject.names.items()]
    if subject.mutant is not None:
        ran.append(f"mutant {subject.mutant} in slot {slots_taken(subject)[-1]}")
    with_whom = f"with {', '.join(ran)}" if ran else "with our cores"
    return [", ".join([*about, with_whom])]


def _story(
    trace: Sequence[Entry], vocabulary: Vocabulary, row: ViolationRow, other: Nearest | None
) -> list[str]:
    last = _last(trace, row)
    told = row.story.splitlines()
    if last is None:
        return told
    target = None if row.index is None else Target(row.index, row.scope)
    if other is None or other.common > last:
        if target is None:  # all that led to it, or else the whole run would be the story
            led = causes(trace, vocabulary, [last, *_named(trace, last, row)])
            entries = [trace[at] for at in led]
        else:
            entries = _about(trace[: last + 1], vocabulary, target)
        return _cut(_merged(_lines(entries, vocabulary), told))
    first = other.common
    before = _about(trace[:first], vocabulary, target)
    # The first one is on its own, beside what the other run does.
    positions = causes(trace, vocabulary, [last, *_named(trace, last, row)], first=first + 1)
    mine = [] if target is None else _about(trace[first + 1 : last], vocabulary, target)
    kept = dict.fromkeys([*(trace[at] for at in positions), *mine, trace[last]])
    entries = [entry for entry in trace[first + 1 : last + 1] if entry in kept]
    time = exact_text(time_of(trace[first - 1])) if first else "the start"
    good = f"{LAST_GOOD}: {first} entries, up to {time}, are the same {other.differs}"
    sides = [
        f"{THEN_HERE}:  {_side(trace, first, vocabulary)}",
        f"{other.differs}:  {_side(other.trace, first, vocabulary)}",
    ]
    early = _until(told, trace, first)
    context = _merged(_lines(before, vocabulary), early)
    late = [line for line in told if line not in early]
    rest = _merged(_lines(entries, vocabulary), late)
    return [*context[-_BEFORE:], good, *sides, *_cut(rest)]


def _last(trace: Sequence[Entry], row: ViolationRow) -> int | None:
    """Return the position of the entry at which the property does not hold any more."""
    position = None
    for at, entry in enumerate(trace):
        if time_of(entry) > row.at_ns:
            break
        position = at
        if row.property in entry[3:]:
            return at
    return position


def _named(trace: Sequence[Entry], last: int, row: ViolationRow) -> list[int]:
    """Return the positions of what led to a violation, which is an entry of the oracle's."""
    names = {f"{name}[{index}]" for name, index in _PLACE.findall(row.says)}
    found = [last - 1] if last and time_of(trace[last - 1]) == time_of(trace[last]) else []
    for at in range(last - 1, -1, -1):
        entity = str(trace[at][2]).rpartition(" ")[2]
        if entity in names:
            names.remove(entity)
            found.append(at)
    return found


def _about(entries: Sequence[Entry], vocabulary: Vocabulary, target: Target | None) -> list[Entry]:
    return list(entries) if target is None else list(concerning(entries, vocabulary, target))


def _lines(entries: Sequence[Entry], vocabulary: Vocabulary) -> list[str]:
    return [str(line) for line in tell(entries, vocabulary)]


def _side(trace: Sequence[Entry], at: int, vocabulary: Vocabulary) -> str:
    return _lines(trace[at : at + 1], vocabulary)[0].strip() if at < len(trace) else "it has ended"


def _merged(lines: list[str], told: list[str]) -> list[str]:
    """Put lines that the world shows among the ones of the trace, by their times."""
    timed = [(instant_us(line), number, line) for number, line in enumerate([*told, *lines])]
    return [line for _, _, line in sorted(timed)]


def _until(told: list[str], trace: Sequence[Entry], first: int) -> list[str]:
    """Return the world's lines of instants before the one at which two runs part."""
    until_us = time_of(trace[first]) // 1_000
    return [line for line in told if instant_us(line) < until_us]


def _cut(lines: list[str]) -> list[str]:
    if len(lines) <= _LINES_MAX:
        return lines
    head = _LINES_MAX // 3
    tail = _LINES_MAX - head - 1
    left_out = len(lines) - head - tail
    return [*lines[:head], f"{'':>14}  ({left_out} lines left out)", *lines[-tail:]]
