"""How long a job may do nothing before it counts as stalled."""

from __future__ import annotations

from collections.abc import Callable

from ckptsim.scenarios.job import Job
from ckptsim.sim.job.control.faults import FaultPlan
from ckptsim.sim.job.records.kinds import Kind
from ckptsim.sim.kernel import Environment

# A job that does nothing for this many of its longest times counts as stalled.
# Assumption: a final checkpoint needs one trigger; lost notifications need a few more.
_TIMES = 60
# Where a trigger and its acknowledgement alone can take longer than a checkpoint may, completing is
# a matter of chance, and no progress for so many times proves nothing.  Assumption: of 60 tries in
# a row all expire in two runs of a thousand (`flink_17994_older_stop`), of four times as many in
# none.
_BY_CHANCE = 4


def longest_idle_ns(job: Job, faults: FaultPlan) -> int:
    """Return for how long a job may make no progress, in ns."""
    costs, checkpointing, channels = job.costs, job.checkpointing, job.channels
    snapshot_ns = costs.snapshot_async_ns + costs.snapshot_jitter_ns
    times = [
        checkpointing.interval_ns,
        checkpointing.min_pause_ns,
        costs.rpc_ns + costs.rpc_jitter_ns + costs.notification_jitter_ns,
        costs.completion_ns,
        checkpointing.timeout_ns if faults.loses_messages else 0,
        job.restart.longest_delay_ns + costs.restore_ns,
        costs.closing_ns,
        channels.latency_ns + channels.end_of_partition_ns,
        faults.longest_ns + faults.latest_ns,
        job.recovery.heartbeat_timeout_ns if faults.silences else 0,
        job.ending.stop_at_ns or 0,
        *(
            max(v.service_ns, v.service_of(0)) + v.service_step_ns * v.parallelism
            for v in job.vertices
        ),
        *(job.snapshot_sync_ns(v) + snapshot_ns for v in job.vertices),
        *(v.pause_of(subtask) for v in job.vertices for subtask in range(v.parallelism)),
    ]
    by_chance = checkpointing.timeout_ns < 2 * (costs.rpc_ns + costs.rpc_jitter_ns)
    tries = _TIMES * (_BY_CHANCE if by_chance else 1)
    return tries * (max(times) + 1) + (checkpointing.first_trigger_ns or 0)


class Watchdog:
    """Calls `stalled` once when `progress_ns()` has not moved for `stall_after_ns`.

    queued_ns: how long barriers of checkpoints that have expired can have piled up in the channels.
    They come out one by one when the data have ended, and count as no progress; no checkpoint
    completes in time until they are out, which takes about as long as it took to queue them.
    """

    def __init__(
        self,
        env: Environment,
        stall_after_ns: int,
        *,
        progress_ns: Callable[[], int],
        queued_ns: Callable[[], int],
        stalled: Callable[[], None],
    ) -> None:
        self._stall_after_ns = stall_after_ns
        self._progress_ns = progress_ns
        self._queued_ns = queued_ns
        self._stalled = stalled
        self._timer = env.timer(Kind.COORDINATOR, env.entity("watch"), self._look)
        self._env = env
        self._timer.arm_in(stall_after_ns)

    def _look(self) -> None:
        due_ns = self._progress_ns() + self._stall_after_ns
        if due_ns <= self._env.now:
            due_ns += self._queued_ns()
        if due_ns > self._env.now:
            self._timer.arm_at(due_ns)
        else:
            self._stalled()

    def stop(self) -> None:
        """Look no more."""
        self._timer.cancel()
