"""Pages of reference made from the declarations: the parameters of a link, the units."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from types import MappingProxyType

from ckptsim.scenarios.describe import Description, reference, reference_tables
from ckptsim.scenarios.dialect import units
from ckptsim.scenarios.links import LINKS
from ckptsim.sim.answers.columns import aligned
from ckptsim.sim.cli.pages.topics import Page


def link_page(name: str) -> Page:
    """Return every parameter and fault that scenarios of a link can have."""
    link = LINKS[name]
    found = reference(link)
    head = f"{link.name}: {link.says}\n"
    foot = "\nx[] is an item of the array x; x(word) is a table x whose kind is word."
    tables = reference_tables(link)
    lines = [head, *parameter_lines(found, tables), foot]
    data = {
        "link": link.name,
        "says": link.says,
        "goals": list(link.goals),
        "properties": list(link.properties),
        "tables": tables,
        "parameters": [asdict(item) for item in found],
    }
    return Page(text="\n".join(lines), data=data)


def units_page() -> Page:
    """Return the units in which quantities may be written."""
    tables: dict[str, tuple[str, Mapping[str, int]]] = {
        "durations": ("ns", units.DURATION_UNITS),
        "sizes": ("bytes", units.SIZE_UNITS),
        "bandwidths": ("bytes per second", units.BYTE_RATE_UNITS),
    }
    lines: list[str] = []
    for kind, (base, scale) in tables.items():
        rows = [(unit, f"{amount} {base}") for unit, amount in scale.items()]
        lines.extend([*aligned((kind, "is"), rows), ""])
    lines.append('Rates of events are texts such as "100 /s", "600 /min"; ratios 0.25 or "25 %".')
    data = {kind: dict(scale) for kind, (_, scale) in tables.items()}
    return Page(text="\n".join(lines), data=data)


def parameter_lines(
    found: Sequence[Description], tables: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Return parameters as lines, under a header for each table: key, value, what there is to say.

    A star marks values that differ from the default; `tables` says what the tables are.  An origin
    that several of them have stands once, at the end, under a number.
    """
    counts = Counter(item.source for item in found if item.source)
    often = [source for source, count in counts.items() if count > 1]
    notes = {source: f"[{number}]" for number, source in enumerate(often, start=1)}
    lines: list[str] = []
    for table, items in groupby(found, key=lambda item: item.path.rpartition(".")[0]):
        rows = [_row(item, table, notes) for item in items]
        lines.extend(["", f"[{table}]  {tables.get(table, '')}".rstrip()] if table else [""])
        lines.extend(aligned((), rows))
    if notes:
        lines.extend(["", *aligned((), [(number, source) for source, number in notes.items()])])
    return lines[1:]


def _row(item: Description, table: str, notes: Mapping[str, str]) -> tuple[str, str, str]:
    key = item.path.removeprefix(f"{table}.")
    says = [item.says]
    if item.bounds:
        says.append(f"{item.bounds} {item.unit}".strip() if _is_plain(item) else item.bounds)
    if item.changed and item.default is not None:
        says.append(f"default {shown(item.default)}")
    if item.source:
        says.append(notes.get(item.source, item.source))
    return ("* " if item.changed else "  ") + key, shown(item.value), "; ".join(says)


def _is_plain(item: Description) -> bool:
    """Say whether the value does not show its unit itself."""
    return not isinstance(item.value, str)


def shown(value: object) -> str:
    """Return a value as in a file, short enough for a column."""
    if value is None:
        return "(required)"
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."
