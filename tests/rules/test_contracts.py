"""What the effects of a core owe by their meaning, each breach on its own."""

from __future__ import annotations

from typing import Any

import pytest

from ckptsim.cores import barriers, lifecycle, ordering
from ckptsim.cores import coordinator_events as ev
from ckptsim.cores import handler_events as handler
from ckptsim.cores import lifecycle_effects as do
from ckptsim.cores import lifecycle_events as life
from ckptsim.cores import writer_events as writer
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.coordinator import CoordinatorParameters
from ckptsim.models.coordinator.requests import Request
from ckptsim.models.lifecycle import TaskKind, TaskParameters, TaskState
from ckptsim.models.ordering import events as ordering_events
from ckptsim.scenarios.catalogue import by_name
from ckptsim.sim.rules.contract import KEEPS_CONTRACT
from ckptsim.sim.rules.contract.contract import CoordinatorContract, OrderingContract
from ckptsim.sim.rules.contract.task import HandlerContract, LifecycleContract, WriterContract
from ckptsim.sim.search import Subject
from ckptsim.sim.search.trial import trial

MS = 1_000_000
USERS = ordering.StreamDescriptor("users")
BARRIER = barriers.Barrier(1, 0, barriers.OptionKind.ALIGNED)
PERIODIC = Request(number=1, submitted_ns=0, periodic=True)
WANTED = Request(number=2, submitted_ns=0, savepoint=True)
STOPPED = ev.SchedulerStopped(9 * MS, FailureReason.CHECKPOINT_COORDINATOR_SUSPEND)
TRIGGERED = (ev.Planned(MS, (0,), (0,)), [ev.TriggerTasks(BARRIER, (0,), PERIODIC)])
ACKNOWLEDGED = (ev.Acknowledged(3 * MS, 1, 0), [ev.StoreCheckpoint(1, savepoint=False)])
COMPLETED = (ev.Stored(4 * MS, 1), [ev.CheckpointCompleted(1, 2 * MS)])
EXPIRED = (
    ev.TimerFired(5 * MS, ev.TimerKind.EXPIRY, 1),
    [ev.CheckpointFailed(1, FailureReason.CHECKPOINT_EXPIRED)],
)
STARTED = (writer.WriteStarted(0, 1), [])
ADDED = (writer.DataAdded(0, 1, 5), [writer.OpenStream(1), writer.WriteBytes(1, 5)])
STORED = (writer.OutputClosed(0, 1), [writer.StoreStream(1, 5)])
READ = ordering_events.RecordsRead(stream=USERS, size_bytes=8, count=2, id="a")
PASSED = ordering_events.PassRecords(stream=USERS, id="a", count=2, size_bytes=8)
OPENED = ordering_events.OpenStream(stream=USERS)


def _coordinator() -> CoordinatorContract:
    return CoordinatorContract(CoordinatorParameters(interval_ns=10 * MS, tolerable_failures=0))


def _ordering() -> OrderingContract:
    streams = (USERS,)
    return OrderingContract(
        ordering.OrderingParameters(medium=ordering.Medium.SOCKET, streams=streams, channels=1)
    )


def _lifecycle() -> LifecycleContract:
    return LifecycleContract(TaskParameters(kind=TaskKind.NON_SOURCE, gate_channels=(1,)))


def _handler() -> HandlerContract:
    return HandlerContract(barriers.HandlerKind.ALIGNED, 2)


