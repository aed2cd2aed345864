"""What happens to the tasks of an attempt at set times: output flushers, debloaters, ends.

Nothing of it is left to be struck out when a task has ended: each timer looks at its task first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.input import debloat
from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.job.settings import parameters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ckptsim.sim.job.buffers.constants import Constants
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.kernel import Environment


def let_work(tasks: Sequence[Task]) -> None:
    """Let tasks work that have nothing to wait for."""
    for task in tasks:
        if isinstance(task, Source):
            task.env.call_at(task.env.now, Kind.TASK, task.entity, task.run)
        task.ending.start()
        for subpartition in task.subpartitions:
            if subpartition.restored.bytes:
                subpartition.pump()


class TaskTimers:
    """The timers of the tasks of one attempt."""

    def __init__(self, world: DataflowWorld) -> None:
        self._world = world
        self._env = world.env
        self._timeout_ns = world.model.network.buffer_timeout_ns
        self._period_ns = world.constants.debloat_period_ns

    def start(self) -> None:
        """Start them. Each begins at an instant of its own within its period."""
        env, draws = self._env, self._env.stream("timers")
        for task in self._world.tasks:
            if self._timeout_ns and task.writers:
                first = draws.integer(1, self._timeout_ns)
                if self._world.compiled is None:
                    env.call_in(first, Kind.FLUSH, task.entity, self._flush, task)
                else:
                    self._world.compiled.flush_from(task.number, env.now + first)
            if self._world.model.network.debloat and task.gates:
                first = draws.integer(1, self._period_ns)
                env.call_in(first, Kind.MEASURE, task.entity, self._debloat, task)
        for task in self._world.tasks:
            if isinstance(task, Source):
                self._change_rates(task)
            ends_ns = task.spec.vertex.ends_at_ns
            if isinstance(task, Source) and ends_ns is not None:
                at_ns = max(env.now, ends_ns)
                env.call_at(at_ns, Kind.MAIL, task.entity, task.post, task.stop)

    def _change_rates(self, source: Source) -> None:
        """Have a source change its rates when that is next due.

        Everything that is past has acted before.
        """
        at_ns = self._world.graph.begun_as(source.name).rate_change_after(self._env.now)
        if at_ns is not None:
            self._env.call_at(at_ns, Kind.MAIL, source.entity, self._change_rate, source)

    def _change_rate(self, source: Source) -> None:
        if not source.has_ended:
            now, begun = self._env.now, self._world.graph.begun_as(source.name)
            splits = self._world.splits.of(*source.place)
            gaps_ns = {one.number: begun.gap_of(one.index, now) for one in splits}
            source.post(source.change_rates, gaps_ns)
            self._change_rates(source)

    def _flush(self, task: Task) -> None:
        if not task.has_ended:
            task.flush()
            period_ns = self._timeout_ns + self._world.constants.flusher_overshoot_ns
            self._env.call_in(period_ns, Kind.FLUSH, task.entity, self._flush, task)

    def _debloat(self, task: Task) -> None:
        if not task.has_ended:
            task.post(debloat, task)
            self._env.call_in(self._period_ns, Kind.MEASURE, task.entity, self._debloat, task)


def first_delay_ns(world: DataflowWorld, phases: Sequence[int]) -> int:
    """Return when the first periodic trigger of an attempt comes: as set, or known, or drawn.

    phases: an instant of the periodic trigger of each attempt in ns, as far as they are known.
    """
    table, control = world.model.checkpointing, world.control
    backlog_ns = max(task.starts_until_ns for task in world.tasks) - world.env.now
    meanwhile_ns = table.interval_during_backlog_ns
    if backlog_ns > 0 and meanwhile_ns is not None:
        if not meanwhile_ns:
            return backlog_ns + table.interval_ns
        world.coordinator.backlog = meanwhile_ns, world.env.now + backlog_ns
    if table.first_trigger_ns is not None and not control.failovers:
        return table.first_trigger_ns
    known = phases[control.attempts - 1 :]
    if known:
        return (known[0] - world.env.now - 1) % table.interval_ns + 1
    return world.env.stream("coordinator").uniform_ns(
        *parameters_of(world.model.checkpointing).first_delay_bounds_ns
    )


class Pauses:
    """Draws the pauses of one run."""

    def __init__(self, env: Environment, constants: Constants) -> None:
        self._stream = env.stream("pauses")
        self._ratio = constants.pause_ratio
        self._mean_ns = constants.pause_ns

    def behind_ns(self, checkpoint: int) -> int:
        """Return the pause between a checkpoint's last acknowledgement and its completion."""
        return self._stream.exponential_ns(self._mean_ns) if self._drawn() else 0

    def before_sources_ns(self, checkpoint: int) -> int:
        """Return what comes on top of a trigger message's usual time."""
        return 0

    def _drawn(self) -> bool:
        return self._stream.chance(self._ratio)
