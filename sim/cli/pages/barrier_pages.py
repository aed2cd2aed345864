"""Pages of `ckptsim explain` about barriers: state tables, and what each edge allows."""

from __future__ import annotations

from ckptsim.models.barriers import handler as handlers
from ckptsim.models.recovery.mapping import DISTRIBUTIONS
from ckptsim.sim.cli.columns import aligned
from ckptsim.sim.cli.pages.topics import Page

TABLES = {
    "aligned": handlers.ALIGNED_TABLE,
    "alternating (aligned, with time-outs)": handlers.ALTERNATING_TABLE,
    "unaligned": handlers.UNALIGNED_TABLE,
}


def states_page() -> Page:
    """Return the rows of every barrier handler: state + input: actions -> next state."""
    rows = {name: handlers.describe_table(table) for name, table in TABLES.items()}
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
