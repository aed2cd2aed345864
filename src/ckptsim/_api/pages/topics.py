"""The topics of `ckptsim explain`, each made when it is asked for."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby, zip_longest
from types import MappingProxyType

from ckptsim._api.columns import aligned
from ckptsim.scenarios.describe import Description, reference, reference_tables
from ckptsim.scenarios.dialect import units
from ckptsim.scenarios.job.names import RENAMED
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.severity import severity_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a topic shows: as text for people, as JSON data for programs."""

    text: str
    data: object


def link_page(name: str) -> Page:
    """Return every parameter and fault that scenarios of a link can have."""
    link = LINKS[name]
    found = reference(link)
    head = f"{link.name}: {link.says}\n"
    foot = "\nx[] is an item of the array x; x(word) is a table x whose kind is word."
    tables = reference_tables(link)
    lines = [head, *parameter_lines(found, tables), foot]
    data: dict[str, object] = {
        "link": link.name,
        "says": link.says,
        "goals": list(link.goals),
        "properties": list(link.properties),
        "tables": tables,
        "parameters": [asdict(item) for item in found],
    }
    return Page(text="\n".join(lines), data=data)


def property_page(name: str) -> Page | None:
    """Return a property's sentence, how bad a violation is, and its checks, or None."""
    now = RENAMED.get(name, name)
    links = [link for link in LINKS.values() if now in link.properties]
    if not links:
        return None
    harm = severity_of(now)
    says = {link.name: link.properties[now] for link in links}
    lines = [f"{name} is now {now}"] if now != name else []
    for sentence, of in groupby(says, key=says.__getitem__):
        lines.append(f"{now}: {sentence} ({', '.join(of)})")
    lines.append(f"A violation means: {harm.says}.")
    data = {"property": now, "says": says, "severity": harm.name.lower()}
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

    A star marks values that differ from the default. `tables` says what the tables are.  An origin
    that several of them have is once, at the end, under a number.
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
    return not isinstance(item.value, str)


def shown(value: object) -> str:
    """Return a value as in a file, short enough for a column."""
    if value is None:
        return "(required)"
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


def lifecycle_page() -> Page:
    """Return the tables that the lifecycle core runs, then the parameters of the link."""
    from ckptsim._api.pages import tables

    link = link_page("final_checkpoint")
    blocks = [
        "\n".join(
            [
                f"Lifecycle of {tables.KINDS[kind]}",
                *_wrapped([tables.HEADER, *tables.lifecycle_rows(kind)], _WIDTHS),
            ]
        )
        for kind in tables.KINDS
    ]
    variants = "Where the variants differ\n" + "\n".join(
        _wrapped([tables.VARIANTS, *tables.variant_rows()], _RULE_WIDTHS)
    )
    assert isinstance(link.data, dict)
    data = dict(link.data)
    data["lifecycle"] = {
        kind.name.lower(): [
            dict(zip(tables.HEADER, row, strict=True)) for row in tables.lifecycle_rows(kind)
        ]
        for kind in tables.KINDS
    }
    data["variants"] = [
        dict(zip(tables.VARIANTS, row, strict=True)) for row in tables.variant_rows()
    ]
    data["diagrams"] = {kind.name.lower(): tables.lifecycle_diagram(kind) for kind in tables.KINDS}
    texts = [
        *blocks,
        textwrap.fill(tables.READING, 100),
        variants,
        textwrap.fill(tables.PARTING, 100),
        link.text,
    ]
    return Page(text="\n\n".join(texts), data=data)


_CELL = 26  # columns of a wrapped cell
_WIDTHS = (_CELL, 20, 15, _CELL, _CELL, _CELL)
_RULE_WIDTHS = (62, _CELL, _CELL)


