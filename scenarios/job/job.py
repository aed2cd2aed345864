"""A job of a stream processor, as all links with a job know it.

A job is a graph of vertices with subtasks.  What moves between them is single records or network
buffers, its data plane: on records every record has an identity and costs are few and may be zero,
which is what protocols are hunted on. On buffers times are calibrated, which is what predictions
are made with.  One job runs on either plane as far as `planes` has no objection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Protocol

from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import REQUIRED, choice, duration_ns, many, nested, one_of
from ckptsim.scenarios.job.channel_state import ChannelState
from ckptsim.scenarios.job.checkpointing import Checkpointing
from ckptsim.scenarios.job.costs import Costs, Machine, Profile, Storage
from ckptsim.scenarios.job.ending import Ending
from ckptsim.scenarios.job.event_time import EventTime
from ckptsim.scenarios.job.graph import Edge, Vertex, VertexKind, edges_of, spelled_out
from ckptsim.scenarios.job.graph.planes import DURATION_NS, Engine, Plane, Skip
from ckptsim.scenarios.job.graph.problems import graph_problems
from ckptsim.scenarios.job.graph.state import StateTable
from ckptsim.scenarios.job.names import GOALS, PROPERTIES
from ckptsim.scenarios.job.network import Channels, Network
from ckptsim.scenarios.job.recovery import Recovery
from ckptsim.scenarios.job.restart import RESTART_STRATEGIES, FixedDelay, RestartStrategy
from ckptsim.scenarios.job.uncoordinated import uncoordinated_problems
from ckptsim.scenarios.limits import limit_problems, not_on_records

_JOB = "assumption: part of the job"
_CHOICE = "assumption: a choice of the user"


# The links with one plane each.
ON_BUFFERS, ON_RECORDS = "barriers", "barrier_protocol"


class Named(Protocol):
    """What the job has to know of its scenario."""

    @property
    def goals(self) -> tuple[str, ...]:
        """Return the situations that it must reach."""

    @property
    def violates(self) -> tuple[str, ...]:
        """Return the properties that it must break."""


class PlacementKind(StrEnum):
    """Which subtasks share a task manager."""

    REMOTE = "remote"  # none
    LOCAL = "local"  # all
    MIXED = "mixed"  # the ones of equal index
    MAP = "map"  # the vertices that say so, in `task_managers`


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job: its graph, what carries its records, its checkpoints, its costs and its end."""

    SOURCE = _JOB

    plane: Plane = choice("records", Plane, says="what moves between subtasks", source=_CHOICE)
    engine: Engine = choice(
        "auto",
        Engine,
        says="the driver of the buffer plane",
        source="assumption: the fastest one that can run the job",
        limits=not_on_records('only plane "buffers" has several drivers'),
    )
    skip: Skip = choice(
        "auto",
        Skip,
        says="whether time in which the job repeats itself is passed over: auto does so in a run"
        " that moves 20 million buffers or more",
        source="assumption: figures move by less than 1 % (`make bench`)",
        limits=not_on_records('only plane "buffers" repeats itself'),
    )
    profile: Profile = choice(
        "plain",
        Profile,
        says="profile of constants: plain has no quirks, one processor per slot, limits to the "
        "byte, deletes in the background; rig is the machine of the oldest measurements, with "
        "two cores, a throttle with steps and deletes that triggers wait for",
        source="Source: measurements of Apache Flink 1.20.3, on two machines",
        limits=not_on_records("no work takes a processor", noted=True),
    )
    duration_ns: int = duration_ns(
        DURATION_NS,
        minimum=1,
        says="a run on buffers ends at this instant at the latest",
        source=_CHOICE,
        limits=not_on_records(
            "a run ends with its job, an endless one at `ending.horizon`", noted=True
        ),
    )
    placement: PlacementKind = choice(
        "remote", PlacementKind, says="which subtasks share a task manager"
    )
    vertices: tuple[Vertex, ...] = many(
        Vertex, REQUIRED, says="the vertices", minimum=1, maximum=128
    )
    network: Network = nested(Network, says="buffers and network (plane buffers)")
    channels: Channels = nested(Channels, says="every channel (plane records)")
    checkpointing: Checkpointing = nested(Checkpointing, says="checkpoints")
    channel_state: ChannelState = nested(
        ChannelState, says="in-flight data in checkpoints (plane records)"
    )
    state: StateTable = nested(StateTable, says="how tasks keep their state (plane buffers)")
    storage: Storage = nested(Storage, says="checkpoint storage (plane buffers)")
    machine: Machine = nested(Machine, says="what runs the tasks (plane buffers)")
    costs: Costs = nested(Costs, says="messages and snapshots (plane records)")
    event_time: EventTime = nested(EventTime, says="watermarks (plane records)")
    ending: Ending = nested(Ending, says="the end")
    restart: RestartStrategy = one_of(
        RESTART_STRATEGIES, FixedDelay(), says="what follows a failure"
    )
    recovery: Recovery = nested(Recovery, says="how the job comes back from a failure")

    @property
    def places(self) -> tuple[str, ...]:
        """Return where parameters may mean nothing: the plane."""
        return (self.plane,)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Return all edges, by receiving vertex and in the order of its inputs."""
        return edges_of(self.vertices)

    def snapshot_sync_ns(self, vertex: Vertex) -> int:
        """Return how long copying the state keeps the thread of a vertex's subtasks."""
        own_ns = vertex.snapshot_sync_ns
        return self.costs.snapshot_sync_ns if own_ns is None else own_ns

    def spelled_out(self) -> Job:
        """Return the same job with every vertex standing once."""
        if all(vertex.repeat == 1 for vertex in self.vertices):
            return self
        return replace(self, vertices=spelled_out(self.vertices))

    def world_of(self, link: str) -> str:
        """Return the link that runs the job: the one of its plane."""
        if self.plane is Plane.BUFFERS:
            return ON_BUFFERS
        return ON_RECORDS if link == ON_BUFFERS else link

    def problems_with(self, scenario: Named) -> list[Problem]:
        """Return the names in the head of a scenario that the job's plane does not know."""
        return [
            Problem(f"{key}[{index}]", f'"{name}"', f'a name that plane "{self.plane}" knows')
            for key, names, known in (
                ("goals", scenario.goals, GOALS[self.plane]),
                ("violates", scenario.violates, PROPERTIES[self.plane]),
            )
            for index, name in enumerate(names)
            if name not in known
        ]

    def problems(self) -> list[Problem]:
        """Return what does not hold between the values."""
        found = graph_problems(self.vertices)
        found += self._preload_problems() + self._subtask_problems()
        found += unaligned_problems(self.checkpointing) + self._state_problems()
        found += uncoordinated_problems(
            self.checkpointing,
            self.ending,
            self.vertices,
            preloaded_records=self.channels.preloaded_records,
            has_watermarks=self.event_time.watermark_interval_ns is not None,
            subtask_indices=self.channel_state.subtask_indices,
        )
        for name, table in (("channel_state", self.channel_state), ("event_time", self.event_time)):
            found += [replace(one, path=f"{name}.{one.path}") for one in table.problems()]
        if self.plane is Plane.BUFFERS:
            found += self.channel_state.problems_on_buffers() + [
                Problem(f"vertices[{index}].kind", '"legacy"', '"source" on plane "buffers"')
                for index, vertex in enumerate(self.vertices)
                if vertex.kind is VertexKind.LEGACY
            ]
        return found + self._situation_problems() + limit_problems(self)

    def _state_problems(self) -> list[Problem]:
        """Return what the state backend does not allow, or what no coordinator follows."""
        if self.plane is Plane.BUFFERS:
            return self.state.problems_with(self.vertices)
        if not self.state.incremental or self.checkpointing.coordinated:
            return []
        expected = "false, unless a coordinator says what is complete"
        return [Problem("state.incremental", "true", expected)]

    def _situation_problems(self) -> list[Problem]:
        """Return what global committers and enumerators do not allow."""
        coordinated = self.checkpointing.coordinated and self.ending.protocol != "naive"
        alone = "none beside watermarks, preloaded records, or without a coordinator"
        plain = self.event_time.watermark_interval_ns or self.channels.preloaded_records
        expected = "false, unless a coordinator and final checkpoints say what is complete"
        return [
            Problem(f"vertices[{index}].global_committer", "true", expected)
            for index, vertex in enumerate(self.vertices)
            if vertex.global_committer and not coordinated
        ] + [
            Problem(f"vertices[{index}].splits", str(vertex.splits), alone)
            for index, vertex in enumerate(self.vertices)
            if vertex.splits is not None and (plain or not coordinated)
        ]

    def _preload_problems(self) -> list[Problem]:
        chain = [(one.name, next_.name) for one, next_ in pairwise(self.vertices)]
        single = all(v.parallelism == 1 and v.selectivity == 1.0 for v in self.vertices)
        preloaded = self.channels.preloaded_records
        found = []
        if preloaded and (not single or [(e.upstream, e.downstream) for e in self.edges] != chain):
            expected = "0, unless the job is a chain of single subtasks in order"
            found.append(Problem("channels.preloaded_records", str(preloaded), expected))
        return found

    def _subtask_problems(self) -> list[Problem]:
        found: list[Problem] = []
        for index, vertex in enumerate(self.vertices):
            if self.placement is PlacementKind.MAP and not vertex.task_managers:
                where = f"vertices[{index}].task_managers"
                found.append(Problem(where, "nothing", 'a number per subtask, for placement "map"'))
        return found


def unaligned_problems(checkpointing: Checkpointing) -> list[Problem]:
    """Return what unaligned checkpoints do not allow."""
    if not checkpointing.unaligned or checkpointing.max_concurrent == 1:
        return []
    expected = "1, because unaligned checkpoints do not run concurrently"
    text = str(checkpointing.max_concurrent)
    return [Problem("checkpointing.max_concurrent", text, expected)]
