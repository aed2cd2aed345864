"""The world's own account of closing: since when a task waits for nothing, and when it goes.

What a task waits for (FLIP-147; `models/lifecycle/tables.py`) comes to it one by one: the end of
its data, EndOfPartition on every input, the acknowledgement of its EndOfData on every output, the
word that its final checkpoint is complete, and the end of what it writes asynchronously.  At the
instant of the last one it closes, and EndOfPartition leaves on every output: a task that looks too
late, or an EndOfPartition behind a backlog, shows as a delay here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Job, Protocol

if TYPE_CHECKING:
    from ckptsim.sim.job.records.link import Link
    from ckptsim.sim.job.records.task import Task

PROPERTY = "end_of_partition_leaves_at_once"


def waits_for_its_end(job: Job) -> bool:
    """Say whether tasks of a job wait for acknowledgements and a final checkpoint at all."""
    checkpointing = job.checkpointing
    naive = job.ending.protocol is Protocol.NAIVE
    return checkpointing.enabled and checkpointing.after_finish and not naive


class ClosingAccount:
    """What has come to one task of what it waits for, with instants in ns."""

    def __init__(self, task: Task) -> None:
        self._task = task
        job = task.attempt.job
        self._wants_acknowledgements = job.ending.acknowledgements
        self._exact = job.ending.protocol is Protocol.FLINK  # a stop waits for its own savepoint
        self._checks = waits_for_its_end(job)
        self._ended_ns: int | None = None
        self._complete_ns: int | None = None  # the word of the final checkpoint
        self._settled_ns = 0
        self._acknowledged: dict[int, int] = {}  # channel -> instant
        self._inputs_over: dict[int, int] = {}
        self._first_after_end: int | None = None
        self._savepoint: int | None = None
        self._heard = task.attempt.restored_id or 0
        self._closed = False

    def ended(self) -> None:
        """Note that the task has ended its data."""
        self._ended_ns = self._now

    def acknowledged(self, link: Link) -> None:
        """Note that the task hears that its EndOfData was polled."""
        self._acknowledged.setdefault(link.spec.index, self._now)

    def input_over(self, link: Link) -> None:
        """Note that the task takes EndOfPartition."""
        self._inputs_over.setdefault(link.spec.index, self._now)

    def performed(self, checkpoint: int) -> None:
        """Note that the task takes part in a checkpoint."""
        if self._task.attempt.is_stop(checkpoint):
            self._savepoint = checkpoint
        if self._ended_ns is not None and self._first_after_end is None:
            self._first_after_end = checkpoint

    def heard(self, checkpoint: int | None) -> None:
        """Note that the task hears of a completion; one behind a newer one says nothing."""
        if checkpoint is None or checkpoint <= self._heard:
            return
        self._heard = checkpoint
        if self._savepoint is not None and self._exact:
            final = checkpoint == self._savepoint
        else:
            final = self._first_after_end is not None and checkpoint >= self._first_after_end
        if final and self._complete_ns is None:
            self._complete_ns = self._now

    def settled(self) -> None:
        """Note that nothing is being written asynchronously any more."""
        self._settled_ns = self._now

    def closed(self) -> None:
        """Check that the task closes at the instant at which its last wait is over."""
        self._closed = True
        due_ns = self._due_ns()
        if due_ns is not None and due_ns < self._now:
            self._task.attempt.violate(PROPERTY, f"{self._task.name} closes {self._late(due_ns)}")

    def run_ended(self) -> None:
        """Check, at the end of a run, that the task does not stay although its waits are over."""
        due_ns = None if self._closed else self._due_ns()
        if due_ns is not None and due_ns < self._now and not self._task.ending.has_writes:
            says = f"{self._task.name} has not closed {self._late(due_ns)}"
            self._task.attempt.violate(PROPERTY, says)

    def _due_ns(self) -> int | None:
        """Return when the last wait was over, None while one is not or where there are none."""
        task = self._task
        complete = self._ended_ns is not None and self._complete_ns is not None
        missing = len(self._inputs_over) < len(task.inputs)
        if self._wants_acknowledgements:
            missing |= len(self._acknowledged) < len(task.links_out)
        if not self._checks or not complete or missing:
            return None
        instants = [self._ended_ns or 0, self._complete_ns or 0, self._settled_ns]
        instants += [*self._inputs_over.values()]
        if self._wants_acknowledgements:
            instants += [*self._acknowledged.values()]
        return max(instants)

    def _late(self, due_ns: int) -> str:
        return f"{self._now - due_ns} ns after all that it waits for was over"

    @property
    def _now(self) -> int:
        return self._task.env.now
