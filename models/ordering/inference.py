"""Keys inferred on STDIO, where neither records nor states carry one.

Each stream counts its intervals from 1.  The interval's number is the index of the state that will
end it. As a decimal string it is the id of its records, so the id is known before the state.

Source: airbytehq/airbyte, bulk load CDK, `PipelineEventBookkeepingRouter`. One counter for all
streams attributed records to the wrong interval where streams interleave (PR #66686).
"""

from __future__ import annotations

from ckptsim.models.ordering import terms


class Inference:
    """The current interval of each stream."""

    def __init__(self, streams: tuple[terms.StreamDescriptor, ...]) -> None:
        self._ordinals: dict[terms.StreamDescriptor, terms.CheckpointIndex] = dict.fromkeys(
            streams, 1
        )

    def announce(self, stream: terms.StreamDescriptor, *, common: bool) -> None:
        """Add a stream. `common`: whether all streams end their intervals together."""
        key = self.common_key() if common else None
        self._ordinals[stream] = 1 if key is None else key.index

    def ordinal(self, stream: terms.StreamDescriptor) -> terms.CheckpointIndex:
        """Return the number of the stream's current interval."""
        return self._ordinals[stream]

    def current_id(self, stream: terms.StreamDescriptor) -> terms.CheckpointId:
        """Return the id of the stream's current interval."""
        return self.id_of(stream, self._ordinals[stream])

    def id_of(
        self, stream: terms.StreamDescriptor, ordinal: terms.CheckpointIndex
    ) -> terms.CheckpointId:
        """Return the id of the stream's n-th interval."""
        del stream  # ids are unique per stream already
        return str(ordinal)

    def stream_key(self, stream: terms.StreamDescriptor) -> terms.CheckpointKey:
        """Return the key of the state that ends the stream's current interval."""
        return terms.CheckpointKey(self._ordinals[stream], self.current_id(stream))

    def common_key(self) -> terms.CheckpointKey | None:
        """Return the key of the state that ends every stream's interval. None if they differ."""
        ordinals = self._ordinals.values()
        first = next(iter(ordinals), 1)
        if any(ordinal != first for ordinal in ordinals):
            return None
        return terms.CheckpointKey(first, str(first))

    def end_interval(self, stream: terms.StreamDescriptor) -> None:
        """Begin the stream's next interval."""
        self._ordinals[stream] += 1

    def end_all_intervals(self) -> None:
        """Begin every stream's next interval."""
        for stream in self._ordinals:
            self._ordinals[stream] += 1
