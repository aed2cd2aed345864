"""What each input channel of a task has delivered, and when all of them agree.

Two alignments run side by side over the channels of all gates: the final watermark and EndOfData.
The one of barriers is the barrier handler's (`ckptsim.models.barriers.handler.single`).

Source: Apache Flink 1.20.3, CheckpointedInputGate, StreamTask.
"""

from __future__ import annotations

from ckptsim.models.lifecycle.states import StopMode


class Inputs:
    """The end marks of the input channels, numbered from 0 through all gates in gate order."""

    def __init__(self, gate_channels: tuple[int, ...]) -> None:
        self._gate_of = [gate for gate, size in enumerate(gate_channels) for _ in range(size)]
        self._watermarks: set[int] = set()
        self._stop_modes: dict[int, StopMode] = {}
        self._ended: set[int] = set()

    @property
    def channel_count(self) -> int:
        """Return the number of channels of all gates."""
        return len(self._gate_of)

    @property
    def all_ended(self) -> bool:
        """Return whether EndOfPartition has come from every channel."""
        return len(self._ended) == self.channel_count

    def watermark(self, channel: int) -> bool:
        """Note a channel's final watermark. Return whether this completes the alignment."""
        if channel in self._watermarks:
            return False
        self._watermarks.add(channel)
        return len(self._watermarks) == self.channel_count

    def end_of_data(self, channel: int, stop_mode: StopMode) -> bool:
        """Note a channel's EndOfData. Return whether it is its first."""
        if channel in self._stop_modes:
            return False
        self._stop_modes[channel] = stop_mode
        return True

    def drained_gate(self, channel: int) -> int | None:
        """Return the channel's gate once all of its channels have ended with DRAIN, else None."""
        gate = self._gate_of[channel]
        modes = [self._stop_modes.get(c) for c, g in enumerate(self._gate_of) if g == gate]
        return gate if all(mode is StopMode.DRAIN for mode in modes) else None

    def common_stop_mode(self) -> StopMode | None:
        """Return the stop mode once every channel has one, NO_DRAIN before DRAIN, else None."""
        if len(self._stop_modes) < self.channel_count:
            return None
        if StopMode.NO_DRAIN in self._stop_modes.values():
            return StopMode.NO_DRAIN
        return StopMode.DRAIN

    def end_of_partition(self, channel: int) -> None:
        """Note the end of a channel."""
        self._ended.add(channel)
