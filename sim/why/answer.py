"""What `why` answers: the cause, the path that led there, and remedies with their effects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ckptsim.scenarios.dialect import duration_text

LINES_MAX = 6
_STEPS_MAX = 3
QUEUE = ("start_delay", "alignment")
"""The phases in which a barrier waits in a queue."""
Place = tuple[str | None, int | None]
JOB: Place = (None, None)
"""The place of what no subtask does: the coordinator, the scheduler."""


def place_text(place: Place) -> str:
    """Return a subtask as `vertex[index]`, the coordinator where it is none."""
    vertex, subtask = place
    if vertex is None:
        return "the coordinator"
    return vertex if subtask is None else f"{vertex}[{subtask}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stretch of a critical path: who spent it in which phase, from when until when.

    place: where it was spent.  blamed: the subtask that it was spent for, which is another one
    where back-pressure comes from there.
    """

    place: Place
    phase: str
    from_ns: int
    until_ns: int
    blamed: Place

    @property
    def duration_ns(self) -> int:
        """Return how long it took."""
        return self.until_ns - self.from_ns

    def document(self) -> dict[str, Any]:
        """Return it as `--json` has it."""
        return {
            "vertex": self.place[0],
            "subtask": self.place[1],
            "phase": self.phase,
            "from_ns": self.from_ns,
            "until_ns": self.until_ns,
            "because_of": None if self.blamed[0] is None else place_text(self.blamed),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Who spent most of the critical path, in which phase. share: of all of it, None if unknown."""

    vertex: str | None
    subtask: int | None
    phase: str
    share: float | None

    @property
    def place(self) -> Place:
        """Return the subtask, or the coordinator."""
        return self.vertex, self.subtask


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """A change that was simulated: what it sets, and how long the same takes with it.

    duration_ns: None where it does not complete with the change either.
    """

    says: str
    change: dict[str, Any]
    duration_ns: int | None

    def __str__(self) -> str:
        return f"{self.says}: {duration(self.duration_ns)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """The answer to one question. cause: None where nothing is known of it.

    happened, because, there: one line each.  path: from the trigger to the end.
    """

    happened: str
    because: str = ""
    there: str = ""
    cause: Cause | None = None
    path: Sequence[Step] = ()
    remedies: Sequence[Remedy] = ()
    note: str = ""

    @property
    def lines(self) -> list[str]:
        """Return at most six lines for people."""
        told = [self.happened, self.because, self.there, _path_line(self.path)]
        if self.remedies:
            told.append("Simulated: " + "; ".join(map(str, self.remedies)) + ".")
        return [line for line in [*told, self.note] if line][:LINES_MAX]

    @property
    def line(self) -> str:
        """What happened and why, in one line."""
        return f"{self.happened} {self.because}".strip()

    def document(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "says": self.lines,
            "cause": None if self.cause is None else asdict(self.cause),
            "path": [step.document() for step in self.path],
            "remedies": [asdict(one) for one in self.remedies],
        }

    def __str__(self) -> str:
        return "\n".join(self.lines)


def duration(time_ns: int | None) -> str:
    """Return a time with three digits, as people read it."""
    if time_ns is None:
        return "fails"
    size = 10 ** max(0, len(str(abs(time_ns))) - 3)
    return duration_text(round(time_ns / size) * size)


def length(steps: Iterable[Step]) -> int:
    """Return how long steps take together, in ns."""
    return sum(step.duration_ns for step in steps)


def merged(steps: Iterable[Step]) -> list[Step]:
    """Return the steps that took time, stretches of one place, phase and blame as one."""
    found: list[Step] = []
    for step in steps:
        if step.duration_ns <= 0:
            continue
        last = found[-1] if found else None
        key = (step.place, step.phase, step.blamed)
        if last is not None and (last.place, last.phase, last.blamed) == key:
            found[-1] = replace(last, until_ns=step.until_ns)
        else:
            found.append(step)
    return found


def _path_line(path: Sequence[Step]) -> str:
    """Return the longest steps of a path, in their order."""
    if len(path) < 2:
        return ""
    shown = sorted(path, key=lambda step: -step.duration_ns)[:_STEPS_MAX]
    texts = [
        f"{place_text(step.place)} {step.phase} {duration(step.duration_ns)}"
        for step in path
        if step in shown
    ]
    rest_ns = sum(step.duration_ns for step in path if step not in shown)
    rest = f"; all else {duration(rest_ns)}" if rest_ns else ""
    return f"Path: {' -> '.join(texts)}{rest}."
