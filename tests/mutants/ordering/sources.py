"""Mutants of a source's core, and a right one with other positions than ours."""

from __future__ import annotations

from dataclasses import replace

from ckptsim.models.ordering.source import (
    EndRound,
    FailFeed,
    Feed,
    GenerationEnded,
    PartitionGenerated,
    ReaderFailed,
    ReaderFinished,
    RoundStarted,
    SourceCore,
    SourceEffect,
    SourceEvent,
    SourceParameters,
)
from ckptsim.sim.mutants.mutant import Mutant, by_name, sentence


class TellsAtOnce:
    """Emits a state for every result at once, with what `position` chooses."""

    def __init__(self, parameters: SourceParameters) -> None:
        self._inner = SourceCore(parameters)
        self._last: dict[Feed, object | None] = dict(parameters.initial)
        self._last[None] = parameters.initial_shared
        self._ended: dict[Feed, dict[int, object]] = {}

    def step(self, event: SourceEvent) -> list[SourceEffect]:
        """Number results as they come, so that the core inside absorbs each at once."""
        match event:
            case RoundStarted():
                self._ended[event.feed] = {}
            case ReaderFinished():
                ended = self._ended[event.feed]
                ended[event.reader] = event.state
                state = self._last[event.feed] = self.position(ended, self._last.get(event.feed))
                event = replace(event, reader=len(ended), state=state)
            case ReaderFailed():
                return [FailFeed(feed=event.feed, reader=event.reader)]
            case _:
                pass
        return self._inner.step(event)

    def position(self, ended: dict[int, object], last: object | None) -> object | None:
        """Return the position that is emitted with a result."""
        raise NotImplementedError


class LowWaterMark(TellsAtOnce):
    """Emits the last position up to which all partitions were read, as airbyte does now."""

    def position(self, ended: dict[int, object], last: object | None) -> object | None:
        """Return the state of the last reader up to which all have ended."""
        reader = 0
        while reader + 1 in ended:
            reader += 1
        return ended.get(reader, last)


class PositionOfNewestPartition(TellsAtOnce):
    """Moves its position past partitions that were generated and are still read (airbyte 34079)."""

    def position(self, ended: dict[int, object], last: object | None) -> object | None:
        """Return the state of the last partition that has ended."""
        del last
        return ended[max(ended)]


class EndsWithKnownPartitions(SourceCore):
    """Takes partitions generated so far for all once they are read (airbyte 48587)."""

    def __init__(self, parameters: SourceParameters) -> None:
        super().__init__(parameters)
        self._unread: dict[Feed, int] = {}

    def step(self, event: SourceEvent) -> list[SourceEffect]:
        """End a round as soon as no partition that it knows is left."""
        effects = super().step(event)
        match event:
            case RoundStarted() if event.generating:
                self._unread[event.feed] = 0
            case PartitionGenerated():
                self._unread[event.feed] += 1
            case GenerationEnded():
                del self._unread[event.feed]
            case ReaderFinished() if event.feed in self._unread:
                self._unread[event.feed] -= 1
                if not self._unread[event.feed]:
                    effects.append(EndRound(feed=event.feed))
        return effects


class FailedPartitionCounts(SourceCore):
    """Takes a partition for read although its reader failed (airbyte 37389)."""

    def step(self, event: SourceEvent) -> list[SourceEffect]:
        """Take a failure for an empty result at the position before it."""
        if isinstance(event, ReaderFailed):
            event = ReaderFinished(
                feed=event.feed,
                reader=event.reader,
                state=self.current(event.feed),
                count=0,
                partition_id=f"failed-{event.reader}",
            )
        return super().step(event)


MUTANTS = by_name(
    *(
        Mutant(name, sentence(factory), "source", factory)
        for name, factory in (
            ("position_of_newest_partition", PositionOfNewestPartition),
            ("ends_with_known_partitions", EndsWithKnownPartitions),
            ("failed_partition_counts", FailedPartitionCounts),
        )
    )
)
