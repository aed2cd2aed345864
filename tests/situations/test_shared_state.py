"""The registry of shared state by itself: files go with the last checkpoint that names them."""

from __future__ import annotations

from ckptsim.cores import shared_state as ev
from ckptsim.models.shared_state import SharedStateRegistry


def test_a_file_goes_once_no_retained_checkpoint_names_it() -> None:
    """Files that a newer checkpoint has named outlive the one that uploaded them."""
    core = SharedStateRegistry()
    for number, files in ((1, ("a", "b")), (2, ("a", "c")), (3, ("c",))):
        assert core.step(ev.PartArrived(number, 0, files)) == []
        assert core.step(ev.CheckpointCompleted(number, savepoint=False)) == []
    assert core.step(ev.CheckpointSubsumed(1)) == [ev.DeleteFile("b")]
    assert core.step(ev.CheckpointSubsumed(2)) == [ev.DeleteFile("a")]


def test_files_of_an_aborted_checkpoint_may_be_named_again() -> None:
    """They go with the next checkpoint that is subsumed, if no one has named them by then."""
    core = SharedStateRegistry()
    core.step(ev.PartArrived(1, 0, ("a",)))
    core.step(ev.CheckpointCompleted(1, savepoint=False))
    core.step(ev.PartArrived(2, 0, ("a", "b", "c")))
    assert core.step(ev.CheckpointAborted(2)) == []
    core.step(ev.PartArrived(3, 0, ("a", "b")))
    core.step(ev.CheckpointCompleted(3, savepoint=False))
    assert core.step(ev.CheckpointSubsumed(1)) == [ev.DeleteFile("c")]


def test_a_savepoint_takes_no_place() -> None:
    """Neither its completion nor its end deletes a file of a checkpoint."""
    core = SharedStateRegistry()
    core.step(ev.PartArrived(1, 0, ("a",)))
    core.step(ev.CheckpointCompleted(1, savepoint=False))
    assert core.step(ev.CheckpointCompleted(2, savepoint=True)) == []
    assert core.step(ev.CheckpointSubsumed(2)) == []


def test_a_new_job_manager_knows_the_files_of_retained_checkpoints() -> None:
    """A late part of an older checkpoint does not make a file younger or older."""
    core = SharedStateRegistry()
    core.step(ev.Restored((ev.RetainedCheckpoint(4, ("a",)), ev.RetainedCheckpoint(5, ("b",)))))
    core.step(ev.PartArrived(3, 0, ("b",)))
    assert core.step(ev.CheckpointSubsumed(4)) == [ev.DeleteFile("a")]
