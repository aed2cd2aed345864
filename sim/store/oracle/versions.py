"""What must hold of the state that the partitions of a version share: regenerated, and right.

It is regenerated when a version begins, after a start of push, and by each start of the process for
the versions that are there. A dictionary that cannot be had is asked for again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.models.store.state import NOTHING, disagreement
from ckptsim.scenarios.dialect import duration_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.models.store import StoreError, TopicPartition, VersionState
    from ckptsim.sim.store.world import StoreWorld

_PROPERTY = "version_state_agrees"


class VersionOracle:
    """Which versions one start of the process has opened, and asked for the state of."""

    def __init__(self, world: StoreWorld, violate: Callable[[str, str], None]) -> None:
        self._world = world
        self._violate = violate
        self._opened_ns: dict[str, int] = {}  # topic -> when a partition was opened first
        self._asked: dict[str, None] = {}
        self._missing_ns: dict[str, int] = {}  # when a dictionary was last asked for, and was out

    def opened(self, key: TopicPartition) -> None:
        """Note that a partition has been opened."""
        self._opened_ns.setdefault(key.topic, self._world.env.now)

    def dictionary_missing(self, topic: str) -> None:
        """Note that the state of a version waits for its dictionary, to be asked for again."""
        self._asked[topic] = None
        self._missing_ns[topic] = self._world.env.now

    def regenerated(self, topic: str, state: VersionState | None) -> None:
        """Check a regenerated state. None where no start of push has been processed."""
        world = self._world
        self._answered(topic)
        keys = world.client.topics.of_topic(topic)
        if state is None:
            if any(self._has_begun(key) for key in keys):
                self._violate(_PROPERTY, f"{topic}: records are processed, no state is known")
            return
        if any(key.topic == topic for key in world.process.transferred):
            if (conflict := self._differ(topic)) is not None:
                self._violate(_PROPERTY, f"{topic}: partitions disagree, one is taken: {conflict}")
            return
        conflict = disagreement(state.copy, world.copy_of(world.book[keys[0]]))
        wanted = world.dictionaries.dictionaries[topic] if world.model.input.compressed else None
        if conflict is None and state.compression_dictionary != wanted:
            conflict = "compression_dictionary"
        if conflict is not None:
            self._violate(_PROPERTY, f"{topic}: {conflict}")

    def failed(self, topic: str, error: StoreError) -> None:
        """Note that partitions disagree about their version, without a reason or with one."""
        self._answered(topic)
        if not self._world.process.begin_anew(topic):
            self._violate(_PROPERTY, f"{topic}: {error}")

    def over(self) -> None:
        """Check, as the process goes down, that no version's state has been forgotten."""
        world = self._world
        for topic, missing_ns in self._missing_ns.items():
            silent_ns = world.env.now - missing_ns
            if topic not in world.dropped and silent_ns > world.model.process.retry_ns:
                says = f"{topic}: its dictionary was out, and is not asked for again"
                self._violate(_PROPERTY, f"{says} for {duration_text(silent_ns)}")
        for topic, opened_ns in self._opened_ns.items():
            known = topic in self._asked or topic in world.dropped
            known = known or world.endpoint.is_asked_for(topic)
            # At one instant with its start the process may go down before it has asked. One with a
            # failed recovery asks for nothing.
            if known or world.process.paused or opened_ns == world.env.now:
                continue
            if any(self._has_begun(key) for key in world.client.topics.of_topic(topic)):
                self._violate(_PROPERTY, f"{topic}: start {world.process.starts} asks for no state")
        for noted in (self._missing_ns, self._asked, self._opened_ns):
            noted.clear()

    def _differ(self, topic: str) -> str | None:
        """Say in which field two partitions of a topic disagree, if any do."""
        client = self._world.client
        states = (client.known_state(key) for key in client.topics.of_topic(topic))
        copies = [copy for state in states if state and (copy := state.version_copy())]
        found = (disagreement(copies[0], copy) for copy in copies[1:])
        return next((conflict for conflict in found if conflict is not None), None)

    def _answered(self, topic: str) -> None:
        self._asked[topic] = None
        self._missing_ns.pop(topic, None)

    def _has_begun(self, key: TopicPartition) -> bool:
        state = self._world.client.known_state(key)
        return state is not None and state.position > NOTHING
