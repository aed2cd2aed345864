"""The core that acknowledges a log by itself: positions of complete checkpoints, once each."""

from __future__ import annotations

from ckptsim.cores import acknowledger as ev
from ckptsim.models.acknowledger import Acknowledger


def at(records: int) -> ev.Position:
    """Return a position in the only split."""
    return ev.Position(0, records)


def test_positions_of_complete_checkpoints_are_acknowledged() -> None:
    """Neither a read nor a snapshot nor a failed checkpoint is enough."""
    core = Acknowledger()
    for event in (ev.Restored((at(0),)), ev.RecordsRead((at(1),)), ev.SnapshotTaken(1, (at(3),))):
        assert core.step(event) == []
    core.step(ev.SnapshotTaken(2, (at(5),)))
    assert core.step(ev.CheckpointAborted(2)) == []
    assert core.step(ev.CheckpointCompleted(2)) == []
    core.step(ev.SnapshotTaken(3, (at(6),)))
    assert core.step(ev.CheckpointCompleted(3)) == [ev.Acknowledge(at(6))]


def test_an_older_notification_changes_nothing() -> None:
    """Notifications can come late and twice."""
    core = Acknowledger()
    core.step(ev.SnapshotTaken(1, (at(3),)))
    core.step(ev.SnapshotTaken(2, (at(5),)))
    assert core.step(ev.CheckpointCompleted(2)) == [ev.Acknowledge(at(5))]
    assert core.step(ev.CheckpointCompleted(1)) == []
