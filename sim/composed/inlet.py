"""What a reader of the job has from its sockets and has not emitted yet."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simpy import Event

    from ckptsim.sim.job.records.snapshot import Record
    from ckptsim.sim.job.records.task import Task


class RecordInlet:
    """A bounded queue in front of one source subtask; who fills it waits for room afterwards."""

    def __init__(self, task: Task, capacity: int) -> None:
        self._task = task
        self._capacity = capacity
        self._queue: deque[Record] = deque()
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

    def put(self, record: Record) -> None:
        """Queue a record; the last packet may go beyond the capacity."""
        self._queue.append(record)
        self._task.wake()

    def take(self) -> Record:
        """Take the next record, and let those go on who wait for room."""
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
        event = self._task.env.event()
        self._waiting.append(event)
        return event

    def close(self) -> None:
        """Say that nothing follows."""
        self._closed = True
        self._task.wake()
