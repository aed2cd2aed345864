"""What a reset and a drop forget, and what a start makes of a checkpoint that it cannot read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ckptsim.models import store
from ckptsim.models.store.log import DataRecord, PartitionLog
from ckptsim.models.store.state import SCHEMA_VERSION, read_fields, write_fields
from ckptsim.sim.mishaps import ContentLoss, loss_of
from tests.mutants.store import MUTANTS

KEY = store.TopicPartition("s_v1", 0)
NO_LOSS = ContentLoss(missing=0, stale=0, ghost=0)


def begun(placement: store.Placement, mutant: str | None = None) -> store.StoreVersions:
    """Return versions with a one partition that has synced four puts and a delete."""
    make = store.make_store if mutant is None else MUTANTS[mutant].factory
    versions = make(placement)
    client = versions.client
    client.topics.register("s_v1", 1)
    values = [("a", b"1"), ("b", b"2"), ("c", b"3"), ("d", b"4"), ("a", None)]
    log_of(client).append(DataRecord(key=k, value=v, size_bytes=1) for k, v in values)
    client.open(KEY)
    client.ingest(KEY, 5)
    client.sync(KEY)
    return versions


def log_of(client: store.StoreClient) -> PartitionLog:
    log = client.logs[KEY]
    assert isinstance(log, PartitionLog)
    return log


def use(client: store.StoreClient, slot: store.Slot) -> None:
    client.configure(replace(client.settings, slot=slot))


def started_over(versions: store.StoreVersions) -> None:
    """Start the partition from scratch, as a changed transformer asks for."""
    versions.client.rebootstrap(KEY, wipe=True)


def reset(versions: store.StoreVersions) -> None:
    """Reset the partition, as the process does after data without identity."""
    versions.client.close_all()
    versions.client.reset(KEY, wipe=True)


def dropped(versions: store.StoreVersions) -> None:
    """Drop the version and begin it again."""
    versions.drop("s_v1")
    versions.client.topics.register("s_v1", 1)


FORGETTING = [started_over, reset, dropped]


def resumed_loss(
    versions: store.StoreVersions, forget: Callable[[store.StoreVersions], None]
) -> ContentLoss:
    """Forget under the built-in store, crash, go back to the custom one, and catch up."""
    client = versions.client
    use(client, store.Slot.BUILT_IN)
    forget(versions)
    client.crash()
    use(client, store.Slot.CUSTOM)
    client.open(KEY)
    client.ingest(KEY, 10)
    return loss_of(client, log_of(client), KEY)


@pytest.mark.parametrize("placement", store.Placement)
@pytest.mark.parametrize("forget", FORGETTING)
def test_no_slot_keeps_a_checkpoint_of_rows_that_are_gone(
    placement: store.Placement, forget: Callable[[store.StoreVersions], None]
) -> None:
    """After a start from scratch under one store the other one does not resume either."""
    assert resumed_loss(begun(placement), forget) == NO_LOSS
    lost = resumed_loss(begun(placement, "forgets_one_slot"), forget)
    assert lost == ContentLoss(missing=3, stale=0, ghost=0)


@pytest.mark.parametrize("placement", store.Placement)
def test_an_empty_slot_is_not_written(placement: store.Placement) -> None:
    """A store that was never used is not written by a reset."""
    versions = begun(placement)
    started_over(versions)
    assert versions.client.stores[store.Slot.BUILT_IN].writes == 0


def newer(blob: bytes) -> bytes:
    """Return the state as a newer release writes it: one more field, the next schema."""
    schema, fields = read_fields(blob) or (0, {})
    return write_fields(schema + 1, fields | {"one_more": 1})


def other_fields(blob: bytes) -> bytes:
    """Return the state with a field more under the schema of this release."""
    schema, fields = read_fields(blob) or (0, {})
    return write_fields(schema, fields | {"one_more": 1})


@pytest.mark.parametrize("placement", store.Placement)
@pytest.mark.parametrize("written", [newer, other_fields])
def test_a_checkpoint_that_cannot_be_read_starts_anew_on_wiped_rows(
    placement: store.Placement, written: Callable[[bytes], bytes]
) -> None:
    """A sealed, intact checkpoint of another schema is refused aloud, and no deleted key stays."""
    for mutant in (None, "takes_unreadable_for_none"):
        client = begun(placement, mutant).client
        blob = client.store.get(KEY)
        assert blob is not None
        client.stop()
        client.store.set(KEY, written(blob))
        log = log_of(client)
        log.append([DataRecord(key="b", value=None, size_bytes=1)])
        log.compact()
        log.append([DataRecord(key="e", value=b"5", size_bytes=1)])
        if mutant is None:
            with pytest.raises(store.StoreError) as refused:
                client.open(KEY)
            assert refused.value.refusal is store.Refusal.UNREADABLE_CHECKPOINT
            assert client.medium.rows(store.Area.DATA, KEY) == {}
        else:
            client.open(KEY)
        assert client.replicas[KEY].position == -1
        client.ingest(KEY, 10)
        assert (loss_of(client, log_of(client), KEY) == NO_LOSS) is (mutant is None)


@pytest.mark.parametrize("placement", store.Placement)
def test_a_position_can_be_moved_in_a_state_of_any_schema(placement: store.Placement) -> None:
    """What a newer release stored comes back to it as it was, its position included."""
    client = begun(placement).client
    blob = client.store.get(KEY)
    assert blob is not None
    client.store.set(KEY, newer(blob))
    assert client.store.get(KEY) == newer(blob)
    assert newer(blob)[4] == SCHEMA_VERSION + 1
