"""Faulty parts of cores and pipelines, one per slot of a part."""

from ckptsim.cores import barriers, coordinator, lifecycle, recovery, uncoordinated
from ckptsim.cores import lifecycle_effects as do
from ckptsim.cores import subtask_events as sub
from ckptsim.cores import writer_events as writer
from ckptsim.sim.composed.destination import PipelineDestination
from ckptsim.sim.composed.destination.committer import Committer
from ckptsim.sim.job.control.sinks.sink import SinkWriter


class Unmarked(barriers.SubtaskCheckpoints):
    """Sends no cancellation marker for an aborted checkpoint."""

    def step(self, event):
        return [e for e in super().step(event) if not isinstance(e, sub.BroadcastCancellation)]


class Unacknowledging(lifecycle.TaskLifecycle):
    """Never acknowledges the EndOfData of its upstream tasks."""

    def step(self, event):
        return [e for e in super().step(event) if not isinstance(e, do.AcknowledgeEndOfData)]


class Discreet(barriers.SharedStateWriter):
    """Does not report a part that could not be written."""

    def step(self, event):
        return [e for e in super().step(event) if not isinstance(e, writer.PartFailed)]


class Unpersisted(barriers.RemoteInputChannel):
    """Persists none of its queued buffers."""

    def start(self, checkpoint):
        return None


class Patient(barriers.Subpartition):
    """Lets no barrier overtake after the time-out."""

    def time_out(self, checkpoint):
        return False


def any_edge(barrier, *, supports_unaligned):
    """Let barriers overtake on edges that must keep order, too."""
    return barrier


class Never(coordinator.EndOfDataListener):
    """Never asks for a final checkpoint."""

    def reported(self, task):
        return False


def restart(*, stop_completed):
    """Restart, also after the savepoint of a stop has completed."""
    return coordinator.Recovery.RESTART


class Forward(lifecycle.WatermarkValve):
    """Takes the highest watermark of any channel."""

    def take_watermark(self, channel, timestamp):
        self.watermark = max(self.watermark, timestamp)


class NewestFirst(Committer):
    """Commits queued transactions one by one, the newest first."""

    def taken(self, queue):
        return [queue.pop()]


class Trusting(Committer):
    """Assumes that the pending transactions of a restored checkpoint are committed."""

    def recover(self, transaction, committed):
        committed()


class Forgetful(SinkWriter):
    """Leaves commits under way out of snapshots."""

    @property
    def pending(self):
        return self.precommitted


class Hasty(PipelineDestination):
    """Reports a commit when it begins."""

    def commit_begun(self, records, number):
        self.commit_finished(records, number)


class Lenient(coordinator.FailureCounter):
    """Counts no failure."""

    def failed(self, reason, checkpoint=None):
        return False


class Hurried(coordinator.RequestDecider):
    """Postpones no request."""

    def choose(self, situation):
        return super().choose(situation)[:1]


class Shifted(recovery.InFlightAssignment):
    """Gives in-flight data to the next subtask."""

    def gate(self, exchange, subtask):
        return super().gate(exchange, (subtask + 1) % exchange.new[1])


class Unfiltered(recovery.RecoveredInput):
    """Keeps every copy of a record."""

    def __init__(self, assignment, channels, *, accepts):
        super().__init__(assignment, channels, accepts=lambda record: True)


class Unforced(uncoordinated.InducedTask):
    """Adopts a higher index without a checkpoint."""

    def step(self, event):
        if not isinstance(event, uncoordinated.MessageNext):
            return super().step(event)
        self.index = max(self.index, event.index)
        return []


class Newest(uncoordinated.RecoveryLine):
    """Goes back to the newest checkpoint of every task, consistent or not."""

    def _newest_consistent(self):
        return [len(stored) - 1 for stored in self._stored]


class Fixed(coordinator.BufferDebloater):
    """Leaves buffers as they are."""

    def update(self, throughput, buffers_in_use):
        return None
