"""A feed's plan within one attempt: what is left to read, and what its states say."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ckptsim.models.ordering import StreamDescriptor
from ckptsim.sim.sync.intervals import Intervals, IntervalSet
from ckptsim.sim.sync.oracle.truth import Partition

if TYPE_CHECKING:
    from ckptsim.sim.sync.oracle.truth import Feed


class FeedPlan:
    """What one feed has left to read in one attempt, cut into rounds of partitions."""

    def __init__(self, feed: Feed, descriptor: StreamDescriptor | None, base: Intervals) -> None:
        self.feed = feed
        self.descriptor = descriptor
        self.round = 0
        self._claimed = IntervalSet(base)
        self._left = deque(self._claimed.missing(0, feed.total))
        # What the n-th state of this attempt claims, once it has been absorbed.
        self._claims: list[Intervals] = [base]
        self._new: dict[int, Partition] = {}  # those whose state no message has told yet

    def next_round(self, readers: int) -> list[Partition]:
        """Take the partitions of the next round, at most as many as there are readers."""
        self.round += 1
        partitions: list[Partition] = []
        while self._left and len(partitions) < readers:
            low, high = self._left.popleft()
            end = min(high, low + self.feed.partition_records)
            if end < high:
                self._left.appendleft((end, high))
            partitions.append(Partition(self.feed, low=low, high=end))
        return partitions

    def cut(self, partition: Partition, at: int) -> None:
        """End a partition before its planned end; the rest is left for a later round."""
        if at < partition.high:
            self._left.appendleft((at, partition.high))
            partition.high = at

    def new_token(self, partition: Partition) -> int:
        """Return the name of the state that a reader's end makes; what it claims comes later."""
        self._claims.append(())
        token = len(self._claims) - 1
        self._new[token] = partition
        return token

    def absorb(self, token: int) -> Partition | None:
        """Let a state that is new claim its partition and all that was absorbed before."""
        partition = self._new.pop(token, None)
        if partition is None:
            return None
        self._claimed.add(partition.low, partition.high)
        self._claims[token] = self._claimed.intervals()
        return partition

    def claims(self, token: int) -> Intervals:
        """Return what an absorbed state claims."""
        return self._claims[token]
