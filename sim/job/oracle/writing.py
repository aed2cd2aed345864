"""What must hold of the writing of a task's part: it ends in time once nothing else is missing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ckptsim.scenarios.dialect import duration_text
from ckptsim.sim.job.oracle.observer import TaskObserver

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ckptsim.sim.job.oracle.channels import ChannelOracle
    from ckptsim.sim.job.oracle.ends.lifecycle import LifecycleOracle
    from ckptsim.sim.job.oracle.event_time import EventTimeOracle
    from ckptsim.sim.job.oracle.view import PlaneView, Violate
    from ckptsim.sim.job.port import ObservedTask

_IN_TIME = "parts_are_written_in_time"


class WritingOracle(TaskObserver):
    """Follows which parts of one task are being written, and since when that is all they wait for.

    A part is acknowledged, declined or taken back within `PlaneView.writing_ns` of the instant at
    which its snapshot has been taken, all its barriers have come, and the state of all its outputs
    is known; where subtasks share a file of channel state, the same holds of the others by then.
    Behind that nothing more is written for it.
    A checkpoint that expires would hide that it never is.

    peers: all tasks of the attempt, by number.
    """

    name: str
    task: ObservedTask
    plane: PlaneView
    violate: Violate
    lifecycle: LifecycleOracle
    event_time: EventTimeOracle
    inputs: list[ChannelOracle]
    outputs: list[ChannelOracle]
    is_over: bool
    peers: Mapping[int, WritingOracle]
    _ended: int  # newest checkpoint whose barriers have all come, or never will

    def __init__(self) -> None:
        # Checkpoint -> since when nothing else is missing.
        self._writing: dict[int, int | None] = {}
        self._missing: WritingOracle | None = None
        # Checkpoint -> of how many outputs the state is not known.
        self.open_outputs: Counter[int] = Counter()
        # Of which its part of a shared file may never be whole, until the others give it up, too.
        self._given_up: dict[int, None] = {}

    @property
    def now_ns(self) -> int:
        """The present instant."""
        return self.task.env.now

    @property
    def is_writing(self) -> bool:
        """Return whether a part is being written."""
        return bool(self._writing)

    def gave_up(self, checkpoint: int) -> bool:
        """Return whether it has given its part up."""
        return checkpoint in self._given_up

    def gate_persists(self, gate: int, checkpoint: int, /) -> None:
        """Check that the part can tell what it is to hold of the gate's channels."""
        if self.plane.is_restoring(self.task, gate):
            says = f"{self.name} persists gate {gate} for {checkpoint}, which still reads restored "
            says += "data, or has those of several old channels in one"
            self.violate("input_starts_and_stops_in_turn", says, checkpoint)

    def writing_begun(self, checkpoint: int, /) -> None:
        """Expect that the part is written."""
        self._writing[checkpoint] = None
        self.look_at_writing()

    def file_begun(self, checkpoint: int, /) -> None:
        """Check that its checkpoint has not been given up before."""
        if checkpoint in self._given_up:
            says = f"{self.name} begins to write a file for {checkpoint}, which it has given up"
            self.violate(_IN_TIME, says, checkpoint)

    def writing_over(self, checkpoint: int, /, *, whole: bool) -> None:
        """Check that it was not under way for too long."""
        self.look_at_writing()
        self._writing.pop(checkpoint, None)
        if not whole:
            self._given_up[checkpoint] = None

    def look_at_writing(self) -> None:
        """Check that no part has been under way for too long, at an instant or between two."""
        if not self._writing:
            return
        if self.is_over or self.lifecycle.closed_ns is not None:
            self._writing.clear()
            return
        longest_ns = self.plane.writing_ns
        for checkpoint, since_ns in list(self._writing.items()):
            if since_ns is None:
                if self._has_all(checkpoint):
                    self._writing[checkpoint] = self.now_ns
            elif any(one.is_over for one in self.peers.values()):
                self._writing[checkpoint] = None  # one whose part it may have waited for has failed
            elif longest_ns is not None and self.now_ns > since_ns + longest_ns:
                del self._writing[checkpoint]
                says = (
                    f"{self.name} writes its part of {checkpoint} since {duration_text(since_ns)}"
                )
                self.violate(_IN_TIME, f"{says}, and waits for nothing else", checkpoint)

    def _has_all(self, checkpoint: int) -> bool:
        if self._missing is not None and not self._missing.is_through(checkpoint):
            return False  # the one that was missing when it was asked last
        waits = (one for one in self.peers.values() if not one.is_through(checkpoint))
        self._missing = next(waits, None)
        return self._missing is None

    def is_through(self, checkpoint: int) -> bool:
        """Return whether a checkpoint wants nothing more of the task than to write.

        One that has failed, or has given its part up, never gives its part of a shared file.
        """
        if self.is_over or checkpoint in self._given_up:
            return False
        if self.lifecycle.closed_ns is not None:
            return True
        has_come = not self.inputs or self._ended >= checkpoint
        return has_come and not self.open_outputs[checkpoint]
