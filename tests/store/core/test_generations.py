"""The two earlier interfaces work on top of the last one, and show why they were left."""

from __future__ import annotations

import pytest

from ckptsim.models.store import (
    Checkpoints,
    LocalTopics,
    ModelMedium,
    PlainCodec,
    Slot,
    StoreError,
    TopicPartition,
)
from ckptsim.models.store.state import VersionCopy
from tests.store import generations_table
from tests.store.core.generations.v1 import (
    LiveMetadata,
    LiveState,
    MetadataOverStore,
    MetadataService,
    metadata_for,
)
from tests.store.core.generations.v2 import (
    EngineOverStore,
    EngineWithoutTopic,
    MetadataOverEngines,
)


def _store() -> tuple[Checkpoints, LocalTopics]:
    topics = LocalTopics()
    topics.register("s_v1", 2)
    topics.register("s_v2", 2)
    store = Checkpoints(
        ModelMedium(atomic=False), topics, codec=PlainCodec(), slot=Slot.CUSTOM, remote=False
    )
    return store, topics


def _services() -> list[MetadataService]:
    store, topics = _store()
    engines = {topic: EngineOverStore(store, topics, topic) for topic in ("s_v1", "s_v2")}
    return [MetadataOverStore(*_store()), MetadataOverEngines(engines.__getitem__)]


@pytest.mark.parametrize("service", _services(), ids=["v1", "v2"])
def test_adapters_keep_the_contract_of_six_operations(service: MetadataService) -> None:
    """An absent state is empty, never None. Versions stay apart. A clear hits one partition."""
    assert service.get("s_v1", 0) == LiveState()
    service.put("s_v1", 0, LiveState(position=7, end_of_push=True))
    service.put("s_v2", 0, LiveState(position=8))
    changed = service.compute_version_state("s_v1", lambda old: VersionCopy(chunked=old is None))
    assert service.get_version_state("s_v1") == changed == VersionCopy(chunked=True)
    assert service.get("s_v1", 0) == LiveState(position=7, end_of_push=True)
    service.clear("s_v1", 0)
    assert service.get("s_v1", 0) == LiveState()
    assert service.get("s_v2", 0).position == 8
    service.clear_version_state("s_v1")
    assert service.get_version_state("s_v1") is None


def test_live_objects_reach_into_the_store() -> None:
    """A service that keeps the caller's objects changes with them. Bytes do not."""
    for service, position in ((LiveMetadata(), 99), (MetadataOverStore(*_store()), 5)):
        passed = LiveState(position=5)
        service.put("s_v1", 0, passed)
        passed.position = 99
        assert service.get("s_v1", 0).position == position
        returned = service.get("s_v1", 0)
        returned.position = 100
        assert (service.get("s_v1", 0).position == 100) is isinstance(service, LiveMetadata)


def test_an_engine_without_topic_lets_versions_clobber_each_other() -> None:
    """One engine handed out for two versions loses the first one's position."""
    shared = EngineWithoutTopic()
    service = MetadataOverEngines(lambda _topic: shared)
    service.put("s_v1", 0, LiveState(position=7))
    service.put("s_v2", 0, LiveState(position=1))
    assert service.get("s_v1", 0).position == 1
    service.clear("s_v2", 0)
    assert service.get("s_v1", 0) == LiveState()


def test_a_clear_of_version_state_that_follows_the_built_in_leaves_the_partitions() -> None:
    """The contract clears the partitions' states too. The first implementation does not."""
    naive, adapter = LiveMetadata(), MetadataOverStore(*_store())
    for service in (naive, adapter):
        service.put("s_v1", 0, LiveState(position=7))
        service.clear_version_state("s_v1")
    assert naive.get("s_v1", 0).position == 7
    assert adapter.get("s_v1", 0).position == -1


def test_a_hook_that_returns_none_leaves_the_built_in_path() -> None:
    """None from the hook, or no transformer at all, means the built-in service and no other."""

    class Silent:
        def storage_metadata_service(self) -> MetadataService | None:
            return None

    class Own:
        def __init__(self) -> None:
            self.service = LiveMetadata()

        def storage_metadata_service(self) -> MetadataService | None:
            return self.service

    built_in, own = LiveMetadata(), Own()
    assert metadata_for(Silent(), built_in) is built_in
    assert metadata_for(None, built_in) is built_in
    assert metadata_for(own, built_in) is own.service


def test_version_state_of_disagreeing_partitions_is_an_error_in_every_generation() -> None:
    """An adapter does not merge copies that disagree."""
    store, topics = _store()
    service = MetadataOverStore(store, topics)
    service.compute_version_state("s_v1", lambda _old: VersionCopy(chunked=True))
    other = MetadataOverStore(*_store())
    other.compute_version_state("s_v1", lambda _old: VersionCopy(chunked=False))
    blob = other._store.get(TopicPartition("s_v1", 1))
    assert blob is not None
    store.set(TopicPartition("s_v1", 1), blob)
    with pytest.raises(StoreError, match="INCONSISTENT_SVS"):
        service.get_version_state("s_v1")


def test_the_page_shows_what_each_interface_loses() -> None:
    """Each cell of the table of interfaces is what its command finds."""
    assert generations_table.table() in generations_table.DOCUMENT.read_text(encoding="utf-8")
