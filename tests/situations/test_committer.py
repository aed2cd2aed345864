"""The core of a global committer by itself: when it persists, acknowledges and commits."""

from __future__ import annotations

import pytest

from ckptsim.cores import ProtocolError
from ckptsim.cores import committer as ev
from ckptsim.models.committer import CommitterEffect, GlobalCommitter, Row


def told(core: GlobalCommitter, *what: ev.CommitterEvent) -> list[CommitterEffect]:
    """Return the effects of events, in order."""
    return [effect for event in what for effect in core.step(event)]


def summary(checkpoint: int, writer: int, count: int, writers: int = 2) -> ev.SummaryArrived:
    """Return a summary of one of two writers."""
    return ev.SummaryArrived(checkpoint, writer, writers, count)


def test_a_whole_checkpoint_is_persisted_acknowledged_and_committed_when_complete() -> None:
    """Nothing is persisted before all that the summaries count has come."""
    core = GlobalCommitter(2)
    assert told(core, summary(1, 0, 2), ev.CommittableArrived(1, 0, "a"), summary(1, 1, 0)) == []
    assert told(core, ev.CommittableArrived(1, 0, "b")) == [
        ev.Persist(1, ("a", "b")),
        ev.Acknowledge(1),
    ]
    assert told(core, ev.CheckpointCompleted(1)) == [ev.Commit(1, ("a", "b"))]
    assert told(core, ev.CommitDone(1)) == []


def test_a_checkpoint_without_files_leaves_a_row() -> None:
    """Writers that restart find the same point to rewind to, whether they were acknowledged."""
    core = GlobalCommitter(2)
    empty = told(core, summary(1, 0, 0), summary(1, 1, 0))
    assert empty == [ev.Persist(1, ()), ev.Acknowledge(1)]
    after = GlobalCommitter(2)
    assert told(after, ev.Recovered(1, (Row(1, ()),))) == [ev.Commit(1, ())]
    assert told(after, ev.WriterReady(1)) == [ev.RewindTo(1, 1)]


def test_rows_after_the_restored_checkpoint_are_forgotten() -> None:
    """Their records are written again, into other files."""
    core = GlobalCommitter(2)
    rows = (Row(1, ("a",), committed=True), Row(2, ("b",)), Row(3, ("c",)))
    assert told(core, ev.Recovered(2, rows)) == [ev.Forget(3), ev.Commit(2, ("b",))]
    assert told(core, ev.CommitDone(2)) == [ev.Forget(1)]
    assert told(GlobalCommitter(2), ev.Recovered(None, rows)) == [ev.Forget(n) for n in (1, 2, 3)]


def test_a_failed_checkpoint_goes_with_the_next_one() -> None:
    """Its files are committed with the next, and it keeps none waiting."""
    core = GlobalCommitter(2)
    told(core, summary(1, 0, 1), ev.CommittableArrived(1, 0, "a"), summary(2, 0, 0))
    assert told(core, summary(2, 1, 1), ev.CommittableArrived(2, 1, "b")) == []
    assert told(core, ev.CheckpointAborted(1)) == [ev.Persist(2, ("a", "b")), ev.Acknowledge(2)]


def test_commits_come_one_after_the_other_the_oldest_first() -> None:
    """A newer checkpoint waits for the end of the commit before it."""
    core = GlobalCommitter(1)
    told(core, summary(1, 0, 0, 1), summary(2, 0, 0, 1))
    assert told(core, ev.CheckpointCompleted(2)) == [ev.Commit(1, ())]
    assert told(core, ev.CommitDone(1)) == [ev.Commit(2, ())]
    assert told(core, ev.CommitDone(2)) == [ev.Forget(1)]


def test_the_number_of_writers_is_that_of_the_checkpoint() -> None:
    """Files of old writers are whole after a rescale, and new ones wait for all of today's."""
    core = GlobalCommitter(3)
    told(core, ev.Recovered(1, ()), summary(1, 0, 0))
    assert told(core, summary(1, 1, 0))[0] == ev.Persist(1, ())
    assert told(core, summary(2, 0, 0, 3), summary(2, 1, 0, 3)) == []


def test_an_end_of_no_commit_is_refused() -> None:
    """Nothing has changed after the error."""
    core = GlobalCommitter(1)
    with pytest.raises(ProtocolError):
        core.step(ev.CommitDone(1))
    assert told(core, summary(1, 0, 0, 1))[0] == ev.Persist(1, ())