def _wrapped(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    lines: list[str] = []
    for row in rows:
        cells = [
            textwrap.wrap(cell, max(_CELL, width)) or [""]
            for cell, width in zip(row, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = (f"{part:<{width}}" for part, width in zip(parts, widths, strict=True))
            lines.append("  ".join(padded).rstrip())
    return lines


def states_page() -> Page:
    """Return the rows of every barrier handler: state + input: actions -> next state."""
    from ckptsim._api.pages.tables import handler_rows

    rows = handler_rows()
    blocks = [f"{name}\n" + "\n".join(f"  {row}" for row in rows[name]) for name in rows]
    return Page(text="\n\n".join(blocks), data=rows)


def _table_page(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Page:
    data = [dict(zip(head, row, strict=True)) for row in rows]
    return Page(text="\n".join(aligned(head, rows)), data=data)


def edges_page() -> Page:
    """Return what each partitioner means for barriers and for in-flight data when rescaling."""
    from ckptsim.models.recovery.mapping import DISTRIBUTIONS

    rows = [
        (
            partitioner.value,
            "yes" if found.supports_unaligned else "no",
            found.upstream.value,
            found.downstream.value if found.downstream is not None else "undecided",
        )
        for partitioner, found in DISTRIBUTIONS.items()
    ]
    return _table_page(
        ("partitioner", "barriers may overtake", "output state", "input state"), rows
    )


def mutants_page() -> Page:
    """Return every mutant: its slot and its fault."""
    from ckptsim.sim.mutants.registry import MUTANTS

    found = MUTANTS.values()
    data = [{"mutant": one.name, "slot": one.slot, "says": one.says} for one in found]
    rows = [(one.name, one.slot, one.says) for one in found]
    return Page(text="\n".join(aligned(("mutant", "slot", "fault"), rows)), data=data)


_HOW = (
    "--core SLOT=package.module:factory puts a core of yours into a slot: see docs/slots.md.\n"
    "--mutant NAME puts a faulty one of ours in (`ckptsim explain mutants`)."
)


def slots_page() -> Page:
    """Return every slot: who has it, how its factory is called, what it decides."""
    from ckptsim.sim.slots import SLOTS
    from ckptsim.sim.slots.protocols import used

    data = [
        {
            "slot": slot.name,
            "links": list(slot.links),
            "suites": list(slot.suites),
            "factory": f"{slot.takes} -> {slot.gives}",
            "ours": slot.ours,
            "whole": slot.whole,
            "must_have": {name: used(slot.protocol, name) for name in slot.offers}
            if slot.protocol
            else {},
            "says": slot.says,
        }
        for slot in SLOTS.values()
    ]
    blocks = [
        "cores, for which one of yours can stand, whatever it is made of",
        *_lines(whole=True),
        "",
        "parts of cores and of worlds, for which a subclass of ours can stand",
        *_lines(whole=False),
        "",
        _HOW,
    ]
    return Page(text="\n".join(blocks), data=data)


def _lines(*, whole: bool) -> list[str]:
    """Return lines per slot: what it decides, where it is, its factory, what hosts ask."""
    from ckptsim.sim.slots import SLOTS
    from ckptsim.sim.slots.protocols import used

    lines: list[str] = []
    for slot in SLOTS.values():
        if slot.whole is whole:
            lines += aligned(
                (), [(f"  {slot.name:<20}", f"{slot.says}; in {', '.join(slot.places)}")]
            )
            lines += aligned((), [(" " * 22, f"{slot.takes} -> {slot.gives}")])
            if slot.protocol is not None:
                asked = (f"{name} ({used(slot.protocol, name)})" for name in slot.offers)
                lines += aligned((), [(" " * 22, f"must have {', '.join(asked)}")])
    return lines


# Topic -> what it is about, and the function that makes its page.
TOPICS: dict[str, tuple[str, Callable[[], Page]]] = {
    **{
        link.name: (f"parameters and faults of {link.says}", partial(link_page, link.name))
        for link in LINKS.values()
    },
    "final_checkpoint": (
        "how tasks end: the lifecycle tables that run, parameters and faults",
        lifecycle_page,
    ),
    "units": ("units of durations, sizes and rates", units_page),
    "slots": (
        "where a core of yours, or a mutant of ours, can stand: `--core`, `--mutant`",
        slots_page,
    ),
    "mutants": ("faulty cores that come with the program, and the fault of each", mutants_page),
    "barrier-states": ("state tables of the barrier handlers", states_page),
    "edges": ("what each kind of edge means for barriers and rescaling", edges_page),
}
