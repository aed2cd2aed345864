"""What must hold of a job as a whole: its plans, its completed checkpoints, its output at the end.

The judge looks at the world's account only: what was emitted, processed and committed, never at
what a core believes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ckptsim.models.coordinator.plan import FinishedState, Plan, Rejected, check_restore
from ckptsim.scenarios.job import Mode, VertexKind
from ckptsim.sim.job.control.checkpoint import JobCheckpoint
from ckptsim.sim.job.records.account import differences, expected_output, loss
from ckptsim.sim.job.settings import final_at_once

if TYPE_CHECKING:
    from ckptsim.sim.job.records.world import RecordWorld


class Judge:
    """Checks one run of a job and reports what does not hold to its world."""

    def __init__(self, world: RecordWorld) -> None:
        self._world = world
        self._graph = world.graph

    def plan(self, plan: Plan) -> None:
        """Check that a plan triggers only what it awaits, and reaches every running task."""
        name = "plan_reaches_every_running_task"
        running = set(plan.wait_for)
        if not running:
            self._world.violate(name, "a checkpoint awaits nobody")
        if not set(plan.trigger) <= running:
            self._world.violate(name, "a triggered task is not awaited")
        if running & set(plan.finished):
            self._world.violate(name, "a finished task is awaited")
        missing = sorted(running - self._reached(plan))
        if missing:
            self._world.violate(name, f"no trigger and no barrier reaches {missing}")

    def _reached(self, plan: Plan) -> set[tuple[str, int]]:
        """Return the running tasks that a trigger or a barrier of running tasks comes to."""
        first = self._graph.first_task
        by_task = {first[name] + subtask: (name, subtask) for name, subtask in plan.wait_for}
        reached = set(plan.trigger)
        frontier = list(plan.trigger)
        while frontier:
            name, subtask = frontier.pop()
            for output in self._graph.outputs[first[name] + subtask]:
                for channel in output.channels:
                    below = by_task.get(self._graph.channels[channel].downstream)
                    if below is not None and below not in reached:
                        reached.add(below)
                        frontier.append(below)
        return reached

    def checkpoint(self, checkpoint: JobCheckpoint, highest: int) -> None:
        """Check a completed checkpoint; `highest` is the largest number completed before."""
        number = checkpoint.checkpoint_id
        if number <= highest and not checkpoint.savepoint:
            says = f"checkpoint {number} completes after {highest}"
            self._world.violate("completed_ids_increase", says)
        self._world.attempt.account.check_cut(checkpoint)
        for vertex in self._graph.vertices:
            recorded = checkpoint.vertices[vertex.name]
            if vertex.union_state and recorded is FinishedState.PARTIAL:
                says = f"checkpoint {number} has {vertex.name} partly finished"
                self._world.violate("union_state_ends_together", says)
            held = any(task in checkpoint.tasks for task in self._graph.tasks_of(vertex.name))
            if recorded is FinishedState.FULL and held:
                says = f"checkpoint {number} holds state of {vertex.name}, which has finished"
                self._world.violate("finished_task_leaves_no_records", says)

    def restore(self, checkpoint: JobCheckpoint) -> None:
        """Check that a job may start from a checkpoint, as it would be checked at submission."""
        states = {name: [state] for name, state in checkpoint.vertices.items()}
        found = check_restore(states, self._graph.plan_edges)
        if isinstance(found, Rejected):
            says = f"checkpoint {checkpoint.checkpoint_id} is refused: {found.rule}, {found.vertex}"
            self._world.violate("restore_is_closed_under_predecessors", says)

    def expired(self, checkpoint: int, awaited: Iterable[int]) -> None:
        """Check that nobody whom an expired checkpoint waits for had closed long before.

        A task that has taken part in a newer one drops the trigger of an older one without a word,
        so a checkpoint whose trigger was overtaken on its way ends by its timeout.
        """
        costs = self._world.job.costs
        grace_ns = 4 * (costs.rpc_ns + costs.rpc_jitter_ns + costs.snapshot_jitter_ns)
        grace_ns += self._world.faults.longest_ns + self._world.faults.latest_ns
        for index in awaited:
            closed_ns = self._world.closed_ns.get(index)
            if self._overtaken(checkpoint, index):
                continue
            if closed_ns is not None and closed_ns + grace_ns < self._world.env.now:
                name = self._graph.tasks[index].name
                says = f"checkpoint {checkpoint} waits until its timeout for {name}, long closed"
                self._world.violate("checkpoint_ends_in_time", says)

    def _overtaken(self, checkpoint: int, task: int) -> bool:
        """Say whether a task has acknowledged a newer checkpoint."""
        records = self._world.coordinator.records
        return any(task in records[number].parts for number in records if number > checkpoint)

    def final_request(self, task: int, *, asked: bool) -> None:
        """Check that the final checkpoint is asked for when the last task has ended, and if wanted.

        Called at each report; a task that a stop has cut has ended nothing.
        """
        wanted = final_at_once(self._world.job)
        life = self._world.attempt.life
        life.reported(task)
        if asked != (wanted and life.all_drained()):
            says = (
                "a final checkpoint is asked for" if asked else "no final checkpoint is asked for"
            )
            self._world.violate("final_checkpoint_is_asked_for", f"{says} when the last data ends")

    def transactions(self) -> None:
        """Check that no transaction is left behind, but by sinks that open them after finish()."""
        careless = {v.name for v in self._graph.vertices if v.opens_after_finish}
        self._world.control.sinks.check_end(careless)

    def output(self) -> None:
        """Check committed output and state at the end against what the sources have emitted."""
        expected = expected_output(self._graph, self._world.positions())
        exactly = self._world.job.checkpointing.mode is not Mode.AT_LEAST_ONCE
        ever = expected if exactly else expected_output(self._graph, self._world.most_emitted())
        for vertex in self._graph.vertices:
            name = vertex.name
            if vertex.kind is VertexKind.SINK:
                found = self._world.external.committed(name)
                self._compare("output", name, (expected[name], found, ever[name]), exactly=exactly)
            if vertex.kind is not VertexKind.SOURCE and name not in self._world.lost_state:
                tasks = self._graph.tasks_of(name)
                state = Counter(
                    r for index in tasks for r in self._world.attempt.tasks[index].state
                )
                self._compare("state", name, (expected[name], state, ever[name]), exactly=exactly)

    def _compare(
        self,
        what: str,
        vertex: str,
        counts: tuple[Counter[int], Counter[int], Counter[int]],
        *,
        exactly: bool,
    ) -> None:
        """Compare what must be there with what is; each attempt may repeat what was ever sent."""
        expected, found, ever = counts
        attempts = self._world.attempts_before + self._world.attempts
        says = (
            differences(expected, found)
            if exactly
            else loss(expected, found, ever, attempts=attempts)
        )
        if says is not None:
            guarantee = "exactly_once" if exactly else "at_least_once"
            self._world.violate(f"{guarantee}_{what}", f"{what} of {vertex}: {says}")
