"""The reference driver: each task is a SimPy process that serves one record after the other.

It is slow and plain on purpose.  Nothing is worked out ahead: a record is served for its time, then
written byte by byte, and only then does the thread look at its mailbox.  What a thread does at a
record boundary, and what anybody tells it meanwhile, is the same code for all drivers; what they
make of the time between two boundaries is not, so equal runs prove the others right.

A boundary that nobody can see is no tie: no buffer is opened or freed at it, and no mail is there.
It comes behind all else that happens at its instant, and whatever does happen then finds it still
to come.  So other drivers may leave it out, whatever the policy of ties.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from ckptsim.sim.job.buffers.kinds import State
from ckptsim.sim.job.buffers.tasks.source import Source
from ckptsim.sim.job.buffers.tasks.task import Task
from ckptsim.sim.kernel import Signal

if TYPE_CHECKING:
    from ckptsim.sim.kernel import Process

Steps = Generator[Any, Any, None]


class ReferenceThread(Task):
    """What operators and sources have in common: the process, and one record under way at most."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._process: Process | None = None
        self._turn = Signal(self.env)
        self._boundary_ns = 0  # where the record under way ends
        self._is_unseen = False  # whether its boundary is behind all else of that instant

    def run(self) -> None:
        """Let the process continue at a record boundary; it begins when it does so first."""
        if self._process is None:
            self._process = self.env.process(self._steps(), entity=self.entity, on=self._turn)
        self._turn.happen()
        if not self._process.is_alive and not self._process.ok:
            raise self._process.value  # now, as from a callback, and not when its end is next

    _fire = run

    def halt(self) -> None:
        """End the process where it waits."""
        super().halt()
        if self._process is not None and self._process is not self.env.active_process:
            self._process.stop()

    def _steps(self) -> Steps:
        while True:
            found = self._look()
            if found is State.BUSY:
                yield from self._serve()
            elif found is State.ENDED:
                return
            else:
                self.enter(found)
                yield self._turn

    def _serve(self) -> Steps:
        """Serve the next record, and write it."""
        raise NotImplementedError

    def _spend_until(self, boundary_ns: int, state: State) -> Steps:
        """Be in a state until a record ends, then write it, unless mail has come before it began.

        The thread may come to stand inside the record: then it waits until all of it is written.
        """
        self._count, self._boundary_ns = 1, boundary_ns
        if self.state is not state:
            self.enter(state)
        self._is_unseen = not self._can_be_seen()
        arm = self._timer.arm_behind if self._is_unseen else self._timer.arm_at
        arm(boundary_ns)
        yield self._turn
        count, self._count, self._is_unseen = self._count, 0, False
        if count:
            self._complete(1)
        self._set_input_aside()
        if self.state is State.STUCK:
            yield self._turn

    def _can_be_seen(self) -> bool:
        """Return whether something but the next record follows from the one under way."""
        return any(writer.opens_next for writer in self.writers)

    def _show(self) -> None:
        """Put the boundary of the record under way among the ties of its instant."""
        if self._is_unseen:
            self._is_unseen = False
            self._timer.arm_at(self._boundary_ns)

    def _end_stretch(self, behind: int = 0) -> None:
        """Let mail find the boundary; what arrives at an input is found by the choice behind it."""
        if not behind:
            self._show()

    def _replan(self) -> None:
        """Let the boundary be seen if the record opens a buffer now that others were closed."""
        if self._count and self._can_be_seen():
            self._show()

    def sync(self) -> None:
        """Do nothing: what is done is accounted for."""


class ReferenceTask(ReferenceThread):
    """An operator subtask, record by record."""

    def _serve(self) -> Steps:
        if self._left == 1 and self._frees_when_read:
            self._channel.recycle(self._slice)  # type: ignore[union-attr,arg-type]
        yield from self._spend_until(self.env.now + self.step_ns, State.BUSY)

    def _can_be_seen(self) -> bool:
        # With the last record of a buffer its memory comes free: when that begins, or when it ends.
        if self._left <= 1 + self._frees_when_read:
            return True
        return (self._choice is not None and self._choice.alternates) or super()._can_be_seen()


class ReferenceSource(ReferenceThread, Source):
    """A source subtask, record by record."""

    def _serve(self) -> Steps:
        if self.gap_ns is not None and self._wait_for_due():
            yield from self._spend_until(self.due_ns, State.PACED)
        else:
            yield from self._spend_until(self.env.now + self.step_ns, State.BUSY)

    def _can_be_seen(self) -> bool:
        if self._reader is not None or self.processed + 1 == self.limit:
            return True
        # A source that has caught up begins to wait.
        paces = self.gap_ns is not None and self.due_ns + self.gap_ns > self._boundary_ns
        return (paces and self.state is State.BUSY) or super()._can_be_seen()
