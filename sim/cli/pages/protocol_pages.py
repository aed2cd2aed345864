"""Pages of `ckptsim explain` about protocols and cores: the end of a job, barriers, slots."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from typing import cast

from ckptsim.models.barriers import handler as handlers
from ckptsim.models.lifecycle import EndMode, TaskKind, Variant
from ckptsim.models.recovery.mapping import DISTRIBUTIONS
from ckptsim.sim.answers.columns import aligned
from ckptsim.sim.cli.pages.reference import link_page
from ckptsim.sim.cli.pages.tables import (
    handler_lines,
    lifecycle_diagram,
    lifecycle_rows,
    variant_rows,
)
from ckptsim.sim.cli.pages.topics import Page
from ckptsim.sim.mutants.registry import MUTANTS
from ckptsim.sim.slots import SLOTS
from ckptsim.sim.slots.protocols import used

KINDS = {TaskKind.SOURCE: "source tasks", TaskKind.NON_SOURCE: "all other tasks"}
HEADER = (
    "event",
    "task status",
    "operator status",
    *(mode.name.lower().replace("_", " ") for mode in EndMode),
)
VARIANTS = ("rule", *(variant.value for variant in Variant))
PARTING = (
    "Whose rules tasks follow is the parameter `job.ending.protocol`. Where the design (`flip`) "
    "and the released system (`flink`) part, the core looks at this table "
    "(`models/lifecycle/rules.py`); all else is common to both. Whether a checkpoint is "
    "triggered at once when all data has ended can be set apart from the rest, with "
    "`job.checkpointing.immediate_final`."
)
_CELL = 26  # columns of a wrapped cell
_WIDTHS = (_CELL, 20, 15, _CELL, _CELL, _CELL)
_RULE_WIDTHS = (62, _CELL, _CELL)
READING = (
    "An empty event belongs to the one above; a status holds from its row on. The waits stand one "
    "under another, but may come true in any order: the last event needs them all."
)


def page() -> Page:
    """Return the tables that the lifecycle core runs, then the parameters of the link."""
    link = link_page("final_checkpoint")
    blocks = [
        "\n".join(
            [f"Lifecycle of {KINDS[kind]}", *_wrapped([HEADER, *lifecycle_rows(kind)], _WIDTHS)]
        )
        for kind in KINDS
    ]
    variants = "Where the variants part\n" + "\n".join(
        _wrapped([VARIANTS, *variant_rows()], _RULE_WIDTHS)
    )
    data = dict(cast("dict[str, object]", link.data))
    data["lifecycle"] = {
        kind.name.lower(): [dict(zip(HEADER, row, strict=True)) for row in lifecycle_rows(kind)]
        for kind in KINDS
    }
    data["variants"] = [dict(zip(VARIANTS, row, strict=True)) for row in variant_rows()]
    data["diagrams"] = {kind.name.lower(): lifecycle_diagram(kind) for kind in KINDS}
    texts = [*blocks, textwrap.fill(READING, 100), variants, textwrap.fill(PARTING, 100), link.text]
    return Page(text="\n\n".join(texts), data=data)


def _wrapped(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """Return the lines of a table whose cells are wrapped, and set apart where needed."""
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


TABLES = {
    "aligned": handlers.ALIGNED_TABLE,
    "alternating (aligned, with time-outs)": handlers.ALTERNATING_TABLE,
    "unaligned": handlers.UNALIGNED_TABLE,
}


def states_page() -> Page:
    """Return the rows of every barrier handler: state + input: actions -> next state."""
    rows = {name: handler_lines(table) for name, table in TABLES.items()}
    blocks = [f"{name}\n" + "\n".join(f"  {row}" for row in rows[name]) for name in rows]
    return Page(text="\n\n".join(blocks), data=rows)


def edges_page() -> Page:
    """Return what each partitioner means for barriers and for in-flight data when rescaling."""
    header = ("partitioner", "barriers may overtake", "output state", "input state")
    rows = [
        (
            partitioner.value,
            "yes" if found.supports_unaligned else "no",
            found.upstream.value,
            found.downstream.value if found.downstream is not None else "undecided",
        )
        for partitioner, found in DISTRIBUTIONS.items()
    ]
    data = [dict(zip(header, row, strict=True)) for row in rows]
    return Page(text="\n".join(aligned(header, rows)), data=data)


HOW = (
    "--core SLOT=package.module:factory puts a core of yours into a slot: see docs/slots.md.\n"
    "--mutant NAME puts a faulty one of ours in (`ckptsim explain mutants`)."
)


def slots_page() -> Page:
    """Return every slot: who has it, how its factory is called, what it decides."""
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
        HOW,
    ]
    return Page(text="\n".join(blocks), data=data)


def mutants_page() -> Page:
    """Return every mutant: its slot, and what is wrong with it."""
    data = [
        {"mutant": mutant.name, "slot": mutant.slot, "says": mutant.says}
        for mutant in MUTANTS.values()
    ]
    rows = [(mutant.name, mutant.slot, mutant.says) for mutant in MUTANTS.values()]
    return Page(text="\n".join(aligned(("mutant", "slot", "what is wrong"), rows)), data=data)


def _lines(*, whole: bool) -> list[str]:
    """Return lines per slot: what it decides, where it is, its factory, what hosts ask."""
    lines: list[str] = []
    for slot in SLOTS.values():
        if slot.whole is whole:
            lines += aligned((), [(f"  {slot.name:<20}", f"{slot.says}; {_where(slot.places)}")])
            lines += aligned((), [(" " * 22, f"{slot.takes} -> {slot.gives}")])
            if slot.protocol is not None:
                asked = (f"{name} ({used(slot.protocol, name)})" for name in slot.offers)
                lines += aligned((), [(" " * 22, f"must have {', '.join(asked)}")])
    return lines


def _where(places: tuple[str, ...]) -> str:
    return f"in {', '.join(places)}"
