"""Make the tasks, gates, channels and outputs of one attempt from the graph of its job."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ckptsim.models.coordinator.debloater import DebloatParameters
from ckptsim.scenarios.job import Partitioner, VertexKind
from ckptsim.sim.job.buffers.constants import step_ns
from ckptsim.sim.job.buffers.input import InputGate, Wire
from ckptsim.sim.job.buffers.output import (
    RandomRoute,
    RecordSizes,
    RecordWriter,
    RoundRobinRoute,
    Route,
    Selectivity,
    SingleRoute,
    Subpartition,
    kept_shares,
)
from ckptsim.sim.job.buffers.tasks import Source, Task, VaryingTask
from ckptsim.sim.job.control.sinks.sink import open_sink
from ckptsim.sim.kernel.ties import derive_key

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Edge
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import OutputSpec, TaskSpec

_WEIGHT = 1_000_000
_NO_LIMIT = 1 << 60


class Deployment:
    """Makes the objects of one attempt, in the order of their random draws.

    restored: what the attempt begins from.
    """

    def __init__(self, world: DataflowWorld, restored: JobCheckpoint | None) -> None:
        self._world = world
        self._graph = world.graph
        self._network = world.model.network
        self._env = world.env
        self._draws = world.env.stream("graph")
        self._restored = restored

    def all_tasks(self) -> list[Task]:
        """Return all tasks, joined by their channels."""
        make = {True: self._source, False: self._operator}
        tasks = [make[spec.vertex.is_source](spec) for spec in self._graph.tasks]
        for task in tasks:
            for _ in self._graph.gate_channels[task.number]:
                self._gate(task)
        for output in self._graph.all_outputs:
            self._connect(output, tasks)
        return tasks

    # Tasks ------------------------------------------------------------------------------------

    def _source(self, spec: TaskSpec) -> Task:
        splits = self._world.splits.of(*spec.place)
        begun = self._graph.begun_as(spec.vertex.name)
        for one in splits:
            one.gap_ns = begun.gap_of(one.index, self._env.now)
            one.due_ns = self._world.clocks.first_ns(one, begun, self._env.now, self._draws)
        limits = [one.limit for one in splits if one.limit is not None]
        made = self._make_source()(
            self._world,
            spec,
            step_ns=self._world.constants.source_record_ns,
            splits=splits,
            replayable=spec.vertex.replayable,
            limit=None if spec.vertex.records is None else sum(limits),
        )
        if self._restored is None:
            made.starts_until_ns = self._env.now + spec.vertex.startup_ns
        return made

    def _make_source(self) -> type[Source]:
        return Source

    def _operator(self, spec: TaskSpec) -> Task:
        make: Callable[..., Task] = Task
        if spec.vertex.service_variation:
            make = partial(VaryingTask, variation=spec.vertex.service_variation)
        step = step_ns(spec.vertex.service_of(spec.subtask), self._world.constants)
        return make(self._world, spec, step_ns=step, two_input=spec.vertex.two_input)

    def _gate(self, task: Task) -> InputGate:
        network, debloat = self._network, None
        if network.debloat:
            debloat = DebloatParameters(
                target_ms=network.debloat_target_ns // 1_000_000, max_bytes=network.segment_bytes
            )
        return InputGate(task, floating=network.floating_buffers, debloat=debloat)

    # Edges ------------------------------------------------------------------------------------

    def _connect(self, output: OutputSpec, tasks: list[Task]) -> None:
        """Join a task to the receivers of one edge."""
        channels = [self._graph.channels[index] for index in output.channels]
        up = tasks[output.upstream]
        writer = self._writer(output, up)
        for place, channel in enumerate(channels):
            gate = tasks[channel.downstream].gates[channel.gate]
            self._channel(Subpartition(up, writer, place), gate)
        up.writers.append(writer)
        writer.attach(up.subpartitions[-len(channels) :])

    def _writer(self, output: OutputSpec, up: Task) -> RecordWriter:
        network, world, vertex = self._network, self._world, up.spec.vertex
        sizes = self._record_sizes(output, up)
        name, channels = output.edge.downstream, len(output.channels)
        broadcast = output.partitioner is Partitioner.BROADCAST
        selectivity = Selectivity(vertex.selectivity)
        pool = world.observer.pool(
            up,
            f"{up.entity.name}>{name}",
            burst_bytes=sizes.largest * selectivity.most,
            least_segment_bytes=self._least_segment_bytes,
            stops_early=world.mechanisms.stops_early,
            **self._pool_settings(channels, broadcast=broadcast),
        )
        route = self._route(output, up)
        world.observer.route(up, output, route)
        if world.identities is not None:
            world.identities.route(up, route, broadcast=broadcast)
        return RecordWriter(
            route,
            pool,
            sizes=sizes,
            segment_bytes=network.segment_bytes,
            broadcast=broadcast,
            supports_unaligned=output.supports_unaligned,
            selectivity=selectivity,
            first=self._processed(up),
        )

    def _record_sizes(self, output: OutputSpec, up: Task) -> RecordSizes:
        edge, vertex = output.edge, up.spec.vertex
        mean = edge.record_bytes or vertex.record_bytes or self._network.record_bytes
        variation = edge.record_variation
        if variation is None:
            variation = vertex.record_variation
        stream = f"record sizes {up.entity.name}>{edge.downstream}"
        return RecordSizes(mean, variation, derive_key(self._env.streams.seed, stream))

    @property
    def _least_segment_bytes(self) -> int:
        network = self._network
        least = DebloatParameters().min_bytes if network.debloat else network.segment_bytes
        return min(network.segment_bytes, least)

    def _pool_settings(self, channels: int, *, broadcast: bool) -> dict[str, int]:
        network = self._network
        # A pool has at least one buffer more than there are channels, or the task could not
        # continue.  A broadcast writes each buffer once for all channels. No limit per channel
        # applies.
        return {
            "size": max(
                channels + 1, channels * network.exclusive_buffers + network.floating_buffers
            ),
            "channels": 1 if broadcast else channels,
            "max_per_channel": _NO_LIMIT if broadcast else network.max_buffers_per_channel,
            "overdraft_max": network.max_overdraft_buffers,
        }

    def _channel(self, subpartition: Subpartition, gate: InputGate) -> None:
        up, down = subpartition.owner, gate.task
        down.upstream.append(up)
        name = f"{up.name}[{up.subtask}]>{down.name}/{gate.index}"
        entity, observer = self._env.entity(name, down.subtask), self._world.observer
        if up.spec.task_manager == down.spec.task_manager:
            gate.channels.append(observer.local(self._env, entity, subpartition, gate))
            return
        network = self._network
        wire = Wire(
            self._env,
            entity,
            latency_ns=network.latency_ns,
            jitter_ns=network.jitter_ns,
            send_ns=network.send_ns,
        )
        exclusive = network.exclusive_buffers
        gate.channels.append(observer.remote(subpartition, gate, wire, exclusive=exclusive))

    def _route(self, output: OutputSpec, up: Task) -> Route:
        partitioner, channels = output.partitioner, len(output.channels)
        if channels == 1 or partitioner in (Partitioner.BROADCAST, Partitioner.GLOBAL):
            return SingleRoute(0)
        if partitioner not in (Partitioner.HASH, Partitioner.SHUFFLE, Partitioner.CUSTOM):
            return RoundRobinRoute(channels, self._draws.integer(0, channels - 1))
        mechanisms = self._world.mechanisms
        if not mechanisms.random_keys:
            return RoundRobinRoute(channels, self._emitted(up))
        hot, shares = 0.0, list(output.edge.shares) or [1.0] * channels
        if partitioner is Partitioner.HASH:
            if mechanisms.keys_stay and _keeps_key(up.spec, output.edge, channels):
                senders = up.spec.vertex.parallelism
                if senders == channels:
                    return SingleRoute(up.subtask)
                shares = kept_shares(shares, sender=up.subtask, senders=senders)
            hot = up.spec.vertex.hot_ratio
        even = math.fsum(shares) / _WEIGHT
        weights = [round((1 - hot) * share / even) for share in shares]
        weights[0] += round(hot * _WEIGHT)
        stream = f"keys {up.entity.name}>{output.edge.downstream}"
        seed = self._env.streams.seed
        return RandomRoute(weights, seed=seed, name=stream, first=self._emitted(up))

    def _processed(self, up: Task) -> int:
        """Return how many records a task has processed before this attempt."""
        snapshot = None if self._restored is None else self._restored.tasks.get(up.number)
        return 0 if snapshot is None else int(snapshot.processed)

    def _emitted(self, up: Task) -> int:
        """Return how many records a task has emitted before this attempt: keys come once."""
        return Selectivity(up.spec.vertex.selectivity).emitted(self._processed(up))


def open_transactions(world: DataflowWorld, task: Task, restored: JobCheckpoint | None) -> None:
    """Give a task of a sink transactions, and those that its restored state has.

    Without identities, how many records are in one is what the task processes meanwhile.
    Others than sinks have none.
    """
    if task.spec.vertex.kind is not VertexKind.SINK:
        return
    sinks, embedding = world.control.sinks, world.embedding
    committer = embedding.committer
    task.sink = embedding.sink(
        sinks,
        task.place,
        None if task.records is not None else lambda: task.processed,
        committer=None if committer is None else committer(task.subtask),
        settled=task.control.commits_settled,
    )
    open_sink(task.control, task.sink, sinks.states_of(restored, task.spec))


def _keeps_key(spec: TaskSpec, edge: Edge, channels: int) -> bool:
    """Return whether records go on by the key that they came by."""
    vertex = spec.vertex
    if edge.keeps_key is not None or edge.shares:
        return bool(edge.keeps_key)
    if vertex.is_source or vertex.parallelism != channels:
        return False
    return all(edge.partitioner is Partitioner.HASH for edge in vertex.inputs)
