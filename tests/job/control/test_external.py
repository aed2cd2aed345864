"""The external system that sinks write to, alone."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ckptsim.models.lifecycle import SinkState
from ckptsim.sim.job.control.sinks import Sinks
from ckptsim.sim.job.control.sinks.external import ExternalSystem, Status
from ckptsim.sim.job.control.sinks.sink import SinkWriter
from ckptsim.sim.kernel import Environment


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


@pytest.mark.parametrize(("checkpoint", "lingers"), [(4, True), (5, True), (6, False)])
def test_only_what_follows_the_savepoint_of_a_stop_may_be_left(
    checkpoint: int, lingers: bool
) -> None:
    """An empty transaction of the stop's own savepoint, or of one before it, has to be ended."""
    found: list[str] = []
    sinks = Sinks(
        Environment(0),
        ExternalSystem(_told),
        timeout_ns=None,
        kind=0,
        coordinator=SimpleNamespace(highest_completed=5, stop_id=5, stop_completed=True),
        violate=lambda name, _: found.append(name),
    )
    writer = SinkWriter(sinks, ("sink", 0))
    writer.begin()
    writer.precommit(checkpoint, open_successor=False)
    writer.leave((checkpoint,))
    sinks.check_end(())
    assert found == ["no_transaction_lingers"] * lingers
