r"""A trace as text: messages of a job, Mermaid sequence diagrams, and logs for ShiViz.

A trace has the events at a task, not the messages on their way: a barrier is an entry where it is
taken, or (on records) where the snapshot is.  Who sent it follows from the graph: the newest entry
of the channel's sender about the same checkpoint.

Entities are the participants in the order in which they first act. Entries are notes, messages are
arrows from where they start to where they end.

An entry happens after all earlier ones of its entity, and after the entry that began the message
which it ends.

Source: Beschastnikh, Wang, Brun, Ernst, Debugging Distributed Systems, ACM Queue 14(2), 2016. The
pattern is `(?<event>.*)\n(?<host>\S*) (?<clock>{.*})`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ckptsim.scenarios import Scenario
from ckptsim.scenarios.composed import Pipeline
from ckptsim.scenarios.job import Job
from ckptsim.sim.job.graph import Graph
from ckptsim.sim.kernel import Entry
from ckptsim.sim.story import Vocabulary, instant, tell
from ckptsim.sim.story.causes import spans


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


# A viewer does not show more. Mermaid itself refuses texts of more than 50,000 characters.
_LINES_MAX = 250


def diagram(entries: Sequence[Entry], vocabulary: Vocabulary, sent: Sequence[Message] = ()) -> str:
    """Return the diagram as text, cut after some hundred lines. sent: messages without spans."""
    arriving: dict[int, list[Message]] = {}
    for message in sent:
        if entries[message.start][2] != entries[message.end][2]:
            arriving.setdefault(message.end, []).append(message)
    receivers = {
        span.end: str(entries[span.start][2])
        for span in spans(entries, vocabulary)
        if span.end is not None and entries[span.end][2] != entries[span.start][2]
    }
    shown = list(entries[:_LINES_MAX])
    names = list(dict.fromkeys(str(entry[2]) for entry in shown))
    for position, entry in enumerate(shown):
        for other in (receivers.get(position), _handed_to(entry, vocabulary)):
            if other is not None and other not in names:
                names.append(other)
    aliases = {name: f"P{number}" for number, name in enumerate(names)}
    lines = ["sequenceDiagram"]
    lines += [f"    participant {alias} as {_text(name)}" for name, alias in aliases.items()]
    for position, entry in enumerate(shown):
        here = aliases[str(entry[2])]
        line = tell([entry], vocabulary)[0]
        says = f"{instant(line.time_ns)} {_text(line.text)}"
        for message in arriving.get(position, []):
            start = aliases[str(entries[message.start][2])]
            lines.append(f"    {start}->>{here}: {_text(message.name)}")
        sender = receivers.get(position)
        receiver = _handed_to(entry, vocabulary)
        if sender is not None:
            lines.append(f"    {aliases[sender]}->>{here}: {says}")
        elif receiver is not None:
            lines.append(f"    {here}->>{aliases[receiver]}: {says}")
        else:
            lines.append(f"    Note over {here}: {says}")
    if len(entries) > len(shown) and names:
        left_out = len(entries) - len(shown)
        lines.append(f"    Note over {aliases[names[0]]}: {left_out} further entries are left out")
    return "\n".join(lines) + "\n"


def _handed_to(entry: Entry, vocabulary: Vocabulary) -> str | None:
    telling = vocabulary.get(str(entry[1]))
    to = None if telling is None else telling.named(entry).get("to")
    return None if to is None or to == entry[2] else str(to)


def _text(text: str) -> str:
    """Return a text in which nothing is Mermaid's own. Entities are written as `#code;`."""
    return re.sub(r'[#;<>{}"`\\]', lambda match: f"#{ord(match[0])};", text)


PATTERN = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"


def log(entries: Sequence[Entry], vocabulary: Vocabulary, sent: Sequence[Message] = ()) -> str:
    """Return per entry a line of text, the entity and its clock. sent: messages without spans."""
    causes: dict[int, list[int]] = {}
    ends = [(span.end, span.start) for span in spans(entries, vocabulary)]
    for end, start in [*ends, *((message.end, message.start) for message in sent)]:
        if end is not None:
            causes.setdefault(end, []).append(start)
    clocks: dict[str, dict[str, int]] = {}
    at: list[dict[str, int]] = []
    lines: list[str] = []
    for position, entry in enumerate(entries):
        host = _host(entry)
        clock = clocks.setdefault(host, {})
        for cause in causes.get(position, []):
            for other, count in at[cause].items():
                clock[other] = max(clock.get(other, 0), count)
        clock[host] = clock.get(host, 0) + 1
        at.append(dict(clock))
        line = tell([entry], vocabulary)[0]
        text = line.text.replace("\n", " ")
        shown = json.dumps(clock, sort_keys=True, ensure_ascii=False)
        lines.append(f"{instant(line.time_ns)} {text}\n{host} {shown}")
    return "\n".join(lines) + "\n" if lines else ""


def _host(entry: Entry) -> str:
    return "_".join(str(entry[2]).split())
