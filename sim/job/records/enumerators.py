"""The hosts of split enumerators: events to readers and back, what a checkpoint has of splits.

Each attempt has an enumerator of its own, which begins with the splits that its checkpoint kept.

Source: Apache Flink 1.20.3, OperatorCoordinatorHolder (its checkpoint comes before all triggers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, assert_never

from ckptsim.models import enumerator
from ckptsim.scenarios.dialect import duration_text, listed
from ckptsim.sim.job.records.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.scenarios.job import Vertex
    from ckptsim.sim.job.records.attempt import Attempt
    from ckptsim.sim.job.records.tasks import Source
    from ckptsim.sim.job.records.world import RecordWorld
    from ckptsim.sim.slots.protocols import SplitEnumerator

_PROPERTY = "every_split_has_one_owner"


class EnumeratorHost:
    """The enumerator of one source vertex over all attempts of its job."""

    def __init__(self, world: RecordWorld, vertex: Vertex) -> None:
        self._world = world
        self._env = world.env
        self._name = vertex.name
        self._entity = world.env.entity(f"{vertex.name} enumerator")
        self._core: SplitEnumerator
        self._attempt: Attempt
        self._kept: dict[int, Callable[[], None]] = {}  # what triggers tasks, by checkpoint
        self._sent: dict[int, int] = {}  # splits in all attempts, by subtask
        self._fate: dict[int, str] = {}  # of each split, in words
        self._lost: dict[int, None] = {}  # splits of this attempt

    # Attempts ---------------------------------------------------------------------------------

    def begin(self, attempt: Attempt) -> None:
        """Make the enumerator of an attempt, with the splits that its checkpoint kept."""
        restored, vertex = attempt.restored, attempt.graph.vertex(self._name)
        self._attempt = attempt
        self._kept, self._lost = {}, {}
        splits = tuple(attempt.graph.splits[self._name])
        if restored is not None:
            splits = restored.unassigned.get(self._name, ())
            self._check_owners(splits)
        self._core = self._world.cores.enumerator(vertex.parallelism)
        self._step(enumerator.Restored(splits))

    def request(self, reader: Source) -> None:
        """Send a reader's request for a split."""
        self._send(self._step, enumerator.SplitRequested(reader.subtask))

    def snapshot_taken(self, reader: Source, checkpoint: int) -> None:
        """Say that a reader has taken its snapshot."""
        taken = enumerator.ReaderSnapshotTaken(reader.subtask, checkpoint)
        self._send(self._step, taken)

    # Checkpoints ------------------------------------------------------------------------------

    def prepare(self, checkpoint: int, then: Callable[[], None]) -> None:
        """Ask for the enumerator's state, and trigger tasks once it is kept."""
        self._kept[checkpoint] = then
        self._step(enumerator.CheckpointRequested(checkpoint))

    def completed(self, checkpoint: int, *, notified: bool) -> None:
        """Take no note of a completion, since the readers keep their splits."""

    def failed(self, checkpoint: int) -> None:
        """Say that a checkpoint has failed."""
        self._kept.pop(checkpoint, None)
        if self._attempt.alive:
            self._step(enumerator.CheckpointAborted(checkpoint))

    # What the enumerator decides ----------------------------------------------------------------

    def _step(self, event: enumerator.EnumeratorEvent) -> None:
        for effect in self._core.step(event):
            self._carry_out(effect)

    def _carry_out(self, effect: enumerator.EnumeratorEffect) -> None:
        match effect:
            case enumerator.AssignSplit(reader, split):
                self._assign(reader, split)
            case enumerator.NoMoreSplits(reader):
                self._env.trace.record("no_more_splits", self._entity, reader)
                self._send(self._reader(reader).end_splits)
            case enumerator.KeepState(checkpoint, splits):
                self._env.trace.record("splits_kept", self._entity, checkpoint, len(splits))
                self._world.coordinator.records[checkpoint].unassigned[self._name] = splits
                then = self._kept.pop(checkpoint, None)
                if then is not None:
                    then()
                    self._step(enumerator.TriggersSent(checkpoint))
            case enumerator.FailReader(reader):
                number, cause = self._reader(reader).number, f"{self._name}/{reader} lacks a split"
                self._send(self._world.control.crash, (number,), cause)
            case _:
                assert_never(effect)

    def _assign(self, reader: int, split: int) -> None:
        self._sent[reader] = self._sent.get(reader, 0) + 1
        lost_ns = self._world.faults.lost_split(self._reader(reader), self._sent[reader])
        place = self._place(split)
        self._env.trace.record("split_assigned", self._entity, place, reader, lost_ns is not None)
        says = f"it was sent to {self._name}/{reader} at {duration_text(self._env.now)}"
        self._fate[split] = says if lost_ns is None else f"{says}, and got lost"
        if lost_ns is None:
            self._send(self._deliver, reader, split)
        else:
            self._lost[split] = None
            self._env.goals.reach("split_lost_on_its_way")
            self._later(lost_ns, self._step, enumerator.SplitLost(reader, split))

    def _deliver(self, reader: int, split: int) -> None:
        source = self._reader(reader)
        source.take_split(self._attempt.splits.made(source.spec.vertex, split))
        self._send(self._step, enumerator.SplitDelivered(reader, split))

    def _reader(self, subtask: int) -> Source:
        number = self._attempt.graph.tasks_of(self._name)[subtask]
        found: Any = self._attempt.tasks[number]
        source: Source = found
        return source

    def _send(self, call: Callable[..., None], *arguments: Any) -> None:
        self._later(self._world.messages.delay_ns("enumerator"), call, *arguments)

    def _later(self, delay_ns: int, call: Callable[..., None], *arguments: Any) -> None:
        self._attempt.later(delay_ns, Kind.MESSAGE, self._entity, call, *arguments)

    # Ground truth -------------------------------------------------------------------------------

    def _place(self, split: int) -> int:
        return split - self._attempt.graph.splits[self._name].start

    def _check_owners(self, unassigned: tuple[int, ...]) -> None:
        """Check that the restored checkpoint has each unread split once."""
        restored = self._attempt.restored
        for split in self._attempt.graph.splits[self._name] if restored is not None else ():
            owners = ["the enumerator"] * unassigned.count(split)
            parts = restored.snapshots_of(self._name) if restored is not None else []
            owners += [
                f"{self._name}/{subtask}"
                for subtask, part in enumerate(parts)
                if part is not None and split in part.splits
            ]
            most = self._attempt.splits.made(self._attempt.graph.vertex(self._name), split).most
            read = restored.positions.get(split, 0) if restored is not None else 0
            is_cut = self._world.job.ending.stop_at_ns is not None  # it leaves splits unread
            if len(owners) == 1 or (not owners and (is_cut or read == most)):
                continue
            says = f"the job restarts from checkpoint {self._attempt.restored_id}, which has split "
            says += f"{self._place(split)} of {self._name} with {listed(owners) or 'nobody'}: "
            says += self._fate.get(split, "it was assigned before")
            self._world.violate(_PROPERTY, says, self._attempt.restored_id)

    def check_end(self, *, stalled: bool = False) -> None:
        """Check that readers have read every split, or in a stalled job every one that got lost."""
        read = [split.number for split in self._splits() if split.is_read]
        splits = self._attempt.graph.splits[self._name]
        is_cut = self._world.coordinator.stop_completed or self._began_cut
        for split in splits if not is_cut else ():
            if split not in read and (not stalled or split in self._lost):
                says = f"split {self._place(split)} of {self._name} was never read: "
                says += self._fate.get(split, "it was never assigned")
                self._world.violate(_PROPERTY, says)

    @property
    def _began_cut(self) -> bool:
        """Whether a stop had ended all readers at the checkpoint that the attempt began from."""
        restored = self._attempt.restored
        if restored is None or self._world.job.ending.stop_at_ns is None:
            return False
        parts = restored.snapshots_of(self._name)
        return all(part is None or part.exhausted for part in parts)

    def _splits(self) -> Iterator[Any]:
        for subtask in range(len(self._attempt.graph.tasks_of(self._name))):
            yield from self._reader(subtask).read_splits


def enumerators(world: RecordWorld) -> dict[str, EnumeratorHost]:
    """Return the hosts of the enumerators of a job, by source vertex."""
    found = [vertex for vertex in world.job.vertices if vertex.splits is not None]
    return {vertex.name: EnumeratorHost(world, vertex) for vertex in found}
