"""A writer of a sink with a global committer: it writes files and hands them over.

A writer keeps what it pre-committed until the committer has acknowledged it.  Its snapshot holds
what it keeps.  A restored writer sends it again, from the point that the committer names.

Source: Apache Flink 2.0, SinkWriterOperator (a summary, then committables).  RisingWave, the log
store of a sink, which a writer truncates when its coordinator has acknowledged an epoch.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from ckptsim.scenarios.job.faults import DelayPrecommit
from ckptsim.sim.job.control.sinks.sink import SinkWriter

if TYPE_CHECKING:
    from ckptsim.sim.job.control.sinks.external import Transaction
    from ckptsim.sim.job.records.committers import CommitterHost
    from ckptsim.sim.job.records.tasks.task import Task


class CoordinatedWriter(SinkWriter):
    """Writes files, each a transaction, for one subtask."""

    def __init__(self, task: Task, host: CommitterHost) -> None:
        super().__init__(task.attempt.world.control.sinks, task.place)
        self._task = task
        self._host = host
        self._roll_records = task.spec.vertex.file_records
        self._rolled: list[str] = []
        self._kept: dict[int, list[str]] = {}  # files that are not acknowledged, by checkpoint

    def recover_and_commit(self, name: str) -> None:
        """Keep what the restored state has: the committer commits it."""
        number = self.external.transactions[name].checkpoint_id or 0
        self._kept.setdefault(number, []).append(name)

    def begin(self) -> None:
        """Send again what the committer lacks, and open the first file."""
        rewind = self._host.register(self._task.subtask, self)
        self.acknowledged(rewind)
        for number in sorted(self._kept):
            files = sorted(map(self.external.transactions.__getitem__, self._kept[number]), key=_of)
            for _, own in groupby(files, key=_of):
                self._hand_over(list(own), again=True)
        super().begin()

    def write(self, record: int) -> None:
        """Write a record, and roll the file where it is full."""
        super().write(record)
        most = self._roll_records
        if self._open is None or most is None:
            return
        if self.external.transactions[self._open].count >= most:
            self._rolled.append(self._open)
            self._open = self._begin()

    def precommit(self, checkpoint_id: int, *, open_successor: bool) -> None:
        """Close the files of a checkpoint."""
        names, self._rolled = self._rolled, []
        for name in names:
            self.external.precommit(name, checkpoint_id)
        if self._open is not None:
            names.append(self._open)
        self._kept[checkpoint_id] = names
        super().precommit(checkpoint_id, open_successor=open_successor)

    def snapshot(self, checkpoint_id: int) -> None:
        """Hand the files of a checkpoint over, or say that there are none."""
        names = self._kept.setdefault(checkpoint_id, [])
        if not names:  # its data has ended
            names.append(self._begin())
            self.external.precommit(names[0], checkpoint_id)
        places = self._task.attempt.world.coordinator.records[checkpoint_id].places.values()
        # Those that have finished take no part.
        writers = sum(name == self._task.place[0] for name, _ in places)
        files = [self.external.transactions[name] for name in names]
        for one in files:
            one.writers = writers
        faults = self._task.attempt.faults
        late_ns = faults.delay_ns(DelayPrecommit, self._task, checkpoint_id)
        self._hand_over(files, late_ns=late_ns)
        self._host.passed(checkpoint_id, self._task.subtask, writers)

    def _hand_over(
        self, files: list[Transaction], *, late_ns: int = 0, again: bool = False
    ) -> None:
        for one in files:
            if not one.count:  # of an empty file there is nothing to commit
                self.external.abort(one.name)
        self._host.hand_over(self._task.subtask, files, late_ns=late_ns, again=again)

    def commit(self, checkpoints: tuple[int, ...]) -> None:
        """Take note of a completion, which the committer acts on."""
        for number in checkpoints:
            self._ended(number, "commits")

    def acknowledged(self, checkpoint: int) -> None:
        """Drop what the committer has persisted."""
        self._kept = {n: names for n, names in self._kept.items() if n > checkpoint}

    @property
    def pending(self) -> tuple[str, ...]:
        """Return the files that are not acknowledged, oldest first."""
        return tuple(name for number in sorted(self._kept) for name in self._kept[number])


def _of(file: Transaction) -> int:
    return file.subtask


def coordinated_writer(task: Task) -> CoordinatedWriter | None:
    """Return the writer of a sink's subtask, None of one that commits for itself."""
    host = task.attempt.world.control.sinks.committers.get(task.place[0])
    return None if host is None else CoordinatedWriter(task, host)
