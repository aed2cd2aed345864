"""What feeds a reader of the job: records from its sockets that it has not emitted yet."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from simpy import Event

    from ckptsim.sim.kernel import Environment


class RecordQueue:
    """A bounded queue in front of one source subtask; who fills it waits for room afterwards.

    wake: lets the thread of the source look for work.
    """

    def __init__(self, env: Environment, wake: Callable[[], None], capacity: int) -> None:
        self._env = env
        self._wake = wake
        self._capacity = capacity
        self._queue: deque[int] = deque()
        self._waiting: list[Event] = []
        self._closed = False

    @property
    def exhausted(self) -> bool:
        """Whether nothing is queued and nothing comes any more."""
        return self._closed and not self._queue

    @property
    def queued_count(self) -> int:
        """How many records can be taken now."""
        return len(self._queue)

    def put(self, record: int) -> None:
        """Queue a record; the last packet may go beyond the capacity."""
        self._queue.append(record)
        self._wake()

    def take(self) -> int:
        """Take the next record, and let those continue who wait for room."""
        record = self._queue.popleft()
        if self._waiting and len(self._queue) < self._capacity:
            waiting, self._waiting = self._waiting, []
            for event in waiting:
                event.succeed()
        return record

    def room(self) -> Event | None:
        """Return the wait for room, or None when there is some."""
        if len(self._queue) < self._capacity:
            return None
        event = self._env.event()
        self._waiting.append(event)
        return event

    def close(self) -> None:
        """Say that nothing follows."""
        self._closed = True
        self._wake()
