"""The ingestion core: its table, whole effects, and the two guards against a failed write."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ckptsim.models import store
from ckptsim.models.core import ProtocolError
from ckptsim.models.store.ingestion import PartitionIngestion
from ckptsim.models.store.ingestion.events import (
    AbortSync,
    CancelSyncTimer,
    Cause,
    ControlRead,
    DataWritten,
    Event,
    FinishSync,
    FreezePartition,
    IngestionState,
    MakeDurable,
    RulesChanged,
    SetSyncTimer,
    StepDurable,
    StepRefused,
    SyncRequested,
    SyncTimerFired,
    WriteFailed,
)
from ckptsim.models.store.state import ProducerState, VersionCopy

EVENTS: list[Event] = [
    DataWritten(position=0, size_bytes=1),
    WriteFailed(0),
    ControlRead(position=0, record=store.ControlRecord(control=store.Control.START_OF_SEGMENT)),
    SyncRequested(),
    SyncTimerFired(),
    StepDurable(),
    StepRefused(store.Refusal.COMMIT_FAILED),
    RulesChanged(store.SyncRules()),
]
ALLOWED = {
    IngestionState.OPEN: (0, 1, 2, 3, 4, 7),
    IngestionState.SYNCING: (0, 4, 5, 6, 7),
    IngestionState.ERRORED: (3, 4, 7),
}


def _core(**rules: int) -> PartitionIngestion:
    return PartitionIngestion(store.SyncRules(**rules), store.PartitionState())  # type: ignore[arg-type]


def _in_state(state: IngestionState) -> PartitionIngestion:
    core = _core()
    if state is IngestionState.SYNCING:
        core.step(SyncRequested())
    elif state is IngestionState.ERRORED:
        core.step(WriteFailed(0))
    assert core.state is state
    return core


@pytest.mark.parametrize("state", IngestionState)
@pytest.mark.parametrize("index", range(len(EVENTS)))
def test_every_pair_of_state_and_event(state: IngestionState, index: int) -> None:
    """An event is taken exactly where the table has it. Elsewhere nothing changes."""
    core = _in_state(state)
    if index in ALLOWED[state]:
        core.step(EVENTS[index])
        return
    before = (core.state, core.checkpoint, core.bytes_since_sync, core.timer_set)
    with pytest.raises(ProtocolError, match="not_allowed"):
        core.step(EVENTS[index])
    assert (core.state, core.checkpoint, core.bytes_since_sync, core.timer_set) == before


def test_steps_of_a_sync_follow_the_order() -> None:
    """Data first, checkpoint first, or both at once. The checkpoint is the one of the beginning."""
    for rules, parts in (
        (store.SyncRules(), [store.StepContent.DATA, store.StepContent.CHECKPOINT]),
        (
            store.SyncRules(order=store.Order.CHECKPOINT_FIRST),
            [store.StepContent.CHECKPOINT, store.StepContent.DATA],
        ),
        (
            store.SyncRules(order=store.Order.CHECKPOINT_FIRST, atomic=True),
            [store.StepContent.BOTH],
        ),
    ):
        core = PartitionIngestion(rules, store.PartitionState(position=3))
        effects = core.step(SyncRequested())
        seen = []
        while isinstance(effects[0], MakeDurable):
            (wanted,) = effects
            assert isinstance(wanted, MakeDurable)
            seen.append(wanted.part)
            assert (wanted.checkpoint is None) is (wanted.part is store.StepContent.DATA)
            if wanted.checkpoint is not None:
                assert store.decode_state(wanted.checkpoint) == store.PartitionState(position=3)
            effects = core.step(StepDurable())
        assert seen == parts
        assert effects == [FinishSync(3, Cause.REQUEST)]


def test_threshold_counts_data_bytes_and_starts_anew_after_a_sync() -> None:
    """The sync comes with the record that reaches the threshold. A refused one keeps the count."""
    core = _core(sync_bytes=10, atomic=True)
    assert core.step(DataWritten(position=0, size_bytes=9)) == []
    assert isinstance(core.step(DataWritten(position=1, size_bytes=1))[0], MakeDurable)
    assert core.step(StepRefused(store.Refusal.COMMIT_FAILED)) == [
        AbortSync(store.Refusal.COMMIT_FAILED)
    ]
    assert core.bytes_since_sync == 10
    assert isinstance(core.step(DataWritten(position=2, size_bytes=0))[0], MakeDurable)
    assert core.step(StepDurable()) == [FinishSync(2, Cause.BYTES)]
    assert core.bytes_since_sync == 0


@pytest.mark.parametrize("size", [1, 3, 7, 10, 11, 25])
@pytest.mark.parametrize("counted", [0, 1, 9])
def test_arithmetic_of_the_threshold_agrees_with_single_steps(size: int, counted: int) -> None:
    """The number of records until a sync, computed at once, is the one of record by record."""
    rules = store.SyncRules(sync_bytes=10)
    total, records = counted, 0
    while not rules.due_by_bytes(total) or records == 0:
        total, records = total + size, records + 1
    assert rules.records_until_due(counted, size) == records
    assert store.SyncRules().records_until_due(counted, size) is None


def test_timer_bounds_the_time_since_the_first_waiting_record() -> None:
    """The first record sets the timer, a sync cancels it, and it causes a sync when it fires."""
    core = _core(sync_interval_ns=50, atomic=True)
    assert core.step(DataWritten(position=0, size_bytes=1)) == [SetSyncTimer(50)]
    assert core.step(DataWritten(position=1, size_bytes=1)) == []
    assert core.step(SyncRequested())[0] == CancelSyncTimer()
    core.step(StepDurable())
    assert core.step(SyncTimerFired()) == []
    assert core.step(DataWritten(position=2, size_bytes=1)) == [SetSyncTimer(50)]
    assert isinstance(core.step(SyncTimerFired())[0], MakeDurable)
    refused = core.step(StepRefused(store.Refusal.COMMIT_FAILED))
    assert refused == [AbortSync(store.Refusal.COMMIT_FAILED), SetSyncTimer(50)]


def test_failed_write_freezes_before_the_record() -> None:
    """Neither position nor checkpoint moves after a failed write."""
    core = _core()
    core.step(DataWritten(position=4, size_bytes=1))
    effects = core.step(WriteFailed(5))
    assert effects == [FreezePartition(store.Refusal.WRITE_FAILED, "a data record was not written")]
    assert core.checkpoint.position == 4
    assert core.step(SyncRequested()) == []


def test_disagreeing_start_of_push_is_not_applied() -> None:
    """A version copy that differs from a sibling's freezes the partition before the entry."""
    core = _core()
    record = store.ControlRecord(control=store.Control.START_OF_PUSH, fields={"chunked": True})
    sibling = VersionCopy(chunked=False)
    effects = core.step(ControlRead(position=0, record=record, siblings=(sibling,)))
    assert isinstance(effects[0], FreezePartition)
    assert effects[0].refusal is store.Refusal.INCONSISTENT_SVS
    assert core.checkpoint == store.PartitionState()


