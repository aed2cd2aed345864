"""The host of a sink's global committer: messages, rows that outlive it, commits of the table.

Each attempt of the job has a committer of its own.  Messages of an attempt that is over are
dropped.  Rows and table stay.

Source: RisingWave, sink coordinator in the meta node.  Apache Flink 2.0, GlobalCommitterOperator.
Apache Iceberg, `flink.max-committed-checkpoint-id` (a table skips what it has).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from ckptsim.models import committer
from ckptsim.scenarios.dialect import listed
from ckptsim.sim.job.control.sinks.external import CommitterStore, Status
from ckptsim.sim.job.records.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.control.sinks.external import ExternalSystem, Transaction
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.tasks.coordinated import CoordinatedWriter
    from ckptsim.sim.job.records.world import RecordWorld
    from ckptsim.sim.slots.protocols import GlobalCommitter

_PROPERTY = "table_has_completed_checkpoints"


class CommitterHost:
    """The global committer of one sink vertex over all attempts of its job."""

    def __init__(self, world: RecordWorld, vertex: Vertex) -> None:
        self.external: ExternalSystem = world.external
        self.store = world.external.committers.setdefault(vertex.name, CommitterStore())
        self._world = world
        self._env = world.env
        self._vertex = vertex.name
        self._entity = world.env.entity(f"{vertex.name} committer")
        self._core: GlobalCommitter
        self._attempt: Attempt
        self._settled: Callable[[], None] | None = None
        self._notified = 0
        self._fate: dict[str, str] = {}  # of each file that has come
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._under_way = 0
        self._writers: dict[int, CoordinatedWriter] = {}
        self._rewinds: dict[int, int] = {}
        self._arrives_ns: dict[int, int] = {}  # the latest message of each subtask
        self._passed: dict[int, list[int]] = {}
        self._aborted: dict[int, None] = {}
        self._sent: dict[int, tuple[int, dict[int, None]]] = {}  # writers in all, and those heard

    # Attempts ---------------------------------------------------------------------------------

    def begin(self, attempt: Attempt) -> None:
        """Make the committer of an attempt."""
        self._attempt, restored = attempt, attempt.restored_id
        self._begin_anew()
        for one in self._files():
            is_open = one.status in (Status.OPEN, Status.PRECOMMITTED)
            if is_open and (one.checkpoint_id is None or one.checkpoint_id > (restored or 0)):
                self.store.rewound[one.name] = restored
        self._notified = max(self._notified, restored or 0)
        writers = attempt.graph.vertex(self._vertex).parallelism
        self._core = self._world.cores.global_committer(writers)
        rows = tuple(row for _, row in sorted(self.store.rows.items()))
        self._step(committer.Recovered(restored, rows))

    def register(self, subtask: int, writer: CoordinatedWriter) -> int:
        """Take a writer of the attempt, and return the checkpoint after which it sends again."""
        self._writers[subtask] = writer
        self._step(committer.WriterReady(subtask))
        return self._rewinds.get(subtask, 0)

    def when_settled(self, then: Callable[[], None]) -> None:
        """Call a function once no message and no commit is under way."""
        self._settled = then
        self._look()

    def _look(self) -> None:
        if self._settled is not None and not self._under_way:
            then, self._settled = self._settled, None
            then()

    # What writers and the job say ---------------------------------------------------------------

    def hand_over(
        self, subtask: int, files: list[Transaction], *, late_ns: int = 0, again: bool = False
    ) -> None:
        """Send what a writer pre-committed for a checkpoint, perhaps one empty file.

        again: after a restart, when the checkpoint may have failed before.
        """
        first = files[0]
        number, writer = first.checkpoint_id or 0, first.subtask
        if again and number not in self.store.completed:
            self._abort_again(number)
        names = [one.name for one in files if one.count]
        self._env.trace.record("handed_over", self._env.entity(first.task), number, len(names))
        said: list[Any] = [committer.SummaryArrived(number, writer, first.writers, len(names))]
        said += [committer.CommittableArrived(number, writer, name) for name in names]
        for event in said:
            now_ns, before_ns = self._env.now, self._arrives_ns.get(subtask, -1)
            at_ns = max(now_ns + self._delay_ns() + late_ns, before_ns + 1)
            self._arrives_ns[subtask] = at_ns
            self._later(at_ns - now_ns, self._arrived, event)

    def passed(self, checkpoint: int, subtask: int, writers: int) -> None:
        """Note that a writer has the barrier. The committer takes its snapshot after the last."""
        passed = self._passed.setdefault(checkpoint, [])
        passed.append(subtask)
        if len(passed) == writers:
            self._later(self._delay_ns(), self._take_snapshot, checkpoint)

    def prepare(self, checkpoint: int, then: Callable[[], None]) -> None:
        """Let the tasks of a checkpoint be triggered at once."""
        del checkpoint
        then()

    def completed(self, checkpoint: int, *, notified: bool) -> None:
        """Take note of a complete checkpoint, and tell the committer where tasks are notified."""
        self.store.completed[checkpoint] = None
        if notified:
            self._notified = max(self._notified, checkpoint)
            self._later(self._delay_ns(), self._complete, checkpoint)

    def failed(self, checkpoint: int) -> None:
        """Say that a checkpoint has failed."""
        self._aborted[checkpoint] = None
        self._later(self._delay_ns(), self._step, committer.CheckpointAborted(checkpoint))

    def _take_snapshot(self, checkpoint: int) -> None:
        if self._passed.pop(checkpoint, None) is not None:
            self._step(committer.SnapshotTaken(checkpoint))

    def _complete(self, checkpoint: int) -> None:
        self._take_snapshot(checkpoint)  # no checkpoint is complete without it
        self._step(committer.CheckpointCompleted(checkpoint))

    def _abort_again(self, checkpoint: int) -> None:
        """Say to the committer of this attempt that a checkpoint of one before has failed."""
        if checkpoint not in self._aborted:
            self._aborted[checkpoint] = None
            self._step(committer.CheckpointAborted(checkpoint))

    def _arrived(self, event: committer.CommitterEvent) -> None:
        if isinstance(event, committer.SummaryArrived):
            heard = self._sent.setdefault(event.checkpoint, (event.writers, {}))
            heard[1][event.writer] = None
        elif isinstance(event, committer.CommittableArrived):
            self._fate.setdefault(event.name, "all writers have sent theirs, and no row has it")
        self._step(event)

    def _later(self, delay_ns: int, call: Callable[..., None], *arguments: Any) -> None:
        """Call a function later, unless the attempt has failed by then."""
        self._under_way += 1
        self._attempt.later(delay_ns, Kind.MESSAGE, self._entity, self._arrive, call, *arguments)

    def _arrive(self, call: Callable[..., None], *arguments: Any) -> None:
        self._under_way -= 1
        call(*arguments)
        self._look()

    def _delay_ns(self) -> int:
        return self._world.messages.delay_ns("committer")

    # What the committer decides -----------------------------------------------------------------

    def _step(self, event: committer.CommitterEvent) -> None:
        for effect in self._core.step(event):
            self._carry_out(effect)

    def _carry_out(self, effect: committer.CommitterEffect) -> None:
        store, record = self.store, self._env.trace.record
        match effect:
            case committer.Persist(checkpoint, names):
                record("row_persisted", self._entity, checkpoint, len(names))
                before = store.rows.get(checkpoint, committer.Row(checkpoint, ()))
                gone = f"the row of checkpoint {checkpoint} had it, and another took its place"
                self._fate.update(dict.fromkeys(before.committables, gone))
                self._fate.update(dict.fromkeys(names, f"its row {checkpoint} is not committed"))
                store.rows[checkpoint] = committer.Row(checkpoint, names)
            case committer.Forget(checkpoint):
                store.forget(checkpoint)
            case committer.Acknowledge(checkpoint):
                record("row_acknowledged", self._entity, checkpoint)
                for writer in self._writers.values():
                    self._later(self._delay_ns(), writer.acknowledged, checkpoint)
            case committer.RewindTo(writer, checkpoint):
                record("rewinds", self._entity, writer, checkpoint)
                self._rewinds[writer] = checkpoint
            case committer.Commit(checkpoint, names):
                record("committed_together", self._entity, checkpoint, len(names))
                for name in sorted(names, key=_age):  # one step, in which no order is seen
                    self._commit(checkpoint, name)
                self._later(self._delay_ns(), self._done, checkpoint)
            case _:
                assert_never(effect)

    def _commit(self, checkpoint: int, name: str) -> None:
        one = self.external.transactions.get(name)
        if one is None or one.checkpoint_id is None:
            says = (
                f"the commit of checkpoint {checkpoint} has {name}, which no writer pre-committed"
            )
            self._world.violate(_PROPERTY, says)
            return
        if one.status is Status.COMMITTED:
            self._env.goals.reach("committed_to_the_table_again")
            return
        if name in self.store.rewound:
            begun = self.store.rewound[name]
            says = f"{one.count} records are in the table that are written again: {name} is of "
            says += f"checkpoint {one.checkpoint_id}, and the job has restarted from "
            says += "nothing" if begun is None else f"checkpoint {begun}"
            self._world.violate(_PROPERTY, says)
        self._world.control.sinks.check_commit(one.checkpoint_id, name)
        self.external.commit(name)

    def _done(self, checkpoint: int) -> None:
        row = self.store.rows.get(checkpoint)
        if row is not None:
            self.store.rows[checkpoint] = replace(row, committed=True)
        self._step(committer.CommitDone(checkpoint))

    # Ground truth -------------------------------------------------------------------------------

    def check_end(self) -> None:
        """Check, when a job has ended, that the table has all of its completed checkpoints."""
        missing = [
            one
            for one in self._files()
            if one.count
            and one.status is not Status.COMMITTED
            and one.name not in self.store.rewound
            if one.checkpoint_id is not None and one.checkpoint_id <= self._notified
        ]
        if not missing:
            return
        files = listed([one.name for one in missing[:3]])
        says = f"checkpoint {missing[0].checkpoint_id} is complete, and its file {missing[0].name} "
        says += f"is not in the table: {self._why(missing[0].name)} (records missing in all: "
        says += f"{sum(one.count for one in missing)}, in {files})"
        self._world.violate(_PROPERTY, says)

    def _why(self, name: str) -> str:
        """Say which checkpoint lacks writers, or else what became of a file."""
        for number, (writers, heard) in sorted(self._sent.items()):
            if len(heard) < writers and number not in self._aborted:
                there = listed([f"{self._vertex}/{one}" for one in sorted(heard)])
                return f"of checkpoint {number} only {there} of {writers} writers sent a summary"
        return self._fate.get(name, "the committer never got it")

    def _files(self) -> list[Transaction]:
        return [one for one in self.external.transactions.values() if one.sink == self._vertex]


def _age(name: str) -> tuple[int, str]:
    """Return a key by which files are in the order in which they were begun."""
    number = name.rpartition("#")[2]
    return (int(number) if number.isdigit() else 0, name)


def committers(world: RecordWorld) -> dict[str, CommitterHost]:
    """Return the hosts of the global committers of a job, by sink vertex."""
    found = [vertex for vertex in world.job.vertices if vertex.global_committer]
    return {vertex.name: CommitterHost(world, vertex) for vertex in found}
