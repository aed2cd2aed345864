"""Opening, completion and closing of streams over one or several channels.

On STDIO the one channel is ordered, so COMPLETE ends its stream at once.  On SOCKET COMPLETE is
only remembered, because other sockets may still hold records of the stream. When the last channel
has ended, every stream with COMPLETE ends.

Source: airbytehq/airbyte, bulk load CDK, `PipelineEventBookkeepingRouter` and `StreamManager`.
"""

from __future__ import annotations

from ckptsim.models.ordering import terms


class Lifecycle:
    """Where every stream and channel of one attempt is between its first and its last record."""

    def __init__(self, parameters: terms.OrderingParameters) -> None:
        self._deferred = parameters.medium is terms.Medium.SOCKET
        self._streams = list(parameters.streams)
        self._open_channels = [True] * parameters.channels
        self._opened: dict[terms.StreamDescriptor, None] = {}
        self._completed: dict[terms.StreamDescriptor, None] = {}
        self._ended: dict[terms.StreamDescriptor, None] = {}
        self._verdicts: dict[terms.StreamDescriptor, terms.Verdict] = {}

    def announce(self, stream: terms.StreamDescriptor) -> None:
        """Add a stream."""
        self._streams.append(stream)

    @property
    def input_closed(self) -> bool:
        """Return whether every channel has ended."""
        return not any(self._open_channels)

    @property
    def opened(self) -> tuple[terms.StreamDescriptor, ...]:
        """The streams opened so far, in the order of their first records."""
        return tuple(self._opened)

    @property
    def open_channels(self) -> tuple[bool, ...]:
        """Which channels have not ended yet."""
        return tuple(self._open_channels)

    @property
    def incomplete(self) -> tuple[terms.StreamDescriptor, ...]:
        """The streams without a COMPLETE, in the order of the catalog."""
        return tuple(stream for stream in self._streams if stream not in self._completed)

    def completed(self, stream: terms.StreamDescriptor) -> bool:
        """Return whether COMPLETE was read for the stream."""
        return stream in self._completed

    def ended(self, stream: terms.StreamDescriptor) -> bool:
        """Return whether the stream has ended: no record of it is accepted any more."""
        return stream in self._ended

    def verdict(self, stream: terms.StreamDescriptor) -> terms.Verdict:
        """Return the verdict of the stream's processing."""
        return self._verdicts.get(stream, terms.Verdict.PENDING)

    def record_refusal(self, stream: terms.StreamDescriptor, channel: int) -> terms.Refusal | None:
        """Return why a record of the stream cannot come on the channel, or None."""
        if not 0 <= channel < len(self._open_channels):
            return terms.Refusal.UNKNOWN_CHANNEL
        if not self._open_channels[channel] or (self._ended and stream in self._ended):
            return terms.Refusal.STREAM_CLOSED
        return None

    def open(self, stream: terms.StreamDescriptor) -> None:
        """Open the stream."""
        self._opened[stream] = None

    def complete_refusal(
        self, stream: terms.StreamDescriptor, channel: int
    ) -> terms.Refusal | None:
        """Return why COMPLETE of the stream cannot come on the channel, or None."""
        if not 0 <= channel < len(self._open_channels):
            return terms.Refusal.UNKNOWN_CHANNEL
        if not self._deferred and stream in self._completed:
            return terms.Refusal.ALREADY_CLOSED
        # The last close has told the end of every stream: a COMPLETE after it would end one twice.
        return None if self._open_channels[channel] else terms.Refusal.STREAM_CLOSED

    def complete(self, stream: terms.StreamDescriptor) -> bool:
        """Note COMPLETE. Return whether the stream ends with it."""
        self._completed[stream] = None
        if self._deferred:
            return False  # another socket is open: this one is
        self._ended[stream] = None
        return True

    def close_refusal(self, channel: int) -> terms.Refusal | None:
        """Return why a channel cannot end now, or None."""
        if not 0 <= channel < len(self._open_channels):
            return terms.Refusal.UNKNOWN_CHANNEL
        return None if self._open_channels[channel] else terms.Refusal.ALREADY_CLOSED

    def close(self, channel: int) -> tuple[terms.StreamDescriptor, ...] | None:
        """End a channel. When it was the last, return the streams that had not ended before."""
        self._open_channels[channel] = False
        if not self.input_closed:
            return None
        fresh = tuple(stream for stream in self._streams if stream not in self._ended)
        for stream in fresh:
            if stream in self._completed:
                self._ended[stream] = None
        return fresh

    def judge(self, stream: terms.StreamDescriptor, verdict: terms.Verdict) -> None:
        """Note a verdict, unless there is one already."""
        self._verdicts.setdefault(stream, verdict)
