"""Write a trace as Chrome JSON, which ui.perfetto.dev opens.

Each entity is a thread of the process that its component is. Entries are instants, or slices of
1 ns where a message begins or ends, because flows join slices alone. Spans and checkpoints are
asynchronous slices, because they may overlap. How many checkpoints are pending and how many
messages are under way are counters.  Times are microseconds, written from whole
nanoseconds without rounding.  The bytes depend on nothing but the trace.

Source: Trace Event Format (Chromium project, catapult), and Perfetto's reading of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from ckptsim.sim.export.diagrams import Message
from ckptsim.sim.kernel import Entry
from ckptsim.sim.rows import CheckpointRow
from ckptsim.sim.story import Telling, Vocabulary, time_of
from ckptsim.sim.story.causes import spans

Event = dict[str, object]

_CHECKPOINTS = "checkpoints"
_DURATION = 0.001  # of an entry as a slice, in us


def document(
    entries: Sequence[Entry],
    vocabulary: Vocabulary,
    checkpoints: Sequence[CheckpointRow] = (),
    sent: Sequence[Message] = (),
) -> str:
    """Return the whole file as text. sent: messages that are no spans, such as barriers."""
    places = _Places(entries)
    last = max((time_of(entry) for entry in entries), default=0)
    events = places.metadata()
    flows = [*sent, *_messages_of(entries, vocabulary)]
    ends = {position for flow in flows for position in (flow.start, flow.end)}
    body = [
        _entry(entry, vocabulary, places, is_slice=position in ends)
        for position, entry in enumerate(entries)
    ]
    body += _span_events(entries, vocabulary, places, last)
    body += _flow_events(entries, flows, places)
    body += _checkpoint_events(checkpoints, last)
    under_way = [(time_of(entries[each.start]), time_of(entries[each.end])) for each in flows]
    body += _counter("messages under way", under_way)
    pending = [(row.triggered_ns, _ended(row, last)) for row in checkpoints]
    body += _counter("checkpoints pending", pending)
    body.sort(key=lambda event: event["ts"])  # type: ignore[arg-type, return-value] # stable
    lines = [_line(event) for event in events + body]
    return '{"displayTimeUnit":"ns","traceEvents":[\n' + ",\n".join(lines) + "\n]}\n"


class _Places:
    def __init__(self, entries: Sequence[Entry]) -> None:
        names = sorted({str(entry[2]) for entry in entries}, key=_natural)
        components = list(dict.fromkeys(name.partition("[")[0] for name in names))
        self._components = {name: number for number, name in enumerate(components, start=2)}
        self._threads = {name: number for number, name in enumerate(names, start=1)}

    def of(self, entity: str) -> tuple[int, int]:
        return self._components[entity.partition("[")[0]], self._threads[entity]

    def metadata(self) -> list[Event]:
        events = [*_process(1, _CHECKPOINTS)]
        for name, number in self._components.items():
            events += _process(number, name)
        for name, number in self._threads.items():
            process = self._components[name.partition("[")[0]]
            for what, value in (("thread_name", name), ("thread_sort_index", number)):
                events.append(_meta(what, process, number, value))
        return events


def _natural(name: str) -> tuple[str, int]:
    component, _, index = name.partition("[")
    digits = index.rstrip("]")
    return component, int(digits) if digits.isdigit() else -1


def _process(number: int, name: str) -> list[Event]:
    return [_meta("process_name", number, 0, name), _meta("process_sort_index", number, 0, number)]


def _meta(what: str, process: int, thread: int, value: str | int) -> Event:
    key = "name" if what.endswith("name") else "sort_index"
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "ts": 0, "args": {key: value}}


def _messages_of(entries: Sequence[Entry], vocabulary: Vocabulary) -> Iterator[Message]:
    for span in spans(entries, vocabulary):
        if span.end is not None and entries[span.start][2] != entries[span.end][2]:
            yield Message(span.name, span.start, span.end)


def _flow_events(
    entries: Sequence[Entry], flows: Sequence[Message], places: _Places
) -> Iterator[Event]:
    for number, flow in enumerate(flows):
        common: Event = {"cat": "message", "id": number, "name": flow.name}
        for phase, position in (("s", flow.start), ("f", flow.end)):
            process, thread = places.of(str(entries[position][2]))
            time = time_of(entries[position])
            event: Event = {**common, "ph": phase, "pid": process, "tid": thread, "ts": time}
            yield event | ({"bp": "e"} if phase == "f" else {})


def _counter(name: str, spells: Sequence[tuple[int, int]]) -> Iterator[Event]:
    """Yield how many spells, (begin, end) in ns, last, whenever that changes."""
    changes: dict[int, int] = {}
    for begin, end in spells:
        changes[begin] = changes.get(begin, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    count = 0
    for time in sorted(changes):
        if changes[time]:
            count += changes[time]
            yield {
                "ph": "C",
                "name": name,
                "pid": 1,
                "tid": 0,
                "ts": time,
                "args": {"count": count},
            }


def _ended(row: CheckpointRow, last: int) -> int:
    """Return when a checkpoint ended. One that did not, at the end of the trace."""
    return max(last, row.triggered_ns) if row.completed_ns is None else row.completed_ns


def _entry(entry: Entry, vocabulary: Vocabulary, places: _Places, *, is_slice: bool) -> Event:
    process, thread = places.of(str(entry[2]))
    telling = vocabulary.get(str(entry[1]))
    # One nanosecond: the least that is drawn, and two entries of one instant nest.
    how: Event = {"ph": "X", "dur": _DURATION} if is_slice else {"ph": "i", "s": "t"}
    return how | {
        "name": str(entry[1]),
        "cat": "entry",
        "pid": process,
        "tid": thread,
        "ts": time_of(entry),
        "args": _arguments(entry, telling),
    }


def _arguments(entry: Entry, telling: Telling | None) -> dict[str, object]:
    if telling is None:
        return {"fields": " ".join(map(str, entry[3:]))}
    return {"says": telling.sentence(entry), **telling.named(entry)}


def _span_events(
    entries: Sequence[Entry], vocabulary: Vocabulary, places: _Places, last: int
) -> list[Event]:
    events: list[Event] = []
    for number, span in enumerate(spans(entries, vocabulary)):
        process, thread = places.of(str(entries[span.start][2]))
        common: Event = {"cat": "span", "id": number, "name": span.name, "pid": process}
        end = last if span.end is None else time_of(entries[span.end])
        arguments = {"ended": span.end is not None}
        start = time_of(entries[span.start])
        events.append({**common, "ph": "b", "tid": thread, "ts": start, "args": arguments})
        events.append({**common, "ph": "e", "tid": thread, "ts": end, "args": {}})
    return events


def _checkpoint_events(checkpoints: Iterable[CheckpointRow], last: int) -> list[Event]:
    events: list[Event] = []
    for number, row in enumerate(checkpoints):
        name = f"{row.scope}/{row.checkpoint_id}"
        common: Event = {"cat": "checkpoint", "id": number, "name": name, "pid": 1, "tid": 0}
        end = _ended(row, last)
        arguments = {"status": row.status, "attempt": row.attempt, "kind": row.kind}
        events.append({**common, "ph": "b", "ts": row.triggered_ns, "args": arguments})
        events.append({**common, "ph": "e", "ts": end, "args": {}})
    return events


def _line(event: Event) -> str:
    nanoseconds = event.pop("ts")
    if not isinstance(nanoseconds, int):
        raise TypeError(f"event {event!r}: found no time")
    text = json.dumps(event, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f'{text[:-1]},"ts":{nanoseconds // 1000}.{nanoseconds % 1000:03}}}'
