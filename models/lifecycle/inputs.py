"""What each input channel of a task has delivered, and when all of them agree.

Three alignments run side by side over the channels of all gates: the final watermark, EndOfData and
the barriers of the newest checkpoint.  An ended channel counts as aligned for a barrier alignment
that is under way, and is not waited for by one that opens later.

Source: Apache Flink 1.20.3, CheckpointedInputGate, SingleCheckpointBarrierHandler, StreamTask.
"""

from __future__ import annotations

from ckptsim.models.lifecycle.states import StopMode


class Inputs:
    """The end marks of the input channels, numbered from 0 through all gates in gate order."""

    def __init__(self, gates: tuple[int, ...]) -> None:
        self.gates = gates
        self._gate_of = [gate for gate, size in enumerate(gates) for _ in range(size)]
        self._watermarks: set[int] = set()
        self._stop_modes: dict[int, StopMode] = {}
        self._ended: set[int] = set()
        self.aligning: int | None = None
        self.aligning_savepoint = False
        self._aligned: set[int] = set()
        self._target: frozenset[int] = frozenset()

    @property
    def channel_count(self) -> int:
        """Return the number of channels of all gates."""
        return len(self._gate_of)

    @property
    def all_ended(self) -> bool:
        """Say whether EndOfPartition has come from every channel."""
        return len(self._ended) == self.channel_count

    def watermark(self, channel: int) -> bool:
        """Note a channel's final watermark; say whether this completes the alignment."""
        if channel in self._watermarks:
            return False
        self._watermarks.add(channel)
        return len(self._watermarks) == self.channel_count

    def end_of_data(self, channel: int, stop_mode: StopMode) -> bool:
        """Note a channel's EndOfData; say whether it is its first."""
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

    def open_alignment(self, checkpoint_id: int, *, savepoint: bool) -> None:
        """Begin to align a checkpoint over the channels that are open now."""
        self.aligning = checkpoint_id
        self.aligning_savepoint = savepoint
        self._aligned = set()
        self._target = frozenset(range(self.channel_count)) - self._ended

    def close_alignment(self) -> None:
        """Forget the alignment under way, if any."""
        self.aligning = None
        self._aligned = set()
        self._target = frozenset()

    def align(self, channel: int) -> bool:
        """Count a channel as aligned; say whether every awaited channel is."""
        self._aligned.add(channel)
        return self._target <= self._aligned

    def end_of_partition(self, channel: int) -> bool:
        """Note the end of a channel; say whether this completes the barrier alignment."""
        self._ended.add(channel)
        return self.aligning is not None and self.align(channel)
