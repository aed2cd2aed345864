"""A probe of the store's interface: does anyone who holds an argument or a result reach inside?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from ckptsim.models.store import TopicPartition

if TYPE_CHECKING:
    from ckptsim.sim.store.world import StoreWorld

_TOPIC = "probe_v1"


def probe(world: StoreWorld) -> Iterator[tuple[str, str]]:
    """Store, mutate and read a blob under a topic of its own. Yield what does not hold."""
    client, key = world.client, TopicPartition(_TOPIC, 0)
    client.topics.register(_TOPIC, 1)
    world.act(key)
    passed = bytearray(b"kept")
    client.store.set(key, cast("bytes", passed))
    passed[:] = b"gone"
    returned = client.store.get(key)
    if returned != b"kept":
        yield "callers_cannot_reach_in", "a blob changed with the object that was passed"
    if isinstance(returned, bytearray):
        returned[:] = b"lost"
        if client.store.get(key) == b"lost":
            yield "callers_cannot_reach_in", "a blob changed with the object that was returned"
    client.store.delete(key)
    client.topics.forget(_TOPIC)
