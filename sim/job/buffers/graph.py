"""Build the tasks, gates, channels and outputs of a job from its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.coordinator.debloater import DebloatParameters
from ckptsim.models.coordinator.plan import Edge, Pattern, pointwise_senders
from ckptsim.scenarios.job import Engine, Input, Partitioner, Vertex
from ckptsim.sim.job.buffers.gate import Gate
from ckptsim.sim.job.buffers.outlet import Outlet
from ckptsim.sim.job.buffers.reference import ReferenceSource, ReferenceTask, ReferenceWriter
from ckptsim.sim.job.buffers.routing import RandomRoute, RoundRobinRoute, Route, SingleRoute
from ckptsim.sim.job.buffers.source import Source
from ckptsim.sim.job.buffers.task import Task
from ckptsim.sim.job.buffers.wire import Wire
from ckptsim.sim.job.buffers.writer import Writer

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint

_WEIGHT = 1_000_000
_NO_LIMIT = 1 << 60


class Graph:
    """The running form of a job graph.

    by_name: the tasks of each vertex, by subtask; edges: as the planner of checkpoints sees them.
    restored: what the attempt begins from.
    """

    def __init__(self, world: DataflowWorld, restored: JobCheckpoint | None) -> None:
        self.by_name: dict[str, list[Task]] = {}
        self.edges: list[Edge] = []
        self._world = world
        self._model = world.model
        self._env = world.env
        self._reference = world.model.engine is Engine.PROCESSES
        self._draws = world.env.stream("graph")
        self._restored = restored
        for vertex in self._model.vertices:
            if vertex.is_source:
                self._add_source(vertex)
            else:
                self._add_operator(vertex)
        for vertex in self._model.vertices:
            for edge in vertex.inputs:
                self._connect(edge, vertex.name)

    def number_of(self, name: str, subtask: int) -> int:
        """Return the number of a task."""
        return self.by_name[name][subtask].number

    # Tasks ------------------------------------------------------------------------------------

    def _add_source(self, table: Vertex) -> None:
        gap = table.gap_ns
        make = ReferenceSource if self._reference else Source
        self.by_name[table.name] = [
            make(
                self._world,
                table.name,
                subtask,
                step_ns=self._world.constants.source_record_ns,
                gap_ns=gap,
                first_ns=self._env.now + (0 if gap is None else self._draws.integer(1, gap)),
                limit=table.records_of(subtask),
            )
            for subtask in range(table.parallelism)
        ]

    def _add_operator(self, table: Vertex) -> None:
        make = ReferenceTask if self._reference else Task
        self.by_name[table.name] = [
            make(
                self._world,
                table.name,
                subtask,
                step_ns=self._step_ns(table, subtask),
                two_input=table.two_input,
            )
            for subtask in range(table.parallelism)
        ]

    def _step_ns(self, table: Vertex, subtask: int) -> int:
        """Return the time per record: the service, and what waiting and handling add to it."""
        constants = self._world.constants
        service = table.service_of(subtask)
        if not service:
            return constants.record_ns
        per_park = max(1, -(-constants.park_min_ns // service))
        return service + constants.record_ns + constants.park_overshoot_ns // per_park

    # Edges ------------------------------------------------------------------------------------

    def _connect(self, edge: Input, name: str) -> None:
        network = self._model.network
        ups, downs = self.by_name[edge.upstream], self.by_name[name]
        pointwise = edge.partitioner.is_pointwise
        pattern = Pattern.POINTWISE if pointwise else Pattern.ALL_TO_ALL
        receivers = range(len(downs))
        senders = tuple(tuple(pointwise_senders(d, len(ups), len(downs))) for d in receivers)
        self.edges.append(Edge(edge.upstream, name, pattern, senders if pointwise else None))
        debloat = None
        if network.debloat:
            debloat = DebloatParameters(
                target_ms=network.debloat_target_ns // 1_000_000, max_bytes=network.segment_bytes
            )
        gates = [Gate(d, floating=network.floating_buffers, debloat=debloat) for d in downs]
        for up in ups:
            targets = _targets(edge.partitioner, up.subtask, len(ups), len(downs))
            writer = self._writer(edge, up, name, len(targets))
            for place, target in enumerate(targets):
                self._channel(Outlet(up, writer, place), gates[target], writer)
            up.writers.append(writer)
            writer.attach(up.outlets[-len(targets) :])

    def _writer(self, edge: Input, up: Task, name: str, channels: int) -> Writer:
        network = self._model.network
        broadcast = edge.partitioner is Partitioner.BROADCAST
        # A pool has at least one buffer more than there are channels, or the task could not go on.
        # A broadcast writes each buffer once for all channels; no limit per channel applies.
        pool = self._world.account.pool(
            f"{up.entity.name}>{name}",
            record_bytes=network.record_bytes,
            least_segment_bytes=min(network.segment_bytes, DebloatParameters().min_bytes),
            size=max(channels + 1, channels * network.exclusive_buffers + network.floating_buffers),
            channels=1 if broadcast else channels,
            max_per_channel=_NO_LIMIT if broadcast else network.max_buffers_per_channel,
            overdraft_max=network.max_overdraft_buffers,
            stops_early=self._world.mechanisms.stops_early,
        )
        make = ReferenceWriter if self._reference else Writer
        route = self._route(edge.partitioner, up, name, channels)
        self._world.account.route(up, route, channels=1 if broadcast else channels)
        return make(
            route,
            pool,
            record_bytes=network.record_bytes,
            segment_bytes=network.segment_bytes,
            broadcast=broadcast,
            supports_unaligned=edge.partitioner.supports_unaligned,
        )

    def _channel(self, outlet: Outlet, gate: Gate, writer: Writer) -> None:
        up, down = outlet.owner, gate.task
        down.upstream.append(up)
        name = f"{up.name}[{up.subtask}]>{down.name}/{gate.index}"
        entity = self._env.entity(name, down.subtask)
        placement = self._world.placement
        if placement.task_manager(up) == placement.task_manager(down):
            gate.channels.append(self._world.account.local(self._env, entity, outlet, gate))
            return
        network = self._model.network
        wire = Wire(
            self._env,
            entity,
            latency_ns=network.latency_ns,
            jitter_ns=network.jitter_ns,
            send_ns=network.send_ns,
        )
        exclusive = network.exclusive_buffers
        gate.channels.append(self._world.account.remote(outlet, gate, wire, exclusive=exclusive))

    def _route(self, partitioner: Partitioner, up: Task, name: str, channels: int) -> Route:
        if channels == 1 or partitioner in (Partitioner.BROADCAST, Partitioner.GLOBAL):
            return SingleRoute(0)
        if partitioner not in (Partitioner.HASH, Partitioner.SHUFFLE):
            return RoundRobinRoute(channels, self._draws.integer(0, channels - 1))
        mechanisms = self._world.mechanisms
        if not mechanisms.random_keys:
            return RoundRobinRoute(channels, self._emitted(up))
        hot = 0.0
        if partitioner is Partitioner.HASH:
            if mechanisms.keys_stay and self._keeps_key(up, channels):
                return SingleRoute(up.subtask)
            hot = next(v.hot_ratio for v in self._model.vertices if v.name == up.name)
        weights = [round((1 - hot) / channels * _WEIGHT)] * channels
        weights[0] += round(hot * _WEIGHT)
        stream = f"keys {up.entity.name}>{name}"
        seed = self._env.streams.seed
        return RandomRoute(weights, seed=seed, name=stream, first=self._emitted(up))

    def _emitted(self, up: Task) -> int:
        """Return how many records a task has emitted before this attempt: keys come once."""
        snapshot = None if self._restored is None else self._restored.tasks.get(up.number)
        return 0 if snapshot is None else int(snapshot.processed)

    def _keeps_key(self, up: Task, channels: int) -> bool:
        """Tell whether a record's key leads to the same subtask index once more."""
        table = next(v for v in self._model.vertices if v.name == up.name)
        if table.is_source or table.parallelism != channels:
            return False
        return all(edge.partitioner is Partitioner.HASH for edge in table.inputs)


def _targets(partitioner: Partitioner, subtask: int, ups: int, downs: int) -> list[int]:
    """Return the receivers that a sender is joined to."""
    if not partitioner.is_pointwise:
        return list(range(downs))
    return [down for down in range(downs) if subtask in pointwise_senders(down, ups, downs)]
