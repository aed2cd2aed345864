"""Make the tables of one attempt, and what represents their rows, from the graph of the job.

Everything random is drawn in the order in which `deployment.py` draws it for the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.coordinator.debloater import DebloatParameters
from ckptsim.scenarios.job import Partitioner
from ckptsim.sim.job.buffers.compiled.channel import CompiledChannel, CompiledGate
from ckptsim.sim.job.buffers.compiled.columns import request
from ckptsim.sim.job.buffers.compiled.driver import CompiledDriver
from ckptsim.sim.job.buffers.compiled.followers import RecordLog, StretchLog
from ckptsim.sim.job.buffers.compiled.output import CompiledSubpartition, CompiledWriter
from ckptsim.sim.job.buffers.compiled.tables import Tables
from ckptsim.sim.job.buffers.compiled.task import CompiledSource, CompiledTask
from ckptsim.sim.job.buffers.constants import step_ns
from ckptsim.sim.job.buffers.deployment import Deployment
from ckptsim.sim.job.buffers.output import Selectivity

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.tasks import Source, Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.graph import OutputSpec, TaskSpec


class CompiledDeployment(Deployment):
    """Makes one attempt.

    before: the driver of the attempt before, with random streams to continue, or None.
    """

    def __init__(
        self, world: DataflowWorld, restored: JobCheckpoint | None, before: CompiledDriver | None
    ) -> None:
        super().__init__(world, restored)
        self._before = before
        self._all_gates: list[CompiledGate] = []
        self._all_writers: list[CompiledWriter] = []
        self._all_channels: list[CompiledChannel] = []

    def driver(self) -> CompiledDriver:
        """Return the driver of the attempt, with its tasks."""
        tasks = [task for task in self.all_tasks() if isinstance(task, CompiledTask)]
        self._number(tasks)
        tables = Tables(self._world, tasks, self._all_gates, self._all_writers, self._all_channels)
        driver = CompiledDriver(self._env, tables, self._before)
        driver.follower = self._world.observer.follower(driver)
        if self._world.timed is not None:
            driver.followers.append(StretchLog(tables, self._world.timed.lateness))
        if self._world.identities is not None:
            driver.followers.append(RecordLog(tables))
        for task in tasks:
            task.driver = driver
        for writer in self._all_writers:
            driver.ask(request.PLAN, writer.row)
        return driver

    def _number(self, tasks: list[CompiledTask]) -> None:
        """Order writers and channels so that the ones of a task, and of a writer, are neighbours.

        They were made edge by edge.
        """
        self._all_writers = [one for task in tasks for one in task.writers]  # type: ignore[misc]
        ends = [end for one in self._all_writers for end in one.subpartitions]
        self._all_channels = [end.input_channel for end in ends]

    def _make_source(self) -> type[Source]:
        return CompiledSource

    def _operator(self, spec: TaskSpec) -> Task:
        step = step_ns(spec.vertex.service_of(spec.subtask), self._world.constants)
        return CompiledTask(
            self._world,
            spec,
            step_ns=step,
            two_input=spec.vertex.two_input,
            variation=spec.vertex.service_variation,
        )

    def _gate(self, task: Task) -> None:  # type: ignore[override]
        network, debloat = self._network, None
        if network.debloat:
            debloat = DebloatParameters(
                target_ms=network.debloat_target_ns // 1_000_000, max_bytes=network.segment_bytes
            )
        made = CompiledGate(
            task,  # type: ignore[arg-type]
            floating=network.floating_buffers,
            debloat=debloat,
        )
        self._all_gates.append(made)

    def _connect(self, output: OutputSpec, tasks: list[Task]) -> None:
        up = tasks[output.upstream]
        vertex = up.spec.vertex
        broadcast = output.partitioner is Partitioner.BROADCAST
        selectivity = None
        if vertex.selectivity != 1.0:
            selectivity = Selectivity(vertex.selectivity), self._processed(up)
        route, sizes = self._route(output, up), self._record_sizes(output, up)
        observer, channels = self._world.observer, len(output.channels)
        writer = CompiledWriter(
            up,  # type: ignore[arg-type]
            route,
            self._pool_settings(channels, broadcast=broadcast),
            sizes=sizes,
            broadcast=broadcast,
            supports_unaligned=output.supports_unaligned,
            selectivity=selectivity,
        )
        up.writers.append(writer)  # type: ignore[arg-type]
        observer.logged_pool(
            writer,
            f"{up.entity.name}>{output.edge.downstream}",
            burst_bytes=sizes.largest * Selectivity(vertex.selectivity).most,
            least_segment_bytes=self._least_segment_bytes,
            **writer.settings,
        )
        observer.route(up, output, route)
        if self._world.identities is not None:
            self._world.identities.route(up, route, broadcast=broadcast)
        for place, index in enumerate(output.channels):
            channel = self._graph.channels[index]
            gate = tasks[channel.downstream].gates[channel.gate]
            self._join(writer, place, gate)  # type: ignore[arg-type]

    def _join(self, writer: CompiledWriter, place: int, gate: CompiledGate) -> None:
        up, down = writer.task, gate.task
        subpartition = CompiledSubpartition(up, writer, place)
        writer.subpartitions.append(subpartition)
        down.upstream.append(up)
        self._world.observer.logged(
            CompiledChannel(subpartition, gate),
            exclusive=self._network.exclusive_buffers,
            is_local=up.spec.task_manager == down.spec.task_manager,
        )