Steps = list[tuple[Any, list[Any]]]
BREACHES: dict[str, tuple[Any, Steps, str]] = {
    "late state": (
        _coordinator,
        [TRIGGERED, ACKNOWLEDGED, COMPLETED, (ev.Acknowledged(6 * MS, 1, 0), [])],
        "which came late for 1",
    ),
    "expired": (_coordinator, [TRIGGERED, EXPIRED], "does not fail the job"),
    "duration": (
        _coordinator,
        [TRIGGERED, ACKNOWLEDGED, (ev.Stored(4 * MS, 1), [ev.CheckpointCompleted(1, 3 * MS)])],
        "took 3 ms",
    ),
    "stopped": (_coordinator, [TRIGGERED, (STOPPED, [])], "has not ended checkpoint 1"),
    "request": (
        _coordinator,
        [(ev.CheckpointRequested(MS, savepoint=True), []), (STOPPED, [])],
        "1 requests have no answer",
    ),
    "newest": (
        _coordinator,
        [TRIGGERED, ACKNOWLEDGED, COMPLETED, (ev.Cleaned(5 * MS, 0), [ev.NotifyAborted(2, None)])],
        "and 1 is complete",
    ),
    "two plans": (
        _coordinator,
        [(ev.CheckpointRequested(MS), [ev.PlanCheckpoint(WANTED), ev.PlanCheckpoint(WANTED)])],
        "asks for a plan",
    ),
    "too often": (
        _coordinator,
        [(ev.SchedulerStarted(0, 5 * MS), []), TRIGGERED],
        "the interval allows it from 5 ms on",
    ),
    "bytes of a part": (
        lambda: WriterContract([0]),
        [STARTED, ADDED, STORED, (writer.StreamStored(1), [writer.PartWritten(0, 1, 4)])],
        "reports 4 bytes",
    ),
    "bytes of a file": (
        lambda: WriterContract([0]),
        [STARTED, ADDED, (writer.OutputClosed(0, 1), [writer.StoreStream(1, 4)])],
        "it has written 5",
    ),
    "no file": (
        lambda: WriterContract([0]),
        [STARTED, (writer.DataAdded(0, 1, 5), [writer.WriteBytes(1, 5)])],
        "is not open",
    ),
    "open file": (
        lambda: WriterContract([0]),
        [
            STARTED,
            ADDED,
            (
                writer.WriteAborted(0, 1, FailureReason.CHECKPOINT_EXPIRED),
                [writer.PartFailed(0, 1, FailureReason.CHECKPOINT_EXPIRED)],
            ),
        ],
        "leaves the file of checkpoint 1 open",
    ),
    "no answer": (
        lambda: WriterContract([0]),
        [STARTED, (writer.WriteAborted(0, 1, FailureReason.CHECKPOINT_EXPIRED), [])],
        "does not answer",
    ),
    "operators": (
        _lifecycle,
        [(life.EndOfPartitionReceived(0), [do.StateChanged(TaskState.CLOSED, None)])],
        "1 of 1 operators are not closed",
    ),
    "end of input": (
        _lifecycle,
        [(life.EndOfDataReceived(0, lifecycle.StopMode.DRAIN), [do.FinishOperator(0)])],
        "does not know the end of its input",
    ),
    "snapshot": (
        _lifecycle,
        [
            (
                life.CheckpointPerformed(1),
                [do.TakeSnapshot(1, operators_finished=True, finished_on_restore=False)],
            )
        ],
        "before the end of its data",
    ),
    "start delay": (
        _handler,
        [(handler.BarrierArrived(5 * MS, 0, BARRIER), [handler.TriggerCheckpoint(BARRIER, 0)])],
        "it came after 5 ms",
    ),
    "alignment": (
        _handler,
        [
            (handler.BarrierArrived(5 * MS, 0, BARRIER), []),
            (
                handler.BarrierArrived(7 * MS, 1, BARRIER),
                [handler.TriggerCheckpoint(BARRIER, 5 * MS), handler.AlignmentMeasured(1, 0, 0)],
            ),
        ],
        "which came 2 ms ago",
    ),
    "closed stream": (_ordering, [(READ, [PASSED])], "which it has not opened"),
    "records": (_ordering, [(READ, [OPENED])], "it passes 0 records on, and 2 were read"),
    "wait": (
        _ordering,
        [
            (
                ordering_events.FinishRequested(wait_ns=MS),
                [ordering_events.SetFinishTimer(wait_ns=2 * MS)],
            )
        ],
        "it waits 2 ms",
    ),
    "no timer": (
        _ordering,
        [(ordering_events.FinishRequested(wait_ns=MS), [])],
        "nor sets its timer",
    ),
    "no verdict": (_ordering, [(ordering_events.FinishRequested(), [])], "gives no verdict"),
}


@pytest.mark.parametrize("name", BREACHES)
def test_a_breach_is_told_in_a_sentence(name: str) -> None:
    """Each thing that an effect owes is missed where it does not come, and not before."""
    make, steps, text = BREACHES[name]
    contract = make()
    for event, effects in steps:
        assert contract.broken is None
        contract.take(getattr(event, "now_ns", 0), event, effects)
    assert contract.broken is not None
    assert text in contract.broken


def test_a_users_core_that_breaks_its_contract_breaks_a_property() -> None:
    """Without any option, and without our core beside it."""
    cores = {"coordinator": "tests.rules.brought:make_Hurried"}
    found = trial(Subject(scenario=by_name("stop_drain"), cores=cores), 0, "random").violations
    assert KEEPS_CONTRACT in [row.property for row in found]
