"""Writes docs/lifecycle.md again: `python -m tests.lifecycle.pages`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from ckptsim._api.pages.tables import (
    HEADER,
    KINDS,
    PARTING,
    READING,
    VARIANTS,
    lifecycle_diagram,
    lifecycle_rows,
    variant_rows,
)
from ckptsim.models.lifecycle import TaskKind
from ckptsim.sim.mutants.registry import MUTANTS

DOCUMENT = Path(__file__).parents[2] / "docs" / "lifecycle.md"
WIDTH = 118
FAULTS = (
    "Each mutant lacks one safeguard. `ckptsim check SCENARIO --mutant NAME` finds it. Tests have "
    "more mutants (`tests/mutants/lifecycle.py`)."
)
# Mutant -> the library's scenario that distinguishes it from the right core, and by which property.
SHOWN_BY = {
    "closes_without_final_checkpoint": ("last_transaction", "exactly_once_output"),
    "skipped_trigger_sets_minimum": ("late_trigger", "closes_when_all_is_over"),
}
RECOVERY = """\
A sink's snapshot has the names of its pre-committed transactions, and the name of the open one
(`models/lifecycle/transactions.py`). A restored sink commits the pre-committed ones again, aborts
the open one, and opens a new transaction. If the parallelism changes, the elements of this list
state are dealt out in even blocks.

A transaction that began after the restored checkpoint stays in the external system until its
time-out (`job.costs.transaction_timeout`). A run reports it (`left_to_the_external_system`). A
time-out that is shorter than a restart loses data of a completed checkpoint (scenario
`transaction_times_out`). Sinks that find such transactions by their names, as Flink's KafkaSink
does, are not modelled.

Source: Apache Flink 1.20.3, TwoPhaseCommitSinkFunction.initializeState,
RoundRobinOperatorStateRepartitioner."""


def document() -> str:
    """Return the tables and state diagrams as a Markdown document."""
    parts = [
        "# The life of a task",
        (
            "A task ends at the end of its input, or in a stop with savepoint, with or without "
            "drain. This page has the rules, and [how jobs end](ending.md) the results. The core "
            "runs these tables (`models/lifecycle/tables.py`), after FLIP-147. `ckptsim explain "
            "final_checkpoint` prints them."
        ),
        READING,
    ]
    for kind, says in KINDS.items():
        table = _table(HEADER, lifecycle_rows(kind))
        parts += [f"## {says.capitalize()}", table]
        if kind is TaskKind.SOURCE:
            parts.append(f"```mermaid\n{lifecycle_diagram(kind)}\n```")
    parts += ["## Where the variants differ", PARTING, _table(VARIANTS, variant_rows())]
    parts += ["## Transactions and recovery", *RECOVERY.split("\n\n")]
    parts += ["## Published faults", FAULTS, _faults()]
    return "\n\n".join(map(wrapped, parts)) + "\n"


def wrapped(part: str) -> str:
    """Return a paragraph in short lines, and anything else as it is."""
    if part.startswith(("#", "|", "```", "!", "*")):
        return part
    return fill(part, WIDTH, break_long_words=False, break_on_hyphens=False)


def _faults() -> str:
    """Return the table of mutants that some scenario shows from the right core."""
    rows = [
        (f"`{name}`", MUTANTS[name].says, f"`{scenario}`", f"`{broken}`")
        for name, (scenario, broken) in SHOWN_BY.items()
    ]
    return _table(("mutant", "fault", "scenario", "property"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


if __name__ == "__main__":
    DOCUMENT.write_text(document())
