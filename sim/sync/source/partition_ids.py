"""Partition ids: a few random characters, new for each reader, unique by luck only.

Source: airbytehq/airbyte, bulk extract CDK: four characters of [A-Za-z0-9].  Among n partitions of
a sync two share an id with probability about n * n / (2 * 62**4): half at 4500.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.sim.sync.attempt import Attempt


class PartitionIds:
    """Draws partition ids of one attempt; a fault plan may have a reader draw another one's."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._characters = attempt.model.source.partition_id_characters
        self._seen: dict[str, None] = {}

    def draw(self, feed: int, reader: int) -> str:
        """Return the id of a reader of a feed."""
        world = self._attempt.world
        planned = self._attempt.faults.collision(feed, reader)
        drawn = world.drawn_ids.get(planned) if planned is not None else None
        if drawn is None:
            where = ("source.partition_id", feed, reader)
            drawn = world.draws.identifier(where, self._characters)
        if drawn in self._seen:
            self._attempt.env.goals.reach("id_collision")
        self._seen[drawn] = None
        world.drawn_ids[(feed, reader)] = drawn
        return drawn
