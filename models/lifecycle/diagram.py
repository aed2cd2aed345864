"""The state diagram of a task's life as Mermaid text, made from the table that runs."""

from __future__ import annotations

from ckptsim.models.lifecycle.states import EndMode, TaskKind
from ckptsim.models.lifecycle.tables import TABLES, Cue, Row

_MODES = {
    EndMode.FINAL_CHECKPOINT: "final checkpoint",
    EndMode.DRAIN: "drain",
    EndMode.NO_DRAIN: "no drain",
}


def as_mermaid(kind: TaskKind) -> str:
    """Return the diagram of one kind of task: a transition per cue, with what is done on it."""
    lines = ["stateDiagram-v2"]
    state = "[*]"
    for cue in dict.fromkeys(row.cue for row in TABLES[kind]):
        rows = [row for row in TABLES[kind] if row.cue is cue]
        target = rows[-1].task.name
        # A checkpoint changes no state; whatever else keeps the state is a loop as well.
        lines.append(f"    {state} --> {target}: {_label(cue, rows)}")
        state = target
    lines.append(f"    {state} --> [*]")
    return "\n".join(lines)


def _label(cue: Cue, rows: list[Row]) -> str:
    texts = [text for row in rows for text in _acts(row)]
    return "<br/>".join([cue.value, *(f"/ {text}" for text in texts)])


def _acts(row: Row) -> list[str]:
    """Return what a row does, with the end modes where it is not the same in all three."""
    acts = {mode: row.cell(mode) for mode in EndMode}
    found = dict.fromkeys(act for act in acts.values() if act is not None)
    if len(found) == 1 and None not in acts.values():
        return [act.value for act in found]
    return [
        f"{act.value} ({', '.join(_MODES[mode] for mode in EndMode if acts[mode] is act)})"
        for act in found
    ]
