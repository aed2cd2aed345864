"""Which release of the program a process is: what it writes and reads, and which store it names.

The client of a run is one release.  A newer one writes the same states with a field more, under the
next schema version, and reads both. The codecs of the client do that here while such a release is
deployed, so that what lies in a slot is what a real upgrade leaves there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ckptsim.models.store import Slot
from ckptsim.models.store.state import SCHEMA_VERSION, read_fields, write_fields
from ckptsim.scenarios.store import Deploy

if TYPE_CHECKING:
    from ckptsim.models.store import StoreClient, TopicPartition
    from ckptsim.models.store.medium import Codec
    from ckptsim.sim.store.world import StoreWorld

_ADDED = "added_by_the_newer_release"


class Releases:
    """The releases that a plan deploys, one after the other, each at the next start."""

    def __init__(self, world: StoreWorld) -> None:
        self._world = world
        self._next: Deploy | None = None
        self.newer = False

    def deploy(self, fault: Deploy) -> None:
        """Stop the process, if it runs. Its next start is the new release's."""
        self._next = fault
        self._world.process.stop("another release", down_ns=fault.down_ns)

    def take_over(self) -> None:
        """Become the release that was deployed last."""
        if self._next is None:
            return
        world, release = self._world, self._next
        self._next = None
        self.newer = release.newer
        slot = Slot.BUILT_IN if release.built_in else Slot.CUSTOM
        switched = slot is not world.client.settings.slot
        world.env.trace.record("released", world.process.entity, self.newer, slot.name)
        world.properties.on_release(slot)
        if not switched:
            return
        world.client.configure(replace(world.client.settings, slot=slot))
        world.env.goals.reach("store_switched")
        world.process.unbounded()
        for key, truth in world.truths.items():
            truth.excuse()  # what the other store says is older, or nothing
            world.properties.resync_checkpoint(key)

    def wrap(self, client: StoreClient) -> None:
        """Let a client that has not begun write what the release of the moment writes."""
        parts = client.parts
        client.parts = replace(
            parts,
            plain_codec=self._wrapped(parts.plain_codec),
            group_codec=self._wrapped(parts.group_codec),
        )

    def _wrapped(self, inner: Callable[[], Codec]) -> Callable[[], Codec]:
        return lambda: _ReleaseCodec(self, inner())


class _ReleaseCodec:
    """A codec of the client that runs, in whichever release it is."""

    def __init__(self, releases: Releases, inner: Codec) -> None:
        self._releases = releases
        self._inner = inner

    def encode(self, key: TopicPartition, blob: bytes) -> bytes:
        """Encode a state with the field that a newer release adds."""
        opened = read_fields(blob) if self._releases.newer else None
        if opened is not None:
            blob = write_fields(SCHEMA_VERSION + 1, opened[1] | {_ADDED: 1})
        return self._inner.encode(key, blob)

    def decode(self, key: TopicPartition, stored: bytes) -> bytes:
        """Decode a state. A newer release reads the ones of both schemas."""
        blob = self._inner.decode(key, stored)
        opened = read_fields(blob) if self._releases.newer else None
        if opened is None:
            return blob
        fields = {name: value for name, value in opened[1].items() if name != _ADDED}
        return write_fields(SCHEMA_VERSION, fields)