def test_producers_travel_with_the_position() -> None:
    """Position, flags and producers of a checkpoint come from the same instant."""
    core = _core()
    for position, guid in enumerate(("b", "a", "b")):
        producer = ProducerState(guid=guid, segment=0, sequence=position)
        core.step(DataWritten(position=position, size_bytes=1, producer=producer))
    (first, *_) = core.step(SyncRequested())
    assert isinstance(first, MakeDurable)
    core.step(StepDurable())
    assert [(p.guid, p.sequence) for p in core.checkpoint.producers] == [("a", 1), ("b", 2)]
    assert core.checkpoint.position == 2


def test_refusals_say_what_was_found_and_expected() -> None:
    """A refused call names its place, and what would have been right there."""
    versions = store.make_store(store.Placement.EXTERNAL)
    client = versions.client
    client.topics.register("s_v1", 2)
    key = store.TopicPartition("s_v1", 0)
    calls: dict[str, Callable[[], object]] = {
        "expected STORE_vN": lambda: client.topics.register("s_rt", 1),
        "registered: s_v1": lambda: client.store.get(store.TopicPartition("s_v2", 0)),
        "expected 0 to 1": lambda: client.store.get(store.TopicPartition("s_v1", 2)),
        "found str, expected bytes": lambda: client.store.set(key, "x"),  # type: ignore[arg-type]
        "expected an open partition": lambda: client.opened(key),
    }
    for says, call in calls.items():
        with pytest.raises(store.StoreError, match=says) as refused:
            call()
        assert refused.value.event is not None
