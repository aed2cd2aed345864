"""What a run of a checkpoint store leaves: content against log, rework against its bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ckptsim.models.store import Area, TopicPartition

if TYPE_CHECKING:
    from ckptsim.sim.store.world import StoreWorld

Finding = tuple[str, str, TopicPartition | None]


def check_end(world: StoreWorld) -> Iterator[Finding]:
    """Yield what does not hold at the end: property, sentence, partition."""
    if world.spec.cuts:
        return  # the rest of the run is not known
    if world.stuck is not None:
        yield "input_is_caught_up", world.stuck, None
        if world.process.paused:
            yield "recovery_unpauses", "the partitions never continued after the last start", None
        return
    for key in world.partitions():
        if key not in world.process.refused:
            yield from _content(world, key)
    yield from _older_versions(world)
    yield from _unused_slots(world)
    yield from _rework(world)


def rework_bound(world: StoreWorld) -> int | None:
    """Return how many records all partitions together repeat at most after one crash.

    Per partition these are the records of one interval: what a sync in progress holds is part of
    it, because nothing is applied meanwhile.  Where something is, up to the next threshold by
    bytes, there are two intervals.  None where no threshold bounds them.
    """
    model = world.model
    bounds: list[int] = []
    beside = model.sync.ingest_while_syncing
    if model.sync.sync_bytes:
        bounds.append((1 + beside) * -(-model.sync.sync_bytes // model.input.record_bytes))
    if model.sync.sync_interval_ns and not beside:
        bounds.append(model.sync.sync_interval_ns // world.apply_ns + 1)
    if model.rework_records_max is not None:
        bounds.append(model.rework_records_max)
    return min(bounds) * len(world.truths) if bounds else None


def _older_versions(world: StoreWorld) -> Iterator[Finding]:
    """Yield findings of versions that are older than the current one."""
    for version in range(1, world.properties.swapped_to):
        for key in world.partitions():
            if key.topic in world.topics_of(version):
                says = f"{key} is kept, behind version {world.properties.swapped_to}"
                yield "dropped_versions_leave_nothing", says, key


def _content(world: StoreWorld, key: TopicPartition) -> Iterator[Finding]:
    feed = world.book[key]
    found = world.contents.loss(key, feed.last, mirrored=world.client.mirrored)
    if found.missing or found.stale or found.ghost:
        yield "content_converges", f"{key}: {found.text()}", key
    state = world.client.checkpoint(key)
    if state is None or feed.next_after(state.position) <= feed.last:
        where = "nowhere" if state is None else f"at {state.position}"
        yield "input_is_caught_up", f"{key}: the checkpoint is {where} of {feed.last}", key


def left_of_version(world: StoreWorld, version: int) -> Iterator[Finding]:
    """Yield the rest of a version right after it was dropped, its views among it."""
    for topic in world.topics_of(version):
        for key in (each for each in world.truths if each.topic == topic):
            left = {
                "its rows": world.contents.has_rows(Area.DATA, key),
                "its mirror": world.contents.has_rows(Area.MIRROR, key),
                "a replica": key in world.client.replicas,
                "its registration": world.client.topics.knows(topic),
                "a checkpoint": any(one.stored(key) for one in world.client.stores.values()),
                "its part in what is consumed": key in world.partitions(),
            }
            found = [name for name, there in left.items() if there]
            if found:
                yield "dropped_versions_leave_nothing", f"{key}: {', '.join(found)}", key


def _unused_slots(world: StoreWorld) -> Iterator[Finding]:
    if world.env.goals.counts.get("store_switched"):
        return  # each was in use once
    for slot, store in world.client.stores.items():
        if slot is not world.client.settings.slot and store.writes:
            yield "fallback_uses_one_store", f"{store.writes} writes reached {slot.name}", None


def _rework(world: StoreWorld) -> Iterator[Finding]:
    bound = rework_bound(world)
    if bound is None:
        return
    for recovery in world.process.recoveries:
        if recovery.bounded and recovery.undone > bound:
            says = f"{recovery.undone} records repeated after {recovery.reason}, at most {bound}"
            yield "rework_is_bounded", says, None
