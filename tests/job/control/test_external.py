"""The external system that sinks write to, alone."""

from __future__ import annotations

from ckptsim.models.lifecycle import SinkState
from ckptsim.sim.job.control.sinks.external import ExternalSystem, Status


def _told(name: str, says: str) -> None:
    raise AssertionError(f"{name}: {says}")


def test_fork_takes_back_what_a_restore_of_an_older_checkpoint_aborted() -> None:
    """Seen from checkpoint 2, its transaction is pre-committed, though 1 was restored."""
    system = ExternalSystem(_told)
    name = system.begin("sink/0", "sink", attempt=1).name
    system.precommit(name, 2)
    system.recover_and_abort(name)
    pending = SinkState(pending=(name,), open=None)
    fork = system.fork([pending], 2)
    assert fork.transactions[name].status is Status.PRECOMMITTED
    fork.commit(name)
    assert fork.transactions[name].status is Status.COMMITTED


def test_fork_keeps_what_has_timed_out() -> None:
    """A transaction that the external system gave up by itself stays aborted in a fork."""
    system = ExternalSystem(_told)
    name = system.begin("sink/0", "sink", attempt=1).name
    system.precommit(name, 2)
    assert system.time_out(name)
    fork = system.fork([SinkState(pending=(name,), open=None)], 2)
    assert fork.transactions[name].status is Status.ABORTED
