"""The world's own account of how tasks end: marks, calls, acknowledgements, final checkpoints.

Nothing here asks a lifecycle core what it believes: what was emitted, polled, called, performed and
completed is noted where it happens, and every step towards the end is judged by that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ckptsim.scenarios.job import Job, Protocol
from ckptsim.sim.job.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from ckptsim.sim.job.records.link import Link
    from ckptsim.sim.job.records.task import Task

_ORDER = ("watermark", "end of data", "end of partition")


class LifeAccount:
    """The account of one attempt; tasks and channels by their indices."""

    def __init__(self, job: Job, graph: Graph, violate: Callable[[str, str], None]) -> None:
        self._graph = graph
        self._violate = violate
        self._naive = job.ending.protocol is Protocol.NAIVE
        checkpointing = job.checkpointing
        self._final = checkpointing.enabled and checkpointing.after_finish
        self._marks: dict[int, list[str]] = {}
        self._calls: dict[int, list[tuple[str, int]]] = {}
        self._polled: dict[int, bool] = {}  # EndOfData per channel; True for DRAIN
        self._acknowledged: set[int] = set()
        self._over: set[int] = set()
        self._waiting: set[int] = set()
        self._performed: dict[int, list[int]] = {}
        self._cut_short: set[int] = set()
        self._reported: set[int] = set()

    # --- what tasks send ---

    def mark(self, task: Task, mark: str, *, drain: bool = False) -> None:
        """Note an end mark that a task sends: each comes once, in order."""
        marks = self._marks.setdefault(task.spec.index, [])
        if marks and _ORDER.index(mark) <= _ORDER.index(marks[-1]):
            self._violate("end_marks_in_order", f"{task.name} sends {mark} after {marks[-1]}")
        if drain and task.links_out and "watermark" not in marks:
            says = f"{task.name} sends the end of drained data before the final watermark"
            self._violate("end_marks_in_order", says)
        marks.append(mark)

    def record(self, task: Task) -> None:
        """Note that a task sends a record: none may follow an end mark."""
        if self._marks.get(task.spec.index):
            last = self._marks[task.spec.index][-1]
            self._violate("end_marks_in_order", f"{task.name} sends a record after {last}")

    def left(self, link: Link) -> None:
        """Note that a sender leaves: under the acknowledgement rule its channels are empty."""
        remaining = link.emitted - link.consumed
        if remaining and self._final and not self._naive:
            says = f"{link.sender.name} leaves with {remaining} records not processed behind it"
            self._violate("finished_task_leaves_no_records", says)

    # --- what tasks receive ---

    def polled(self, link: Link, *, drain: bool) -> None:
        """Note that a task takes EndOfData from a channel."""
        self._polled[link.spec.index] = drain

    def acknowledge(self, link: Link) -> None:
        """Note the acknowledgement of EndOfData: after it was polled, and once."""
        channel = link.spec.index
        if channel not in self._polled or channel in self._acknowledged:
            how = "twice" if channel in self._acknowledged else "before it is polled"
            says = f"{link.receiver.name} acknowledges EndOfData of {link.sender.name} {how}"
            self._violate("acknowledged_once_when_polled", says)
        self._acknowledged.add(channel)

    def channel_ended(self, link: Link) -> None:
        """Note EndOfPartition at the receiver."""
        if link.spec.index in self._over:
            self._violate("end_marks_in_order", f"{link.receiver.name} gets EndOfPartition twice")
        self._over.add(link.spec.index)

    # --- what tasks call ---

    def cut_short(self, task: Task) -> None:
        """Note that a source is stopped without drain before it has ended by itself."""
        self._cut_short.add(task.spec.index)

    def call(self, task: Task, what: str, operator: int) -> None:
        """Note a call of an operator: each at most once, and none after the wrong one."""
        calls = self._calls.setdefault(task.spec.index, [])
        gates = max(1, len(self._graph.gates[task.spec.index]))
        allowed = gates if what == "end_input" and operator == 0 else 1
        if calls.count((what, operator)) >= allowed:
            self._violate("end_marks_in_order", f"{task.name}: {what} is called too often")
        if what == "end_input" and ("finish", operator) in calls:
            self._violate("end_marks_in_order", f"{task.name}: endInput is called after finish")
        if what == "finish" and ("advance", operator) not in calls and not self._naive:
            says = f"{task.name} finishes before its event time has come to its end"
            self._violate("end_marks_in_order", says)
        calls.append((what, operator))
        if what in ("finish", "advance") and self._is_cut(task):
            says = f"{task.name}: {what} is called, but its input was cut by a stop without drain"
            self._violate("no_drain_ends_nothing", says)

    def _is_cut(self, task: Task) -> bool:
        """Say whether some of a task's input was cut; endInput may be true of the other gates."""
        return bool(self._cut_short & self._graph.sources_above(task.spec.index))

    # --- the final checkpoint ---

    def waits(self, task: Task) -> None:
        """Note that a task has ended its data and waits for its final checkpoint."""
        self._waiting.add(task.spec.index)

    def has_mixed_ends(self, task: Task) -> bool:
        """Say whether some inputs of a task were drained and others cut."""
        ends = {self._polled.get(link.spec.index) for link in task.inputs}
        return {True, False} <= ends

    def reported(self, task: int) -> None:
        """Note that a task's report of its end of data has come to the coordinator."""
        self._reported.add(task)

    def all_drained(self) -> bool:
        """Say whether every task has said that it has ended its data, and no stop has cut any."""
        return len(self._reported) == len(self._graph.tasks) and not self._cut_short

    def performed(self, task: Task, checkpoint: int) -> None:
        """Note that a task takes part in a checkpoint, and whether that could be its final one."""
        if task.spec.index in self._waiting:
            self._performed.setdefault(task.spec.index, []).append(checkpoint)

    def final_checkpoints(self, task: Task) -> tuple[int, ...]:
        """Return the checkpoints that a task took part in after its end, as it did."""
        return tuple(self._performed.get(task.spec.index, ()))

    def closed(self, task: Task, completed: set[int]) -> None:
        """Note that a task closes: nothing that it has to wait for may be open."""
        index = task.spec.index
        missing = []
        if self._final and not completed.intersection(self._performed.get(index, ())):
            missing.append("the completion of a checkpoint that it took part in after its end")
        if self._final and not self._naive:
            unpolled = [link for link in task.links_out if link.spec.index not in self._polled]
            missing += [f"{link.receiver.name} to take its EndOfData" for link in unpolled]
        open_inputs = [link for link in task.inputs if link.spec.index not in self._over]
        missing += [f"EndOfPartition of {link.sender.name}" for link in open_inputs]
        if index not in self._waiting:
            missing.append("the end of its data")
        if missing:
            says = f"{task.name} closes and does not wait for {', '.join(missing)}"
            self._violate("closes_when_all_is_over", says)
