"""The log of a task's outputs where spilling is continuous: every closed buffer is written.

One write of a task is under way at a time, and takes along all that was closed meanwhile.  With
handles each write makes an object, as an object store cannot append. A log service appends to one.
A checkpoint is whole when everything before its barrier has been written.

Assumption: a sender does not wait for its log, which has memory of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Persistence
from ckptsim.sim.job.buffers.state.recovery import BUFFER_HEADER_BYTES

if TYPE_CHECKING:
    from ckptsim.sim.job.buffers.state.storage import Moves
    from ckptsim.sim.job.buffers.tasks import Task
    from ckptsim.sim.job.port import FileStored


class OutputLog:
    """Logs what one task sends. size: bytes so far."""

    __slots__ = (
        "_appends",
        "_begun",
        "_durable",
        "_most",
        "_object",
        "_objects",
        "_task",
        "_waiting",
        "_write",
        "size",
    )

    def __init__(self, task: Task) -> None:
        self.size = 0
        self._task = task
        self._appends = task.world.model.channel_state.persistence is Persistence.LOG_SERVICE
        self._begun = self._durable = 0
        self._write: Moves | None = None
        # By checkpoint: up to where all must have been written, and the call then.
        self._waiting: dict[int, tuple[int, Callable[[], None]]] = {}
        network = task.world.model.network
        buffers = network.exclusive_buffers + network.floating_buffers
        # No more of a channel is in flight.
        self._most = (network.max_buffers_per_channel + buffers) * network.segment_bytes
        self._object = 0
        # By output: number of the object, and from where to where it has the output's bytes.
        self._objects: dict[int, deque[tuple[int, int, int]]] = {}

    def objects(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """Return for each output the newest objects and the bytes of it there, oldest first."""
        return {
            place: tuple((number, end - begin) for number, begin, end in found)
            for place, found in self._objects.items()
        }

    def append(self, outputs: Sequence[int], size: int) -> None:
        """Log a buffer that is closed, of one output or of all that a broadcast goes to."""
        self.size += size + BUFFER_HEADER_BYTES
        for output in outputs:
            found = self._objects.setdefault(output, deque())
            end = begin = found[-1][2] if found else 0
            if found and found[-1][0] == self._object:
                begin = found.pop()[1]
            found.append((self._object, begin, end + size))
            while found[-1][2] - found[0][2] >= self._most:
                found.popleft()
        if self._write is None:
            self._next()

    def _next(self) -> None:
        storage, size = self._task.world.storage, self.size - self._durable
        self._begun = self.size
        self._object += not self._appends
        self._write = storage.save(
            (size,),
            storage.channel_state,
            self._done,
            host=self._task.spec.task_manager,
            appends=self._appends,
        )

    def _done(self, *, failed: bool) -> None:
        self._write = None
        if not failed:  # else all of it is written again
            self._durable = self._begun
        if self.size > self._durable:
            self._next()
        ready = [one for one, (place, _) in self._waiting.items() if place <= self._durable]
        for checkpoint in ready:
            self._waiting.pop(checkpoint)[1]()

    def before(self, stored: FileStored) -> FileStored:
        """Return what calls `stored` when everything logged by now has been written, too."""
        place = self.size

        def whole(checkpoint: int, *, failed: bool) -> None:
            if place <= self._durable:
                stored(checkpoint, failed=failed)
            else:
                self._waiting[checkpoint] = place, partial(stored, checkpoint, failed=failed)

        return whole

    def drop(self, checkpoint: int) -> None:
        """Call no one for a checkpoint that is aborted."""
        self._waiting.pop(checkpoint, None)

    def halt(self) -> None:
        """Write no more: the task has failed."""
        self._waiting.clear()
        if self._write is not None:
            self._write.cancel()
