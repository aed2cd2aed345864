"""The log that a source reads: its owner cuts it by what the source acknowledges.

The owner outlives attempts of the job.  A source that begins before the cut has lost records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models import acknowledger
from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.job.records.kinds import Kind

if TYPE_CHECKING:
    from ckptsim.models.acknowledger import AcknowledgerEvent, Position
    from ckptsim.sim.job.records.tasks.source import Source
    from ckptsim.sim.job.splits import Split


class SourceLog:
    """The log of one subtask of a source, with the core that acknowledges it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._world = source.attempt.world
        self._core = self._world.cores.acknowledger()
        self.step(acknowledger.Restored(self._positions()))

    def step(self, event: AcknowledgerEvent) -> None:
        """Give the core an event, and send what it acknowledges."""
        env = self._source.env
        for effect in self._core.step(event):
            one, delay_ns = effect.position, self._world.messages.delay_ns("log")
            place, entity = self._place(one.split), self._source.entity
            env.trace.record("log_acknowledged", entity, place, one.records)
            env.call_in(delay_ns, Kind.MESSAGE, entity, self._cut, one)

    def notified(self, event: AcknowledgerEvent) -> None:
        """Give the core an event, after the positions that are read by now."""
        self.step(acknowledger.RecordsRead(self._positions()))
        self.step(event)

    def snapshot_taken(self, checkpoint: int) -> None:
        """Say which positions a snapshot has."""
        self.notified(acknowledger.SnapshotTaken(checkpoint, self._positions()))

    def _positions(self) -> tuple[Position, ...]:
        counts = self._source.held_splits.items()
        return tuple(acknowledger.Position(split, records) for split, records in counts)

    def _cut(self, position: Position) -> None:
        """Cut the log, as its owner does at once."""
        cuts = self._world.log_cuts
        if position.records > cuts.get(position.split, (0, 0))[0]:
            cuts[position.split] = (position.records, self._source.env.now)

    def _place(self, split: int) -> int:
        return split - self._source.attempt.graph.splits[self._source.spec.vertex.name].start

    def open(self, split: Split) -> None:
        """Begin to read a split, after the records that its log lacks."""
        cut, cut_ns = self._world.log_cuts.get(split.number, (0, 0))
        if split.over or split.position >= cut:
            return
        begins = self._source.attempt.restored_id
        says = f"{cut - split.position} records of split {self._place(split.number)} of "
        says += f"{self._source.spec.vertex.name} are lost: its log is cut before {cut} since "
        says += f"{duration_text(cut_ns)}, and the job restarts from "
        says += "nothing" if begins is None else f"checkpoint {begins}"
        self._world.violate("logs_outlast_checkpoints", f"{says}, at {split.position}", begins)
        split.position = cut
