"""What faults of a job have in common: whom they strike and when, and whether that can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ckptsim.scenarios.dialect import duration_text, one_of
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import REQUIRED, Planned, count, duration_ns, flag, name, number
from ckptsim.scenarios.job.graph import Vertex, spelled_out
from ckptsim.scenarios.job.graph.planes import Plane
from ckptsim.scenarios.job.restart import NoRestart

# Of a storage, what can be slower.
_SLOWED = (
    *("write_bytes_per_s", "write_host_bytes_per_s", "create_latency_ns", "open_latency_ns"),
    *("read_bytes_per_s", "read_host_bytes_per_s", "read_job_bytes_per_s"),
    *("list_latency_ns", "delete_latency_ns"),
)


class JobModel(Protocol):
    """What a fault needs to know of a job."""

    @property
    def vertices(self) -> tuple[Vertex, ...]:
        """Return its vertices."""
        ...


class Fault(Planned):
    """What all faults of a job have in common."""

    __slots__ = ()

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job: nothing, unless a kind of fault says otherwise."""
        del model
        return []


def unknown(asked: str, vertices: Sequence[Vertex]) -> Problem:
    """Return the problem of a vertex that is not known, with those that are."""
    return Problem("vertex", f'"{asked}"', one_of(asked, [vertex.name for vertex in vertices]))


@dataclass(frozen=True, slots=True, kw_only=True)
class AtSubtask(Fault):
    """A fault of one subtask."""

    vertex: str = name(REQUIRED, says="vertex concerned")
    subtask: int = count(0, unit="index", says="subtask concerned, from 0")

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        return _subtask_problems(self.vertex, self.subtask, model)


def _subtask_problems(name: str, subtask: int, model: JobModel) -> list[Problem]:
    """Return the problems of the name of a vertex and the index of its subtask."""
    vertices = spelled_out(model.vertices)
    vertex = next((v for v in vertices if v.name == name), None)
    if vertex is None:
        return [unknown(name, vertices)]
    if subtask < vertex.parallelism:
        return []
    return [Problem("subtask", str(subtask), f"less than the parallelism {vertex.parallelism}")]


def _at() -> Any:
    return duration_ns(
        None, optional=True, says="instant at which it strikes, from the run's begin"
    )


def _attempt() -> Any:
    return count(
        None,
        optional=True,
        minimum=1,
        unit="attempt",
        says="number of the attempt in which it strikes, instead of an instant",
    )


def _every() -> Any:
    return flag(False, says="it strikes in every attempt")


def _after() -> Any:
    return duration_ns(0, says="how long after the begin of such an attempt it strikes")


class Striking(Protocol):
    """A fault that strikes at an instant of the run, or some time after an attempt begins."""

    @property
    def at_ns(self) -> int | None:
        """Return the instant."""
        ...

    @property
    def attempt(self) -> int | None:
        """Return the attempt."""
        ...

    @property
    def every_attempt(self) -> bool:
        """Return whether it strikes in every one."""
        ...

    @property
    def after_ns(self) -> int:
        """Return how long after its begin."""
        ...


def _instant_problems(fault: Striking, model: JobModel) -> list[Problem]:
    """Return what does not fit together of an instant, or what never ends."""
    relative = fault.every_attempt or fault.attempt is not None
    if fault.at_ns is None and not relative:
        expected = "an instant, or attempt or every_attempt with after"
        return [Problem("at_ns", "nothing", expected)]
    found = []
    if fault.at_ns is not None and (relative or fault.after_ns):
        expected = "nothing, beside attempt, every_attempt or after"
        found.append(Problem("at_ns", duration_text(fault.at_ns), expected))
    if fault.every_attempt and fault.attempt is not None:
        found.append(Problem("attempt", str(fault.attempt), "nothing, beside every_attempt"))
    restart = getattr(model, "restart", None)
    endless = getattr(restart, "attempts", None) is None and not isinstance(restart, NoRestart)
    if fault.every_attempt and endless and getattr(model, "plane", None) is Plane.RECORDS:
        expected = "false, unless restart.attempts ends the job: no clock does on records"
        found.append(Problem("every_attempt", "true", expected))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class StrikesSubtask(AtSubtask):
    """A fault of one subtask that strikes at an instant, or in an attempt."""

    at_ns: int | None = _at()
    attempt: int | None = _attempt()
    every_attempt: bool = _every()
    after_ns: int = _after()

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        return AtSubtask.problems_in(self, model) + _instant_problems(self, model)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrikesJob(Fault):
    """A fault of the whole job that strikes at an instant, or in an attempt."""

    at_ns: int | None = _at()
    attempt: int | None = _attempt()
    every_attempt: bool = _every()
    after_ns: int = _after()

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        return _instant_problems(self, model)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtStorage(Fault):
    """A fault of the checkpoint storage for a time."""

    at_ns: int = duration_ns(REQUIRED, says="instant from which on it lasts")
    lasts_ns: int = duration_ns(REQUIRED, says="how long it lasts")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowStorage(AtStorage):
    """The checkpoint storage is slower for a time."""

    factor: float = number(
        10.0, minimum=1.0, maximum=1e6, says="by which its rates are lower and its latencies longer"
    )

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        storage = getattr(model, "storage", None)
        slows = any(getattr(storage, name, None) for name in _SLOWED)
        if slows or getattr(model, "plane", None) is Plane.RECORDS:
            return []
        return [Problem("factor", str(self.factor), "a rate or latency in job.storage to slow")]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailStorage(AtStorage):
    """The checkpoint storage fails for a time: no file can be written, and reads wait for it."""
