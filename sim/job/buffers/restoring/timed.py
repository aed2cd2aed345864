"""Failovers that take time, as the buffer plane of one job has them: what it holds besides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.sim.job.buffers.kinds import Kind
from ckptsim.sim.job.buffers.restoring.attempt import AttemptRestore
from ckptsim.sim.job.buffers.restoring.caught_up import note_latencies
from ckptsim.sim.job.buffers.restoring.costs import FIRST, LATER
from ckptsim.sim.job.buffers.restoring.in_flight import InFlightReads
from ckptsim.sim.job.buffers.restoring.lateness import CELL_NS, Lateness
from ckptsim.sim.job.buffers.tasks import Source
from ckptsim.sim.job.control.failover import FailoverHost, FailoverRecord, FailoverTimes

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.restoring.rescale import Rescaled
    from ckptsim.sim.job.buffers.world import DataflowWorld
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.world import JobWorld

# Number of the attempt that the first restart of a process begins.
_FIRST_RESTART = 2
# A backlog that lasts is looked at at every hundredth of the time so far.
_LOOKS = 100


class TimedFailover:
    """The failovers of one job, the restore of its present attempt, and how late its records are.

    lateness: learns of every record, through all attempts.  restored: how many checkpoints were.
    files_opened, pieces_read: of channel state in all of them.
    """

    def __init__(self, world: DataflowWorld) -> None:
        self.lateness = Lateness()
        self.restored = self.files_opened = self.pieces_read = 0
        self._world = world
        self._restore: AttemptRestore | None = None
        self._host: FailoverHost
        self._control: JobWorld

    def attach(self, control: JobWorld) -> None:
        """Let the failovers of a job take time."""
        world = self._world
        self._control = control
        self._host = FailoverHost(
            control,
            world,
            control.strategy,
            _times,
            kind=Kind.FAULT,
            slots_return=world.constants.slots_return,
        )
        control.timed = self._host

    def restores(self, restored: JobCheckpoint | None) -> bool:
        """Return whether tasks of the attempt have to restore: not when a job starts afresh."""
        return restored is not None or self._control.attempts > 1

    def prepare(self, restored: JobCheckpoint | None, taken_over: Rescaled | None) -> None:
        """Let the tasks that have just been made wait for their restore.

        taken_over: what goes where, if the checkpoint is of other parallelisms.
        """
        costs = FIRST if self._control.attempts <= _FIRST_RESTART else LATER
        kept = self._world.regions.carried
        tasks = [task for task in self._world.tasks if task.number not in kept]
        reads = None
        if restored is not None:
            reads = InFlightReads(self._world.graph, restored, taken_over)
        self._restore = AttemptRestore(self._world, tasks, reads, costs, self._all_running)
        self.restored += restored is not None
        self.files_opened += self._restore.files_opened
        self.pieces_read += self._restore.pieces_read
        self._host.starting = self._control.attempts == 1
        if restored is None or self.lateness.knows(restored.checkpoint_id):
            number = None if restored is None else restored.checkpoint_id
            parts = None if taken_over is None else taken_over.parts
            self.lateness.restored(number, parts, self._world.regions.in_flight)
        else:
            self.lateness.started_from(self._world.tasks, restored)

    def start(self) -> None:
        """Deploy the tasks."""
        lost = any(one.manager_lost for one in self._control.failovers[-1:])
        if self._restore is not None:
            self._restore.begin(manager_lost=lost)

    def _all_running(self) -> None:
        restore = self._restore
        for record in self._control.failovers[-1:]:
            if restore is not None:
                record.opened_ns, record.handed_over_ns = restore.opened_ns, restore.handed_over_ns
                record.bytes_read, record.restarted = restore.bytes_read, restore.numbers
                record.running_ns, record.restore_ns = self._world.env.now, restore.longest_ns
                self._look(record, self._world.env.now)
        self._host.all_running()

    def _look(self, record: FailoverRecord, since_ns: int) -> None:
        """Note when sources have emitted all that was due. Look the less often the longer it lasts.

        Entries of the calendar end with their attempt.
        """
        env = self._world.env
        clocked = [one for one in self._world.tasks if isinstance(one, Source) and one.is_clocked]
        if not clocked:
            return
        if not any(one.is_behind for one in clocked):
            record.backlog_gone_ns = env.now
            return
        wait_ns = max(CELL_NS, (env.now - since_ns) // _LOOKS)
        env.call_in(wait_ns, Kind.MEASURE, self._control.entity, self._look, record, since_ns)

    def end(self) -> None:
        """Note what became of the records after each failure."""
        note_latencies(self._control.failovers, self.lateness, self._world.env.now)


def _times(first: bool) -> FailoverTimes:  # noqa: FBT001
    """Return what the parts of a failover take, the first one of a process or a later one."""
    costs = FIRST if first else LATER
    return FailoverTimes(
        report_ns=costs.report_ns, cancel_ns=costs.cancel_ns, restart_ns=costs.restart_ns
    )
