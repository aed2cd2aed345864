"""Files of incremental checkpoints on records: what parts name, and what the registry deletes.

A snapshot flushes the records since the one before into a new file.  Some flushes later the files
are compacted into one.  A part uploads its new files, and names others that are there already.

Source: Apache Flink 1.20.3, RocksIncrementalSnapshotStrategy, FsStateChangelogWriter (which names
what it uploaded for an aborted checkpoint), level0_file_num_compaction_trigger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models import shared_state
from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.job.events import Listener, of_job

if TYPE_CHECKING:
    from ckptsim.models.shared_state import SharedStateEvent
    from ckptsim.sim.job.control.checkpoint import JobCheckpoint
    from ckptsim.sim.job.records.state.snapshot import TaskSnapshot
    from ckptsim.sim.job.records.tasks import Task
    from ckptsim.sim.job.records.world import RecordWorld

_COMPACTED_FLUSHES = 4
_BECAUSE = {
    shared_state.CheckpointCompleted: "completed",
    shared_state.CheckpointAborted: "failed",
    shared_state.CheckpointSubsumed: "was subsumed",
    shared_state.PartArrived: "was acknowledged by a task",
}


class TaskFiles:
    """The files of one task's state in one attempt."""

    def __init__(self, task: Task, restored: TaskSnapshot | None) -> None:
        # Files of another run of the job are left to it.
        is_own = restored is not None and task.attempt.number > 1
        self._live = list(restored.files) if restored is not None and is_own else []
        self._task = task
        self._flushed = len(task.state) if self._live else 0  # records of the state in files
        self._flushes = 0

    def capture(self, checkpoint: int) -> tuple[str, ...]:
        """Return the names of the files of a part. A savepoint has the state to itself."""
        task = self._task
        world = task.attempt.world
        shared = world.shared_files
        if shared is None or world.coordinator.records[checkpoint].request.savepoint:
            return ()
        if len(task.state) > self._flushed:
            self._flushed, self._flushes = len(task.state), self._flushes + 1
            if self._flushes % _COMPACTED_FLUSHES == 0:
                self._live.clear()
            self._live.append(shared.new_name(task.name))
        return tuple(self._live)


class SharedFiles(Listener):
    """The storage of a job's incremental checkpoints, with the registry that deletes there.

    The storage outlives attempts. Each job manager has a registry of its own.
    """

    def __init__(self, world: RecordWorld) -> None:
        self._world = world
        self._entity = world.env.entity("shared state")
        self._deleted: dict[str, str] = {}  # how each file went
        self._names: dict[str, int] = {}
        self._core = world.cores.shared_state()
        world.events.attach(self)

    def new_name(self, place: str) -> str:
        """Return the name of a file that a task uploads."""
        self._names[place] = self._names.get(place, 0) + 1
        return f"{place}-{self._names[place]}"

    def part_arrived(self, event: of_job.PartArrived) -> None:
        """Name the files of a part, also of a checkpoint that has ended."""
        files = event.part.snapshot.files
        part = shared_state.PartArrived(event.record.checkpoint, event.task.number, files)
        self._step(part, event.record.checkpoint)

    def completed(self, event: of_job.CheckpointCompleted) -> None:
        """Say that a checkpoint is complete."""
        number, savepoint = event.record.checkpoint, event.record.request.savepoint
        self._step(shared_state.CheckpointCompleted(number, savepoint), number)

    def failed(self, event: of_job.CheckpointFailed) -> None:
        """Say that a checkpoint has failed."""
        number = event.record.checkpoint
        self._step(shared_state.CheckpointAborted(number), number)

    def discarded(self, event: of_job.CheckpointDiscarded) -> None:
        """Say that a complete checkpoint is retained no longer."""
        number = event.checkpoint
        if self._world.coordinator.records[number].status == "completed":
            self._step(shared_state.CheckpointSubsumed(number), number)

    def begin_anew(self, event: of_job.JobManagerLost | of_job.JobSubmitted) -> None:
        """Begin anew with the retained checkpoints. Their files are the new job's own."""
        del event
        host = self._world.coordinator
        held = [host.completed[one] for one in host.core.completed if one in host.completed]
        self._core = self._world.cores.shared_state()
        retained = (
            shared_state.RetainedCheckpoint(one.checkpoint_id, files_of(one)) for one in held
        )
        self._step(shared_state.Restored(tuple(retained)), 0)

    def _step(self, event: SharedStateEvent, checkpoint: int) -> None:
        env = self._world.env
        for effect in self._core.step(event):
            because = _BECAUSE.get(type(event), "was restored")
            says = f"at {duration_text(env.now)}, when checkpoint {checkpoint} {because}"
            env.trace.record("file_deleted", self._entity, effect.name, checkpoint)
            self._deleted.setdefault(effect.name, says)

    # Ground truth -------------------------------------------------------------------------------

    def restored(self, event: of_job.AttemptBegun) -> None:
        """Check that a restore finds every file that its checkpoint names."""
        self._check(event.restored, "the job restarts")

    def check_end(self) -> None:
        """Check that a restart from the newest checkpoint would find its files."""
        self._check(self._world.control.newest(), "a restart would begin")

    def _check(self, checkpoint: JobCheckpoint | None, says: str) -> None:
        missing = [name for name in files_of(checkpoint) if name in self._deleted]
        if checkpoint is not None and missing:
            count = f" (files missing in all: {len(missing)})" if len(missing) > 1 else ""
            says = f"{says} from checkpoint {checkpoint.checkpoint_id}, which names file "
            says += f"{missing[0]}: it was deleted {self._deleted[missing[0]]}{count}"
            self._world.violate("restores_find_their_files", says, checkpoint.checkpoint_id)


def files_of(checkpoint: JobCheckpoint | None) -> tuple[str, ...]:
    """Return the files that a checkpoint names, by task."""
    parts = [] if checkpoint is None else [checkpoint.tasks[n] for n in sorted(checkpoint.tasks)]
    return tuple(name for part in parts for name in part.files)
