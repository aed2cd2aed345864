"""Messages of a job between its tasks and its coordinator, worked out from trace and graph.

A trace has the events at a task, not the messages on their way: a barrier is an entry where it is
taken, or (on records) where the snapshot is.  Who sent it follows from the graph: the newest entry
of the channel's sender about the same checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.job import Job
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.kernel import Entry


@dataclass(frozen=True, slots=True)
class Message:
    """A message between two entities: the positions of the entries, and what it is."""

    name: str
    start: int
    end: int


def messages(entries: Sequence[Entry], scenario: Scenario) -> list[Message]:
    """Return the messages of the job in a scenario, by their ends. None where it has no job."""
    model = scenario.model
    if isinstance(model, Pipeline):
        model = model.job()
    if not isinstance(model, Job):
        return []
    return list(_Found(_senders(model)).through(entries))


def _senders(job: Job) -> dict[str, list[str]]:
    """Return for each task, as `vertex[subtask]`, the sender of each of its channels."""
    graph = Graph(job)
    names = [f"{task.vertex.name}[{task.subtask}]" for task in graph.tasks]
    return {
        names[task.index]: [
            names[graph.channels[channel].upstream] for channel in graph.inputs[task.index]
        ]
        for task in graph.tasks
    }


class _Found:
    """Messages that were sent until now: position of the newest entry, by sender and checkpoint."""

    def __init__(self, senders: dict[str, list[str]]) -> None:
        self._senders = senders
        self._sent: dict[tuple[str, object], int] = {}
        self._triggered: dict[object, int] = {}
        self._completed: dict[object, int] = {}
        self._acknowledged: dict[object, list[int]] = {}
        self._told: dict[tuple[str, object], None] = {}

    def through(self, entries: Sequence[Entry]) -> Iterator[Message]:
        """Yield the messages that end at each entry in turn."""
        for position, entry in enumerate(entries):
            here = str(entry[2]).removeprefix("task ")
            checkpoint = entry[3] if len(entry) > 3 else None
            match str(entry[1]):
                case "triggered":
                    self._triggered[checkpoint] = position
                case "barrier" | "announced" | "cancelled" as kind:
                    channel = entry[4]
                    yield from self._from_channel(position, here, checkpoint, channel, kind)
                case "performed" | "snapshot" | "sent_barrier" as kind:
                    yield from self._at_task(position, here, checkpoint, kind)
                case "acknowledged":
                    self._acknowledged.setdefault(checkpoint, []).append(position)
                case "completed" | "aborted":
                    for start in self._acknowledged.pop(checkpoint, []):
                        yield Message(f"acknowledges {checkpoint}", start, position)
                    self._completed[checkpoint] = position
                case "told" if entry[3] == "notify":
                    yield from self._notified(position, here, entry[5])

    def _from_channel(
        self, position: int, here: str, checkpoint: object, channel: object, kind: str
    ) -> Iterator[Message]:
        senders = self._senders.get(here, [])
        if not isinstance(channel, int) or channel >= len(senders):
            return
        start = self._sent.get((senders[channel], checkpoint))
        if start is not None:
            yield Message(f"{kind} {checkpoint}", start, position)

    def _at_task(
        self, position: int, here: str, checkpoint: object, kind: str
    ) -> Iterator[Message]:
        senders = self._senders.get(here)
        if not senders and (here, checkpoint) not in self._sent and checkpoint in self._triggered:
            yield Message(f"trigger {checkpoint}", self._triggered[checkpoint], position)
        if kind == "performed":  # on records the barriers themselves are no entries
            for sender in dict.fromkeys(senders or ()):
                start = self._sent.get((sender, checkpoint))
                if start is not None:
                    yield Message(f"barrier {checkpoint}", start, position)
        self._sent[here, checkpoint] = position

    def _notified(self, position: int, here: str, checkpoint: object) -> Iterator[Message]:
        if checkpoint in self._completed and (here, checkpoint) not in self._told:
            self._told[here, checkpoint] = None
            yield Message(f"notification {checkpoint}", self._completed[checkpoint], position)
