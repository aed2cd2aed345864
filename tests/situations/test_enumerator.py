"""The core of a split enumerator by itself: what it assigns, holds back and keeps."""

from __future__ import annotations

from ckptsim.cores import enumerator as ev
from ckptsim.models.enumerator import EnumeratorEffect, SplitEnumerator


def told(core: SplitEnumerator, *what: ev.EnumeratorEvent) -> list[EnumeratorEffect]:
    """Return the effects of events, in order."""
    return [effect for event in what for effect in core.step(event)]


def begun(*splits: int) -> SplitEnumerator:
    """Return an enumerator of two readers."""
    core = SplitEnumerator(2)
    told(core, ev.Restored(splits))
    return core


def test_readers_get_splits_in_turn_until_there_are_none() -> None:
    """A request gets the next split, and then the end."""
    core = begun(7)
    assert told(core, ev.SplitRequested(1)) == [ev.AssignSplit(1, 7)]
    assert told(core, ev.SplitRequested(0)) == [ev.NoMoreSplits(0)]


def test_a_checkpoint_waits_for_splits_on_their_way() -> None:
    """Its state is kept after their acknowledgements, and nothing is assigned before."""
    core = begun(7, 8)
    told(core, ev.SplitRequested(0))
    assert told(core, ev.CheckpointRequested(1), ev.SplitRequested(1)) == []
    assert told(core, ev.SplitDelivered(0, 7)) == [ev.KeepState(1, (8,))]


def test_a_reader_gets_nothing_between_state_and_snapshot() -> None:
    """A gateway opens with the snapshot of its own reader, or when the checkpoint fails."""
    core = begun(7, 8)
    assert told(core, ev.CheckpointRequested(1)) == [ev.KeepState(1, (7, 8))]
    assert told(core, ev.SplitRequested(0), ev.SplitRequested(1), ev.TriggersSent(1)) == []
    assert told(core, ev.ReaderSnapshotTaken(0, 1)) == [ev.AssignSplit(0, 7)]
    assert told(core, ev.CheckpointAborted(1)) == [ev.AssignSplit(1, 8)]


def test_a_lost_split_fails_its_reader() -> None:
    """The checkpoint that waits for it is not kept."""
    core = begun(7)
    told(core, ev.SplitRequested(0), ev.CheckpointRequested(1))
    assert told(core, ev.SplitLost(0, 7)) == [ev.FailReader(0)]
