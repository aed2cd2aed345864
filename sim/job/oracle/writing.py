"""What must hold of the writing of a task's part: it ends in time once nothing else is missing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.sim.job.oracle.tasks import TaskOracle

_IN_TIME = "parts_are_written_in_time"


class Writing:
    """Which parts of one task are being written, and since when that is all they wait for.

    A part is acknowledged, declined or taken back within `PlaneView.writing_ns` of the instant at
    which its snapshot has been taken, all its barriers have come, and the state of all its outputs
    is known; where subtasks share a file of channel state, the same holds of the others by then.
    Behind that nothing more is written for it.
    A checkpoint that expires would hide that it never is.

    peers: all tasks of the attempt, by number.  open_outputs: of how many outputs the state is not
    known, by checkpoint.  given_up: whose part of a shared file may never be whole.
    """

    def __init__(self, task: TaskOracle, peers: Mapping[int, TaskOracle]) -> None:
        self._task = task
        self._peers = peers
        self._since_ns: dict[int, int | None] = {}  # since when nothing else is missing
        self._missing: TaskOracle | None = None
        self.open_outputs: Counter[int] = Counter()
        self.given_up: dict[int, None] = {}

    @property
    def is_under_way(self) -> bool:
        """Return whether a part is being written."""
        return bool(self._since_ns)

    def begun(self, checkpoint: int) -> None:
        """Expect that a part is written."""
        self._since_ns[checkpoint] = None
        self.look()

    def file_begun(self, checkpoint: int) -> None:
        """Check that no file is begun of a checkpoint that was given up before."""
        if checkpoint in self.given_up:
            says = f"begins to write a file for {checkpoint}, which it has given up"
            self._task.says(_IN_TIME, says, checkpoint)

    def ended(self, checkpoint: int, *, whole: bool) -> None:
        """Check that a part was not under way for too long."""
        self.look()
        self._since_ns.pop(checkpoint, None)
        if not whole:
            self.given_up[checkpoint] = None

    def look(self) -> None:
        """Check that no part has been under way for too long, at an instant or between two."""
        if not self._since_ns:
            return
        task = self._task
        if task.is_over or task.lifecycle.closed_ns is not None:
            self._since_ns.clear()
            return
        longest_ns = task.plane.writing_ns
        for checkpoint, since_ns in list(self._since_ns.items()):
            if since_ns is None:
                if self._has_all(checkpoint):
                    self._since_ns[checkpoint] = task.now_ns
            elif any(one.is_over for one in self._peers.values()):
                self._since_ns[checkpoint] = None  # one that it may have waited for has failed
            elif longest_ns is not None and task.now_ns > since_ns + longest_ns:
                del self._since_ns[checkpoint]
                says = f"writes its part of {checkpoint} since {duration_text(since_ns)}, and "
                task.says(_IN_TIME, f"{says}waits for nothing else", checkpoint)

    def _has_all(self, checkpoint: int) -> bool:
        missing = self._missing
        if missing is not None and not missing.writing.is_through(checkpoint):
            return False  # the one that was missing when it was asked last
        waits = (one for one in self._peers.values() if not one.writing.is_through(checkpoint))
        self._missing = next(waits, None)
        return self._missing is None

    def is_through(self, checkpoint: int) -> bool:
        """Return whether a checkpoint wants nothing more of the task than to write.

        One that has failed, or has given its part up, never gives its part of a shared file.
        """
        task = self._task
        if task.is_over or checkpoint in self.given_up:
            return False
        if task.lifecycle.closed_ns is not None:
            return True
        has_come = not task.inputs or task.ended >= checkpoint
        return has_come and not self.open_outputs[checkpoint]
