"""Write a trace as a Mermaid sequence diagram, for a page of documentation or an issue.

Entities are the participants in the order in which they first act. Entries are notes, messages are
arrows from where they start to where they end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ckptsim.sim.export.messages import Message
from ckptsim.sim.kernel import Entry
from ckptsim.sim.story import Vocabulary, instant, tell
from ckptsim.sim.story.causes import spans

# A viewer does not show more. Mermaid itself refuses texts of more than 50,000 characters.
_LINES_MAX = 250


def diagram(entries: Sequence[Entry], vocabulary: Vocabulary, sent: Sequence[Message] = ()) -> str:
    """Return the diagram as text. It leaves out all beyond a few hundred lines, and says so.

    sent: messages between entries that are no spans of the vocabulary, such as barriers.
    """
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
