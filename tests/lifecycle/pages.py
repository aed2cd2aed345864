"""Writes docs/lifecycle.md again: `python -m tests.lifecycle.pages`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
from ckptsim.sim.mutants.registry import MUTANTS

DOCUMENT = Path(__file__).parents[2] / "docs" / "lifecycle.md"
FAULTS = (
    "Each mutant lacks one safeguard. `ckptsim check SCENARIO --mutant NAME` tells it from the "
    "right core, and prints the command that replays the first run which shows it. The tests have "
    "more of them (`tests/mutants/lifecycle.py`)."
)
# Mutant -> the library's scenario that tells it from the right core, and by which property.
SHOWN_BY = {
    "closes_without_final_checkpoint": ("last_transaction", "exactly_once_output"),
    "skipped_trigger_sets_minimum": ("late_trigger", "closes_when_all_is_over"),
}
RECOVERY = """\
A sink's snapshot keeps one element of list state: the names of the transactions that are
pre-committed and the name of the open one (`models/lifecycle/transactions.py`). A restored sink
commits the former again, because it cannot know whether it has heard of the completion, and aborts
the latter, whose records are sent again; then it opens a new one. With as many subtasks as before
each gets its own element; otherwise the elements are dealt out in even blocks, so that a subtask
may recover those of several, or of none.

No state speaks of what was begun after the checkpoint that is restored. Such a transaction stays in
the external system until that gives it up (`job.costs.transaction_timeout`); nobody else aborts it,
and a run tells of it (`left_to_the_external_system`). A time-out that is shorter than a restart
loses what a completed checkpoint covers (scenario `transaction_times_out`). Sinks that find such
transactions by the way they name them, as Flink's KafkaSink does, are not modelled. A failed
attempt ends nothing on its way out (assumption: its processes are gone).

Source: Apache Flink 1.20.3, TwoPhaseCommitSinkFunction.initializeState,
RoundRobinOperatorStateRepartitioner."""


def document() -> str:
    """Return the tables and state diagrams as a Markdown document."""
    parts = [
        "# The life of a task",
        (
            "How tasks end when their input has run out, and in a stop with savepoint, with drain "
            "and without; what comes out of it is in [how jobs end](ending.md). Tables and "
            "diagrams are made from the table that the core runs "
            "(`models/lifecycle/tables.py`); `ckptsim explain final_checkpoint` prints them."
        ),
        READING,
        (
            "Sources: FLIP-147, the lifecycle tables of source and of other tasks, with the added "
            "text (EndOfData)."
        ),
    ]
    for kind, says in KINDS.items():
        table = _table(HEADER, lifecycle_rows(kind))
        parts += [f"## {says.capitalize()}", table, f"```mermaid\n{lifecycle_diagram(kind)}\n```"]
    parts += ["## Where the variants part", PARTING, _table(VARIANTS, variant_rows())]
    parts += ["## Transactions and recovery", RECOVERY]
    parts += ["## Published faults", FAULTS, _faults()]
    return "\n\n".join(parts) + "\n"


def _faults() -> str:
    """Return the table of mutants that some scenario tells from the right core."""
    rows = [
        (f"`{name}`", MUTANTS[name].says, f"`{scenario}`", f"`{broken}`")
        for name, (scenario, broken) in SHOWN_BY.items()
    ]
    return _table(("mutant", "what is wrong", "scenario", "property"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


if __name__ == "__main__":
    DOCUMENT.write_text(document())
