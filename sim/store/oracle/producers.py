"""What a checkpoint says of each producer, against the records that its partition has taken.

A restored reader shows records that come twice, or never, by the segment and the sequence number
that its checkpoint has of their producer: one that is not of the checkpoint's position makes it
drop records or refuse them.

Source: linkedin/venice, producer states of `PartitionState`, taken with the position in one sync.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.models.store import PartitionState, TopicPartition
    from ckptsim.models.store.state import ProducerState
    from ckptsim.sim.store.process import Drainer
    from ckptsim.sim.store.world import StoreWorld

    Producers = dict[str, ProducerState]


class ProducerOracle:
    """How far each producer of each open partition has come, by the records taken.

    opened, applied, sync_begun and checkpointed report what happens in the world.
    """

    def __init__(
        self, world: StoreWorld, violate: Callable[[str, str, TopicPartition], None]
    ) -> None:
        self._world = world
        self._violate = violate
        self._taken: dict[TopicPartition, Producers] = {}
        self._in_sync: dict[TopicPartition, Producers] = {}

    def opened(self, key: TopicPartition, state: PartitionState | None) -> None:
        """Begin an incarnation with the producers of its checkpoint, and check that it has them."""
        restored = self._world.client.replicas[key].ingestion.checkpoint.producers
        self._taken[key] = {} if state is None else _by_name(state)
        self._check(key, _named(restored), self._taken[key], "is restored with")

    def applied(self, drainer: Drainer, position: int) -> None:
        """Note the producer of the last record that was applied. All of a run are of one."""
        found = drainer.feed.producer_at(position)
        if found is not None:
            self._taken[drainer.key][found.guid] = found

    def sync_begun(self, drainer: Drainer) -> None:
        """Note how far the producers are at the instant of a checkpoint."""
        self._in_sync[drainer.key] = dict(self._taken[drainer.key])

    def checkpointed(self, key: TopicPartition, state: PartitionState | None) -> None:
        """Check the producers of a checkpoint that has just become durable."""
        if state is not None:
            self._check(key, _by_name(state), self._in_sync[key], "has a checkpoint with")

    def _check(self, key: TopicPartition, found: Producers, expected: Producers, does: str) -> None:
        for name in sorted({*found, *expected}):
            if found.get(name) != expected.get(name):
                says = (
                    f"{key} {does} {_text(name, found)}, its records end at {_text(name, expected)}"
                )
                self._violate("checkpoint_is_of_one_instant", says, key)
                return


def _by_name(state: PartitionState) -> Producers:
    return _named(state.producers)


def _named(producers: tuple[ProducerState, ...]) -> Producers:
    return {producer.guid: producer for producer in producers}


def _text(name: str, producers: Producers) -> str:
    producer = producers.get(name)
    if producer is None:
        return f"no record of producer {name}"
    return f"record {producer.sequence} in segment {producer.segment} of producer {name}"
