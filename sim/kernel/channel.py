"""A bounded first-in first-out channel between processes, with an account of every item.

`yield channel.put(item)` and `yield channel.get()` are SimPy waits.  When there is room, or an
item, nothing is scheduled: the answer is an event that has happened already, and the process
continues at once.  Most events of a SimPy `Store` fall away with that.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import simpy
from simpy.events import NORMAL, PENDING

from ckptsim.sim.kernel.entity import KIND_ORDINARY, ConservationError, Entity, KernelError

if TYPE_CHECKING:
    from ckptsim.sim.kernel.environment import Environment

Item = TypeVar("Item")


class Channel(Generic[Item]):
    """A queue of at most `capacity` items in the order of puts. traced: record every hand-off."""

    __slots__ = (
        "_getters",
        "_items",
        "_put_at_once",
        "_putters",
        "capacity",
        "dropped",
        "entity",
        "env",
        "given",
        "taken",
        "traced",
    )

    def __init__(
        self, env: Environment, entity: Entity, capacity: int, *, traced: bool = False
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity: found {capacity}, expected 1 or more")
        self.env = env
        self.entity = entity
        self.capacity = capacity
        self.traced = traced
        self.given = 0
        self.taken = 0
        self.dropped = 0
        # Getters wait only while the channel is empty, putters only while it is full.  Each method
        # restores that before it returns, by handing over at once: an item belongs to its getter
        # from the put on, and its place to the next putter from the get on.  When the woken
        # processes run is up to the tie policy, but by then no one can take everything that is
        # theirs: so the order of items is the one of puts and gets, whatever the ties.
        self._items: deque[Item] = deque()
        self._getters: deque[Request] = deque()
        self._putters: deque[Request] = deque()
        # The answer of every put that need not wait: it has happened, so one serves for all.
        self._put_at_once = Request(self, self._putters)
        self._put_at_once.happen_at_once(None)
        env.register_channel(self)

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Item) -> Request:
        """Return the wait until the item is in the channel."""
        self.given += 1
        if self._getters:
            self._getters.popleft().happen(item)
            self._count_taken()
            return self._put_at_once
        if len(self._items) < self.capacity:
            self._items.append(item)
            return self._put_at_once
        request = Request(self, self._putters)
        request.item = item
        self._putters.append(request)
        return request

    def get(self) -> Request:
        """Return the wait for the next item. Use it in `with` where it may be aborted."""
        request = Request(self, self._getters)
        if not self._items:
            self._getters.append(request)
            return request
        request.happen_at_once(self._items.popleft())
        self._count_taken()
        if self._putters:
            self._admit()
        return request

    def drop_all(self) -> list[Item]:
        """Empty the channel, as a crash of its owner does, and return its content."""
        lost = list(self._items)
        self._items.clear()
        self.dropped += len(lost)
        while self._putters and len(self._items) < self.capacity:
            self._admit()
        return lost

    def check(self) -> None:
        """Raise ConservationError unless given = taken + queued + waiting + dropped."""
        queued, waiting = len(self._items), len(self._putters)
        if self.given != self.taken + queued + waiting + self.dropped:
            raise ConservationError(
                f"channel {self.entity.name}: {self.given} items were given, but {self.taken} "
                f"taken, {queued} queued, {waiting} waiting and {self.dropped} dropped"
            )

    def _admit(self) -> None:
        """Let the longest waiting put into the channel."""
        putter = self._putters.popleft()
        self._items.append(putter.item)
        putter.happen(None)

    def _count_taken(self) -> None:
        self.taken += 1
        if self.traced:
            self.env.trace.record("hand_off", self.entity, self.taken)


class Request(simpy.Event):
    """The wait for a put or a get. Leaving a `with` block gives up one that has not happened."""

    item: Any = None
    _ok = True

    def __init__(self, channel: Channel[Any], queue: deque[Request]) -> None:
        self.env = env = channel.env
        self.callbacks: Any = []
        self.entity = env.active_entity
        self._channel = channel
        self._queue = queue

    def happen_at_once(self, value: object) -> None:
        """Be an event that has happened: a process that yields it continues without waiting."""
        self.callbacks = None
        self._value = value

    def happen(self, value: object) -> None:
        """Wake those who wait.

        Raises KernelError when no one does: an item handed to such a request would be lost, as
        after a race that another event won.
        """
        if not self.callbacks:  # a process that waits is among them. One that gave up is not
            raise KernelError(
                f"channel {self._channel.entity.name}: a request of {self.entity.name} was left "
                "behind; use `with channel.get() as request`, or call its cancel()"
            )
        self._value = value
        self.env.push(self.env.now, NORMAL, KIND_ORDINARY, self.entity, self)

    def cancel(self) -> None:
        """Give the request up, unless it has happened."""
        if self._value is PENDING and self in self._queue:
            self._queue.remove(self)
            # A put that was aborted never gave its item, so that the account goes up as before.
            if self._queue is self._channel._putters:  # noqa: SLF001 - one noun, two classes
                self._channel.given -= 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.cancel()
