"""The tables that cores run, as texts and pictures for people."""

from __future__ import annotations

from dataclasses import fields

from ckptsim.models.barriers import handler as handlers
from ckptsim.models.barriers.handler.states import Action, Guard, Illegal, Rule, Table
from ckptsim.models.lifecycle.rules import RULES, Rules
from ckptsim.models.lifecycle.states import EndMode, TaskKind, Variant
from ckptsim.models.lifecycle.tables import TABLES, Cue, Row

KINDS = {TaskKind.SOURCE: "source tasks", TaskKind.NON_SOURCE: "all other tasks"}
HEADER = (
    "event",
    "task status",
    "operator status",
    *(mode.name.lower().replace("_", " ") for mode in EndMode),
)
VARIANTS = ("rule", *(variant.value for variant in Variant))
PARTING = (
    "`job.ending.protocol` chooses the rules of tasks: the design (`flip`) or the released system "
    "(`flink`). They differ in the rules of this table (`models/lifecycle/rules.py`). "
    "`job.checkpointing.immediate_final` decides separately if the end of all data triggers a "
    "checkpoint at once."
)
READING = (
    "A row without an event belongs to the event above. A status holds from its row on. The waits "
    "may end in any order. The last event needs all of them."
)

_END_MODES = {
    EndMode.FINAL_CHECKPOINT: "final checkpoint",
    EndMode.DRAIN: "drain",
    EndMode.NO_DRAIN: "no drain",
}

# What the rules are about, and what a variant does that has a rule, and one that has it not.
_SAYS = {
    "stop_awaits_its_savepoint": (
        "a stop ends on the completion of",
        "exactly its savepoint",
        "any checkpoint started after finish()",
    ),
    "abort_repeats_completion": (
        "the latest completed id in an abort message",
        "counts as the notification of its completion",
        "is not looked at",
    ),
    "close_aborts_precommitted": (
        "transactions pre-committed and not committed at close",
        "are aborted",
        "are left; only the open one is aborted",
    ),
    "triggers_after_stop": (
        "periodic checkpoints once the savepoint of a stop is complete",
        "continue (assumption: the rule needs a next completion)",
        "have ended",
    ),
    "final_checkpoint_at_once": (
        "the final checkpoint, when all data has ended",
        "is triggered at once",
        "is the next periodic one",
    ),
}


def lifecycle_rows(kind: TaskKind) -> list[tuple[str, ...]]:
    """Return a table as text: (event, task status, operator status, one column per end mode)."""
    lines: list[tuple[str, ...]] = []
    previous: Cue | None = None
    for row in TABLES[kind]:
        event = "" if row.cue is previous else row.cue.value
        previous = row.cue
        cells = [row.cell(mode) for mode in EndMode]
        texts = ("-" if cell is None else cell.value for cell in cells)
        lines.append((event, row.task.name, row.operator.name, *texts))
    return lines


def variant_rows() -> list[tuple[str, ...]]:
    """Return where variants differ, as text: (what it is about, a column per variant in order)."""
    found = []
    for field in fields(Rules):
        about, yes, no = _SAYS[field.name]
        cells = (yes if getattr(RULES[variant], field.name) else no for variant in Variant)
        found.append((about, *cells))
    return found


def lifecycle_diagram(kind: TaskKind) -> str:
    """Return the Mermaid diagram of a kind of task: a transition per cue, with what it does."""
    lines = ["stateDiagram-v2"]
    state = "[*]"
    for cue in dict.fromkeys(row.cue for row in TABLES[kind]):
        rows = [row for row in TABLES[kind] if row.cue is cue]
        target = rows[-1].task.name
        # A checkpoint changes no state. Whatever else keeps the state is a loop as well.
        lines.append(f"    {state} --> {target}: {_label(cue, rows)}")
        state = target
    lines.append(f"    {state} --> [*]")
    return "\n".join(lines)


def _label(cue: Cue, rows: list[Row]) -> str:
    texts = [text for row in rows for text in _acts(row)]
    return "<br/>".join([cue.value, *(f"/ {text}" for text in texts)])


def _acts(row: Row) -> list[str]:
    acts = {mode: row.cell(mode) for mode in EndMode}
    found = dict.fromkeys(act for act in acts.values() if act is not None)
    if len(found) == 1 and None not in acts.values():
        return [act.value for act in found]
    return [
        f"{act.value} ({', '.join(_END_MODES[mode] for mode in EndMode if acts[mode] is act)})"
        for act in found
    ]


def handler_rows() -> dict[str, list[str]]:
    """Return the lines of every handler's table, by what the handler does."""
    tables = {
        "aligned": handlers.ALIGNED_TABLE,
        "alternating (aligned, with time-outs)": handlers.ALTERNATING_TABLE,
        "unaligned": handlers.UNALIGNED_TABLE,
    }
    return {name: handler_lines(table) for name, table in tables.items()}


def handler_lines(table: Table) -> list[str]:
    """Return one line per row of a table, in the order of states and inputs."""
    return [
        f"{state.name} + {given.name}: {_describe(table[state, given])}"
        for state, given in sorted(table)
    ]


def _describe(rule: Rule | Illegal) -> str:
    if isinstance(rule, Illegal):
        return f"illegal, {rule.story}"
    parts = [_words(rule.actions)] if rule.actions else []
    for branch in rule.branches:
        goal = " then ".join(given.name for given in branch.then)
        if branch.illegal is not None:
            goal = f"illegal, {branch.illegal.story}"
        if branch.target is not None:
            goal = f"-> {branch.target.name}"
        actions = f"{_words(branch.actions)} " if branch.actions else ""
        guard = "" if branch.guard is Guard.ALWAYS else f"if {branch.guard.name}: "
        parts.append(f"{guard}{actions}{goal}")
    return "; ".join(parts)


def _words(actions: tuple[Action, ...]) -> str:
    return ", ".join(action.name.lower() for action in actions)
