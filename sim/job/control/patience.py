"""For how long an attempt may do nothing, from the times that the parts of its scenario take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Mode, Plane

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Job
    from ckptsim.sim.job.control.faults import FaultPlan

# A job that waits for this many of its longest times is stalled.
# Assumption: a final checkpoint needs one trigger. Lost notifications need a few more.
_TIMES = 60
# Where a checkpoint can take longer than it may, completing is a matter of chance, and no progress
# for so many times proves nothing.  Assumption: of 60 tries in a row all expire in two runs of a
# thousand (`flink_17994_older_stop`), of four times as many in none.  Where it always takes longer,
# a job that waits for its final checkpoint never ends, and nothing of it is wrong: a run on buffers
# ends by itself.
_BY_CHANCE = 4
# Barriers of checkpoints that are aborted queue in a channel, which is blocked after each of them
# in turn.  Assumption: where triggers come at most half as fast as barriers pass, the queue is gone
# in the time that it took to come about. Where they come faster, it can stay or grow for ever.
_SPARE = 2
# So many times all that can come between two records, one after the other.  Assumption: each thing
# happens once. The rest is for what waits in line.
_RECORD_TIMES = 4
# So many periodic triggers a final checkpoint may need.  Assumption: one that meets the end of the
# data is declined, and the one after it may be held back by the minimum pause.
_FINAL_TRIGGERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The longest that the parts of a job take on its plane, in ns.

    message_ns: a message to or from the coordinator, until it has been handled.  way_ns: a record
    and a barrier after it through all vertices.  step_ns: one thread is held.  gap_ns: between two
    records of a source.  snapshot_ns: from its synchronous part to the acknowledgement.
    completion_ns: from the last acknowledgement to the notifications.  restore_ns: from a restart
    to the work of its tasks. reading_ns: what comes on top where all that can be in flight is read
    first.  closing_ns: from a task's close to its being known.  barrier_ns: a barrier blocks its
    channel, until the next element of it comes out.
    """

    message_ns: int
    way_ns: int
    step_ns: int
    gap_ns: int
    snapshot_ns: int
    completion_ns: int
    restore_ns: int
    reading_ns: int
    closing_ns: int
    barrier_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """For how long an attempt may do nothing, in ns.

    records_ns: with records to process, or while it restores. final_ns: with all data ended.
    end_ns: at all.  outpaced: barriers of checkpoints that are aborted can be triggered faster than
    they pass, so that none ever completes in time.
    """

    records_ns: int
    final_ns: int
    end_ns: int
    outpaced: bool = False


def patience(job: Job, faults: FaultPlan, times: Times) -> Patience:
    """Return for how long an attempt of a job may do nothing."""
    checkpointing = job.checkpointing
    silent_ns = job.recovery.heartbeat_timeout_ns if faults.silences else 0
    longest_ns = max(
        checkpointing.interval_ns,
        checkpointing.min_pause_ns,
        checkpointing.timeout_ns if faults.lets_expire(job) else 0,
        job.restart.longest_delay_ns + times.restore_ns,
        faults.longest_ns + faults.latest_ns,
        silent_ns,
        job.ending.stop_at_ns or 0,
        times.message_ns,
        times.completion_ns,
        times.closing_ns,
        times.step_ns,
        times.snapshot_ns,
        times.gap_ns,
    )
    way_ns = 2 * times.message_ns + times.way_ns + times.snapshot_ns
    outpaced = _is_outpaced(job, times)
    by_chance = outpaced or checkpointing.timeout_ns < way_ns
    tries = _TIMES * (_BY_CHANCE if by_chance else 1)
    end_ns = tries * (longest_ns + 1) + (checkpointing.first_trigger_ns or 0)
    if by_chance and job.plane is Plane.BUFFERS:
        end_ns = max(end_ns, job.duration_ns + 1)
    if by_chance or job.costs.notification_loss_ratio or job.channel_state.offset_loss_ratio:
        # What frees a channel (the next checkpoint, a notification that one was aborted, an offset)
        # can be missing any number of times in a row.
        return Patience(records_ns=end_ns, final_ns=end_ns, end_ns=end_ns, outpaced=outpaced)
    records_ns = way_ns + times.gap_ns + times.completion_ns
    records_ns = _RECORD_TIMES * (records_ns + times.restore_ns + times.reading_ns)
    records_ns += faults.longest_ns + silent_ns
    if faults.at_checkpoints:  # each can hold channels until one expires and the next one begins
        round_ns = checkpointing.timeout_ns + checkpointing.min_pause_ns
        round_ns += 2 * checkpointing.interval_ns
        records_ns += (1 + faults.at_checkpoints) * round_ns
    final_ns = end_ns
    if not (job.costs.checkpoint_failure_ratio or job.storage.failure_ratio):
        round_ns = checkpointing.interval_ns + checkpointing.min_pause_ns
        final_ns = 2 * records_ns + _FINAL_TRIGGERS * round_ns
        final_ns += checkpointing.first_trigger_ns or 0
    return Patience(
        records_ns=min(records_ns, end_ns), final_ns=min(final_ns, end_ns), end_ns=end_ns
    )


def _is_outpaced(job: Job, times: Times) -> bool:
    """Return whether barriers can queue in a channel without bound.

    The ones of pending checkpoints are at most `max_concurrent`. One that is aborted makes room for
    the next, and its barrier stays where it is.  Only barriers that are aligned block a channel.
    """
    checkpointing = job.checkpointing
    blocks = checkpointing.mode in (Mode.ALIGNED, Mode.ALIGNED_TIMEOUT)
    if not blocks or checkpointing.interval_ns >= _SPARE * times.barrier_ns:
        return False
    declines = job.costs.checkpoint_failure_ratio > 0 or job.storage.failure_ratio > 0
    return declines or checkpointing.timeout_ns < checkpointing.max_concurrent * times.barrier_ns
