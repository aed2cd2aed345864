"""The bases of the faults of a job: of one subtask, at one checkpoint, late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ckptsim.scenarios.dialect import one_of
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import REQUIRED, count, duration_ns, name
from ckptsim.scenarios.job.graph import Vertex, spelled_out

PLAN = "assumption: part of the fault plan"


class JobModel(Protocol):
    """What a fault needs to know of a job."""

    @property
    def vertices(self) -> tuple[Vertex, ...]:
        """Return its vertices."""
        ...


class Symptom(StrEnum):
    """What the others see of a task manager that has failed."""

    CONNECTIONS_BREAK = "connections_break"
    UNREACHABLE = "unreachable"
    SILENT = "silent"


class Fault:
    """The common part of all faults of a job."""

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

    vertex: str = name(REQUIRED, says="vertex concerned", source=PLAN)
    subtask: int = count(0, unit="index", says="subtask concerned, from 0", source=PLAN)

    def problems_in(self, model: JobModel) -> list[Problem]:
        """Return what does not fit the job."""
        found = Fault.problems_in(self, model)
        vertices = spelled_out(model.vertices)
        vertex = next((v for v in vertices if v.name == self.vertex), None)
        if vertex is None:
            found.append(unknown(self.vertex, vertices))
        elif self.subtask >= vertex.parallelism:
            expected = f"less than the parallelism {vertex.parallelism}"
            found.append(Problem("subtask", str(self.subtask), expected))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AtCheckpoint(AtSubtask):
    """A fault of one subtask at one checkpoint."""

    checkpoint: int = count(REQUIRED, minimum=1, says="number of the checkpoint", source=PLAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class LateAtCheckpoint(AtCheckpoint):
    """Something of one subtask at one checkpoint that comes late."""

    delay_ns: int = duration_ns(REQUIRED, says="how much later", source=PLAN)
