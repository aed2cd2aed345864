"""The two data planes of a job, and what of a scenario only one of them can do.

What cannot mean anything on a plane is refused there, with its place.  Sizes and rates of a real
job are the exception: it keeps them when it is run on records, and a run says that they are unread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from ckptsim.scenarios.dialect import duration_text
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.job.channel_state import ChannelState
from ckptsim.scenarios.job.costs import Costs, Machine, Storage
from ckptsim.scenarios.job.ending import Ending
from ckptsim.scenarios.job.graph.graph import Vertex
from ckptsim.scenarios.job.network import Channels, Network


class Plane(StrEnum):
    """What the unit of data is that moves."""

    RECORDS = "records"
    BUFFERS = "buffers"


class Engine(StrEnum):
    """Which driver of the buffer plane runs a job; all give the same trace."""

    AUTO = "auto"  # compiled where it can be and is worth it, else processes
    COMPILED = "compiled"  # the data plane in tables, advanced by a compiled kernel
    PROCESSES = "processes"  # the reference: record by record in SimPy, slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A key that a plane can do only one value of, and why.

    path: inside a job; `vertices[].KEY` is of every vertex, `vertices[].inputs[].KEY` of every one.
    """

    plane: Plane
    path: str
    value: object
    because: str

    @property
    def only(self) -> str:
        """The value that the plane can do, for people."""
        return _text(self.path, self.value)

    def found(self, job: object, vertices: Sequence[Vertex]) -> Iterator[tuple[str, object]]:
        """Yield every place where the key is, with its value."""
        whole, _, own = self.path.partition("[].")
        if own:
            for index, vertex in enumerate(vertices):
                yield from _values(f"{whole}[{index}]", vertex, own)
            return
        there: Any = job
        for key in self.path.split("."):
            there = getattr(there, key)
        yield self.path, there


def _values(path: str, holder: object, key: str) -> Iterator[tuple[str, object]]:
    """Yield every place of a key in a holder, with its value."""
    whole, _, own = key.partition("[].")
    held: Any = getattr(holder, whole)
    if own:
        for index, item in enumerate(held):
            yield from _values(f"{path}.{whole}[{index}]", item, own)
    else:
        yield f"{path}.{whole}", held


DURATION_NS = 20_000_000_000  # of a run on buffers, unless told otherwise

_MEASURED = (
    "messages, snapshots and restores take what was measured, times `job.machine.cost_factor`"
)
_AS_FLINK = "in-flight data is kept and put back as Apache Flink does, which is what was measured"

# Of `costs` what is done by chance, and what sinks and backends do, is so on both planes.
_ON_BOTH = (
    "notification_jitter_ns",
    "notification_loss_ratio",
    "snapshot_sync_ns",
    "checkpoint_failure_ratio",
    "transaction_timeout_ns",
)


def _defaults(
    plane: Plane, table: str, of: type[Any], because: str, *, but: Sequence[str] = ()
) -> tuple[Limit, ...]:
    """Return a limit for every key of a table: its default is all that the plane can do."""
    plain = of()
    return tuple(
        Limit(
            plane=plane,
            path=f"{table}.{field.name}",
            value=getattr(plain, field.name),
            because=because,
        )
        for field in fields(of)
        if field.name not in but
    )


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
        plane=Plane.RECORDS,
        path="engine",
        value=Engine.AUTO,
        because="only plane `buffers` has several drivers",
    ),
    Limit(
        plane=Plane.BUFFERS,
        path="event_time.watermark_interval_ns",
        value=None,
        because="data have no timestamps there, and a watermark moves nothing that is measured",
    ),
    *_defaults(Plane.BUFFERS, "channel_state", ChannelState, _AS_FLINK),
    *_defaults(Plane.BUFFERS, "costs", Costs, _MEASURED, but=_ON_BOTH),
    *_defaults(
        Plane.BUFFERS,
        "channels",
        Channels,
        "`job.network` says what a channel holds",
        but=("preloaded_records",),
    ),
    Limit(
        plane=Plane.BUFFERS,
        path="checkpointing.message_logs",
        value=True,
        because="all checkpoints are coordinated",
    ),
    Limit(
        plane=Plane.BUFFERS,
        path="ending.horizon_ns",
        value=Ending().horizon_ns,
        because="a run ends at `job.duration`",
    ),
)

# What stays of a job on buffers when it is run on records, where nothing reads it.
UNREAD = (
    *_defaults(Plane.RECORDS, "network", Network, "`job.channels` says what a channel holds"),
    *_defaults(
        Plane.RECORDS,
        "storage",
        Storage,
        "`job.costs` says how long a snapshot takes",
        but=("failure_ratio",),
    ),
    *_defaults(Plane.RECORDS, "machine", Machine, "work takes no processor"),
    *(
        Limit(plane=Plane.RECORDS, path=path, value=value, because=because)
        for because, paths in (
            (
                "records and state have no size",
                {
                    "vertices[].record_bytes": None,
                    "vertices[].record_variation": 0.0,
                    "vertices[].state_bytes": 0,
                    "vertices[].subtask_state_bytes": (),
                    "vertices[].inputs[].record_bytes": None,
                    "vertices[].inputs[].record_variation": None,
                },
            ),
            ("a record has one key throughout", {"vertices[].inputs[].keeps_key": None}),
            (
                "the first records of all subtasks are due together",
                {"vertices[].in_step": False},
            ),
            ("a task reads two inputs and a union alike", {"vertices[].two_input": False}),
            (
                "a run ends with its job, an endless one at `job.ending.horizon`",
                {"duration_ns": DURATION_NS},
            ),
        )
        for path, value in paths.items()
    ),
)


def plane_problems(job: object, vertices: Sequence[Vertex], plane: Plane) -> list[Problem]:
    """Return what a job asks of its plane that the plane cannot do."""
    return [
        Problem(path, _text(path, value), f'{limit.only} on plane "{plane}": {limit.because}')
        for limit, path, value in _set(LIMITS, job, vertices, plane)
    ]


def on_plane(tables: Mapping[str, Any], plane: Plane) -> dict[str, Any]:
    """Return the tables of a job or pipeline, in base units, without the keys its plane refuses."""
    refused = {limit.path for limit in LIMITS if limit.plane is plane}
    return {
        name: {key: value for key, value in table.items() if f"{name}.{key}" not in refused}
        if isinstance(table, Mapping)
        else table
        for name, table in tables.items()
    }


def unread(job: object, vertices: Sequence[Vertex], plane: Plane) -> dict[str, str]:
    """Return the keys of a job that its plane does not read, each with the reason."""
    return {path: limit.because for limit, path, _ in _set(UNREAD, job, vertices, plane)}


def _set(
    limits: Sequence[Limit], job: object, vertices: Sequence[Vertex], plane: Plane
) -> Iterator[tuple[Limit, str, object]]:
    for limit in limits:
        for path, value in limit.found(job, vertices) if limit.plane is plane else ():
            if value != limit.value:
                yield limit, path, value


def _text(path: str, value: object) -> str:
    if value is None or value == ():
        return "nothing"
    if path.endswith("_ns") and isinstance(value, int):
        return duration_text(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
