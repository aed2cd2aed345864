"""The world's own account of checkpoints at the coordinator: how each begins, what it holds, ends.

It sees requests, acknowledgements and ends as the world carries them out, with its own clock; what
the coordinator's core keeps in mind is not asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.barriers.reason import FailureReason

if TYPE_CHECKING:
    from ckptsim.sim.job.control.checkpoint import CheckpointRecord
    from ckptsim.sim.job.records.parts import Parts
    from ckptsim.sim.job.records.task import Task
    from ckptsim.sim.job.records.world import RecordWorld

# Kinds whose snapshot is always aligned, by the name of the barrier's kind.
_ALIGNED = ("aligned", "savepoint", "at_least_once")
_SUBSUMED = FailureReason.CHECKPOINT_SUBSUMED


class CheckpointAccount:
    """What has become of the checkpoints of one job."""

    def __init__(self, world: RecordWorld) -> None:
        self._world = world
        self._settings = world.job.checkpointing
        self._free_ns: int | None = None  # since when periodic triggers are due and nothing runs
        self._running: dict[int, CheckpointRecord] = {}

    # --- triggers ---

    def scheduled(self, first_ns: int) -> None:
        """Note that periodic triggers begin, the first after `first_ns`."""
        self._free_ns = self._world.env.now + first_ns

    def unscheduled(self) -> None:
        """Note that periodic triggers have ended."""
        self._free_ns = None

    def asked(self) -> None:
        """Note that a checkpoint is about to be planned: periodic ones come in time."""
        self.check_triggers()
        if self._free_ns is not None:
            self._free_ns = max(self._free_ns, self._world.env.now)

    def check_triggers(self) -> None:
        """Check that, with nothing under way, the next trigger is not overdue."""
        now_ns = self._world.env.now
        pause_ns = max(self._settings.interval_ns, self._settings.min_pause_ns)
        if self._free_ns is None or self._running or not self._settings.enabled:
            return
        if now_ns - self._free_ns > pause_ns + self._settings.min_pause_ns:
            says = f"no checkpoint for {now_ns - self._free_ns} ns, though nothing is under way"
            self._world.violate("periodic_triggers_go_on", says)
            self._free_ns = now_ns

    def triggered(self, one: CheckpointRecord) -> None:
        """Check that not more run at once than may; a forced savepoint comes on top."""
        running = [other for other in self._running.values() if not other.request.forced]
        if not one.request.forced and len(running) >= self._settings.max_concurrent:
            numbers = sorted(self._running)
            says = f"checkpoint {one.checkpoint} is triggered while {numbers} run"
            self._world.violate("pending_within_limit", says)
        self._running[one.checkpoint] = one

    # --- what they hold ---

    def acknowledged(self, one: CheckpointRecord, task: Task, parts: Parts) -> None:
        """Check what a task's part holds in flight against how the checkpoint was taken."""
        held = parts.snapshot
        if held is None:
            raise AssertionError(f"{task.name} acknowledges {one.checkpoint} without a snapshot")
        channels = [c for part in (held.input_state, held.output_state) for c in part if part[c]]
        what = f"{task.name}'s part of checkpoint {one.checkpoint}"
        if channels and one.kind in _ALIGNED:
            says = f"{what}, which is {one.kind}, holds records in flight"
            self._world.violate("aligned_holds_nothing_in_flight", says)
        if any(held.output_state[c] and self._is_ordered(c) for c in held.output_state) or (
            any(held.input_state[c] for c in held.input_state)
            and all(self._is_ordered(link.spec.index) for link in task.inputs)
        ):
            says = f"{what} holds records in flight of an edge that must keep its order"
            self._world.violate("ordered_edges_hold_nothing_in_flight", says)
        if parts.unaligned != bool(channels):
            says = f"{what} is called {'un' * parts.unaligned}aligned"
            self._world.violate("unaligned_flag_is_true", f"{says}, it holds {len(channels)} parts")

    def _is_ordered(self, channel: int) -> bool:
        """Say whether barriers may not overtake on a channel.

        Its receiver may persist its input all the same, when a barrier overtakes in another one.
        """
        edge = self._world.graph.channels[channel].edge
        return not self._world.graph.edges[edge].partitioner.supports_unaligned

    # --- ends ---

    def completed(self, one: CheckpointRecord) -> None:
        """Check that what completes was still running."""
        if one.checkpoint not in self._running:
            says = f"checkpoint {one.checkpoint} completes after it was {one.status}"
            self._world.violate("ended_checkpoints_stay_ended", says)
        self._over(one)

    def failed(self, one: CheckpointRecord, reason: FailureReason) -> None:
        """Check that what is given up was still running, and that savepoints are spared."""
        if one.checkpoint not in self._running:
            says = f"checkpoint {one.checkpoint} is given up after it was {one.status}"
            self._world.violate("ended_checkpoints_stay_ended", says)
        if one.request.savepoint and reason is _SUBSUMED:
            says = f"savepoint {one.checkpoint} gives way to a newer checkpoint"
            self._world.violate("savepoints_are_not_subsumed", says)
        self._over(one)

    def notified(self, one: CheckpointRecord) -> None:
        """Check that tasks hear of a completion after it is stored."""
        if one.status != "completed":
            says = f"tasks hear of checkpoint {one.checkpoint}, which is {one.status}"
            self._world.violate("notified_after_completion", says)

    def end(self) -> None:
        """Check what must hold when a job has ended: nothing is left open."""
        for one in self._running.values():
            self._check_duration(one)
        attempt = self._world.attempt
        for file in dict.fromkeys(attempt.files):
            for name, number in file.writer.oracle.unanswered():
                says = f"{name} waits for its file of checkpoint {number}"
                self._world.violate("writes_are_answered_once", says)
        for link in attempt.links:
            for number in link.account.unsettled:
                says = f"the output of channel {link.name} is open for checkpoint {number}"
                self._world.violate("output_state_is_settled", says)

    def _over(self, one: CheckpointRecord) -> None:
        self._check_duration(one)
        self._running.pop(one.checkpoint, None)
        if not self._running and self._free_ns is not None:
            self._free_ns = max(self._free_ns, self._world.env.now)

    def _check_duration(self, one: CheckpointRecord) -> None:
        """Check that a checkpoint takes no longer than its time-out and the storing of it."""
        lasts_ns = self._world.env.now - one.triggered_ns
        if lasts_ns > self._settings.timeout_ns + self._world.job.costs.completion_ns:
            says = f"checkpoint {one.checkpoint} is under way for {lasts_ns} ns"
            self._world.violate("checkpoint_ends_in_time", says)
