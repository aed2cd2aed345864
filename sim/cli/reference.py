"""Pages of reference made from the declarations: the parameters of a link, the units."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from scenarios import units
from scenarios.describe import Description, reference
from scenarios.links import LINKS
from sim.cli.columns import aligned
from sim.cli.topics import Page


def link_page(name: str) -> Page:
    """Return every parameter and fault that scenarios of a link can have."""
    link = LINKS[name]
    found = reference(link)
    head = f"{link.name}: {link.says}\n"
    foot = "\nx[] is an item of the array x; x(word) is the table x whose kind is word."
    lines = [head, *parameter_lines(found), foot]
    data = {
        "link": link.name,
        "says": link.says,
        "goals": list(link.goals),
        "properties": list(link.properties),
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


def parameter_lines(found: Sequence[Description]) -> list[str]:
    """Return parameters as lines: value, default, bounds, meaning and origin of each."""
    head = ("parameter", "value", "default", "unit", "bounds", "meaning; origin")
    rows = [
        (
            ("* " if item.changed else "  ") + item.path,
            shown(item.value),
            shown(item.default),
            item.unit,
            item.bounds,
            f"{item.says}; {item.source}" if item.source else item.says,
        )
        for item in found
    ]
    return aligned(head, rows)


def shown(value: object) -> str:
    """Return a value as in a file, short enough for a column."""
    if value is None:
        return "(required)"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."
