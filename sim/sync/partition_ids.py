"""Partition ids: a few random characters, new for each reader, unique by luck only.

Source: airbytehq/airbyte, bulk extract CDK: four characters of [A-Za-z0-9].  Among n partitions of
a sync two share an id with probability about n * n / (2 * 62**4): half at 4500.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.sync.attempt import Attempt

_ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits
_BASE = len(_ALPHABET)
_CHARACTERS_PER_DRAW = 10  # 62**10 is below 2**64


class PartitionIds:
    """Draws partition ids; a fault plan may have a reader draw another one's."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._stream = attempt.env.stream("source.partition_id")
        self._characters = attempt.model.source.partition_id_characters
        self._seen: dict[tuple[int, str], None] = {}

    def draw(self, feed: int, reader: int) -> str:
        """Return the id of a reader of a feed."""
        known = self._attempt.world.drawn_ids
        planned = self._attempt.faults.collision(feed, reader)
        drawn = known.get(planned) if planned is not None else None
        if drawn is None:
            drawn = self._random()
        if (feed, drawn) in self._seen:
            self._attempt.env.goals.reach("id_collision")
        self._seen[(feed, drawn)] = None
        known[(feed, reader)] = drawn
        return drawn

    def _random(self) -> str:
        left, text = self._characters, ""
        while left:
            count = min(left, _CHARACTERS_PER_DRAW)
            number = self._stream.integer(0, _BASE**count - 1)
            for _ in range(count):
                number, place = divmod(number, _BASE)
                text += _ALPHABET[place]
            left -= count
        return text
