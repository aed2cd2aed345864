r"""Write a trace as a log for ShiViz: every entry with the vector clock of its entity.

An entry happens after all earlier ones of its entity, and after the entry that began the message
which it ends.

Source: Beschastnikh, Wang, Brun, Ernst, Debugging Distributed Systems, ACM Queue 14(2), 2016. The
pattern is `(?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ckptsim.sim.export.messages import Message
from ckptsim.sim.kernel import Entry
from ckptsim.sim.story import Vocabulary, instant, tell
from ckptsim.sim.story.causes import spans

PATTERN = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"


def log(entries: Sequence[Entry], vocabulary: Vocabulary, sent: Sequence[Message] = ()) -> str:
    """Return the log: per entry a line of text, then the entity and its clock.

    sent: messages between entries that are no spans of the vocabulary, such as barriers.
    """
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
    """Return the entity's name without blanks, as ShiViz wants it."""
    return "_".join(str(entry[2]).split())
