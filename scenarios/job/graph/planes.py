"""The two data planes of a job, and what of a scenario only one of them can do.

What is a mere cost or size on one plane is left unread on the other.  What would change the course
of a protocol acts on both, or is refused where it cannot mean anything, rather than ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.job.channel_state import ChannelState
from ckptsim.scenarios.job.graph.graph import Vertex


class Plane(StrEnum):
    """What the unit of data is that moves."""

    RECORDS = "records"
    BUFFERS = "buffers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A key that a plane can do only one value of, and why.

    path: inside a job; `vertices[].KEY` is of every vertex.
    """

    plane: Plane
    path: str
    value: object
    because: str

    def found(self, job: object, vertices: Sequence[Vertex]) -> Iterator[tuple[str, object]]:
        """Yield every place where the key is, with its value."""
        whole, _, own = self.path.partition("[].")
        if own:
            for index, vertex in enumerate(vertices):
                yield f"{whole}[{index}].{own}", getattr(vertex, own)
            return
        there: Any = job
        for key in self.path.split("."):
            there = getattr(there, key)
        yield self.path, there


_AS_FLINK = "in-flight data is kept and put back as Apache Flink does, which is what was measured"

LIMITS = (
    Limit(
        plane=Plane.RECORDS,
        path="vertices[].selectivity",
        value=1.0,
        because="a record goes on under the identity that its source gave it",
    ),
    Limit(
        plane=Plane.RECORDS,
        path="vertices[].service_variation",
        value=0.0,
        because="nothing comes in buffers there, from one to the next of which it would vary",
    ),
    Limit(
        plane=Plane.RECORDS,
        path="vertices[].rate_changes",
        value=(),
        because="a source keeps the pace that it was given",
    ),
    Limit(
        plane=Plane.RECORDS,
        path="recovery.timed",
        value=False,
        because="its costs are few and may be zero, and what a restore takes is one of them",
    ),
    Limit(
        plane=Plane.RECORDS,
        path="vertices[].replayable",
        value=True,
        because="its sources drop nothing",
    ),
    Limit(
        plane=Plane.BUFFERS,
        path="event_time.watermark_interval_ns",
        value=None,
        because="data have no timestamps there, and a watermark moves nothing that is measured",
    ),
    *(
        Limit(
            plane=Plane.BUFFERS,
            path=f"channel_state.{field.name}",
            value=getattr(ChannelState(), field.name),
            because=_AS_FLINK,
        )
        for field in fields(ChannelState)
    ),
)


def plane_problems(job: object, vertices: Sequence[Vertex], plane: Plane) -> list[Problem]:
    """Return what a job asks of its plane that the plane cannot do."""
    return [
        Problem(path, str(value), f'{limit.value} on plane "{plane}": {limit.because}')
        for limit in LIMITS
        if limit.plane is plane
        for path, value in limit.found(job, vertices)
        if value != limit.value
    ]
