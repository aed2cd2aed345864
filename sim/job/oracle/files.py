"""What must hold of the files of channel state that groups of subtasks share.

* Every beginning is answered exactly once, at the latest when the subtask begins a newer one.
* A part fails only with its file, or because its checkpoint was aborted or a newer one has begun.
* With a file that could not be written all parts of it fail, before anything else is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ckptsim.sim.job.oracle.observer import FileObserver

if TYPE_CHECKING:
    from ckptsim.sim.job.oracle.view import Violate


class FileOracle(FileObserver):
    """Who of a group waits for an answer, and why a part may fail; apart from what the core says.

    names: of the subtasks, for sentences.
    """

    __slots__ = ("_aborted", "_broken", "_names", "_newest", "_unanswered", "_untold", "_violate")

    def __init__(self, names: Mapping[int, str], violate: Violate) -> None:
        self._names = names
        self._violate = violate
        self._unanswered: dict[tuple[int, int], None] = {}  # (subtask, checkpoint)
        # A cause is asked for of the newest checkpoint only, so the newest of each is enough.
        self._newest = -1  # begun or aborted
        self._aborted = -1
        self._broken = -1
        self._untold = -1  # whose file could not be written, until all who wait have been told

    def started(self, subtask: int, checkpoint: int, /) -> None:
        """Note that a subtask begins to write."""
        self._check_told()
        self._unanswered[subtask, checkpoint] = None
        self._newest = max(self._newest, checkpoint)

    def aborted(self, checkpoint: int, /) -> None:
        """Note that a subtask gives its part up."""
        self._check_told()
        self._aborted = max(self._aborted, checkpoint)
        self._newest = max(self._newest, checkpoint)

    def broken(self, checkpoint: int, /) -> None:
        """Note that a file could not be written: who waits for it hears of that now."""
        self._check_told()
        self._broken = max(self._broken, checkpoint)
        self._untold = checkpoint

    def answered(self, subtask: int, checkpoint: int, /) -> None:
        """Check that there is one answer per beginning."""
        if (subtask, checkpoint) not in self._unanswered:
            says = f"{self._names[subtask]} hears of channel state of {checkpoint}, which it "
            says += "does not wait for"
            self._violate("writes_are_answered_once", says, checkpoint)
        self._unanswered.pop((subtask, checkpoint), None)

    def failed(self, subtask: int, checkpoint: int, /) -> None:
        """Check that a part fails for a cause."""
        if checkpoint >= self._newest and checkpoint not in (self._aborted, self._broken):
            name = self._names[subtask]
            says = f"the channel state of {name} for {checkpoint} is given up without a cause"
            self._violate("files_fail_for_a_cause", says, checkpoint)

    def attempt_ends(self) -> None:
        """Check that what had failed by then was told; nobody waits for the rest any more."""
        self._check_told()

    def _check_told(self) -> None:
        """Check that nobody waits any more for the file that could not be written last."""
        number, self._untold = self._untold, -1
        for subtask, checkpoint in self._unanswered:
            if checkpoint == number:
                says = f"{self._names[subtask]} is not told that its file of {number} has failed"
                self._violate("writes_are_answered_once", says, number)
                return

    def settled(self, subtask: int, /) -> None:
        """Check, after a beginning has been taken in, that older ones have been answered."""
        mine = [number for who, number in self._unanswered if who == subtask]
        for older in mine:
            if older < max(mine):
                says = f"{self._names[subtask]} never hears of its channel state of {older}"
                self._violate("writes_are_answered_once", says, older)
                del self._unanswered[subtask, older]

    def end(self, given_up: Callable[[int, int], bool]) -> None:
        """Check, when the job has ended, that nobody waits for an answer.

        given_up: whether a subtask has given its part of a checkpoint up: it waits for none.
        """
        self._check_told()
        for subtask, number in self._unanswered:
            if given_up(subtask, number):
                continue
            says = f"{self._names[subtask]} waits for its file of checkpoint {number}"
            owed = any(given_up(one, number) for one in self._names)
            name = "closed_tasks_owe_no_shared_file" if owed else "writes_are_answered_once"
            self._violate(name, says, number)
