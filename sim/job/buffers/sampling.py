"""Queue lengths, sampled at a fixed period as Flink's metrics are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.kinds import Kind, State
from ckptsim.sim.job.tables import TaskFigures

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.skipping.steady import Window
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.graph import Graph


class Sampling:
    """Sums of the buffers queued before and after every task.

    inputs, outputs: per task number. count: how many samples there are.
    """

    def __init__(self, world: DataflowWorld) -> None:
        count = sum(vertex.parallelism for vertex in world.model.vertices)
        self.inputs = [0] * count
        self.outputs = [0] * count
        self.count = 0
        self._passed: dict[tuple[str, int], list[int]] = {}  # ns in each state, not simulated
        self._world = world
        self._entity = world.env.entity("sampling")

    def redeployed(self, before: Graph, now: Graph) -> None:
        """Let sums stay with their subtasks, whatever numbers these have now."""
        sums = {t.place: (self.inputs[t.index], self.outputs[t.index]) for t in before.tasks}
        kept = [sums.get(task.place, (0, 0)) for task in now.tasks]
        self.inputs = [at_inputs for at_inputs, _ in kept]
        self.outputs = [at_outputs for _, at_outputs in kept]

    def start(self) -> None:
        """Begin to sample."""
        self.later()

    def later(self) -> None:
        """Have the next sample taken."""
        env, period = self._world.env, self._world.constants.sample_period_ns
        env.call_in(period, Kind.MEASURE, self._entity, self._sample)

    def _sample(self) -> None:
        self.take()
        self.later()

    def take(self) -> None:
        """Take a sample now."""
        self.count += 1
        if self._world.control.running:
            self._world.observer.look()
        compiled = self._world.compiled
        if compiled is not None:
            before, behind = compiled.queued()
        else:
            before = [queued_before(task) for task in self._world.tasks]
            behind = [queued_behind(task) for task in self._world.tasks]
        self.inputs = [sum(both) for both in zip(self.inputs, before, strict=True)]
        self.outputs = [sum(both) for both in zip(self.outputs, behind, strict=True)]

    def pass_over(self, window: Window, lasts_ns: int) -> None:
        """Take as many samples as a stretch has in which the window repeats itself."""
        count = lasts_ns // self._world.constants.sample_period_ns
        self.count += count
        for sums, means in ((self.inputs, window.inputs), (self.outputs, window.outputs)):
            for number, mean in enumerate(means.tolist()):
                sums[number] += round(mean * count)
        for task, times in zip(self._world.tasks, window.times.tolist(), strict=True):
            before = self._passed.get(task.place, [0] * len(times))
            now = [time * lasts_ns // window.lasts_ns for time in times]
            self._passed[task.place] = [sum(both) for both in zip(before, now, strict=True)]

    def figures(self, task: Task) -> TaskFigures:
        """Return what a task has done."""
        task.enter(task.state)
        time_in, samples = task.time_in, max(1, self.count)
        if task.place in self._passed:
            time_in = [sum(both) for both in zip(time_in, self._passed[task.place], strict=True)]
        return TaskFigures(
            records=task.processed,
            busy_ns=time_in[State.BUSY],
            backpressured_ns=time_in[State.BLOCKED] + time_in[State.STUCK],
            input_buffers_mean=self.inputs[task.number] / samples,
            output_buffers_mean=self.outputs[task.number] / samples,
            finished_ns=task.finished_ns,
        )


def queued_before(task: Task) -> int:
    """Count the buffers that wait at a task's inputs."""
    return sum(channel.queued for channel in task.channels)


def queued_behind(task: Task) -> int:
    """Count the buffers that wait at a task's outputs, the ones being written included."""
    return sum(subpartition.core.data_count for subpartition in task.subpartitions)
