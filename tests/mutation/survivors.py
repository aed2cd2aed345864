"""Why faults survive that exploring does not convict: the reasons of `survivors.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.mutation.operators import Fault

FILE = Path(__file__).with_name("survivors.toml")


class Kind(StrEnum):
    """What a survivor is.

    EQUIVALENT: no run of any host can tell it from the right core.  UNREACHABLE: no host of ours
    brings the core there. Its tests do.  GAP: a run could show it, and none that is drawn does.
    """

    EQUIVALENT = "equivalent"
    UNREACHABLE = "unreachable"
    GAP = "gap"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a fault survives."""

    kind: Kind
    says: str


def read(path: Path = FILE) -> dict[tuple[str, str, str, str, str, int], Reason]:
    """Return the reasons by the key of the fault. Raises ValueError for two of one fault."""
    text = tomllib.loads(path.read_text(encoding="utf-8"))
    found: dict[tuple[str, str, str, str, str, int], Reason] = {}
    for row in text.get("survivor", []):
        key = tuple(row[name] for name in ("file", "function", "operator", "before", "after"))
        whole = (*key, row.get("number", 1))
        if whole in found:
            raise ValueError(f"two reasons for {whole}")
        found[whole] = Reason(Kind(row["kind"]), row["says"])
    return found


def entry(fault: Fault) -> str:
    """Return the beginning of a fault's entry, to be completed by hand."""
    rows = [(name, getattr(fault, name)) for name in ("file", "function", "operator")]
    rows += [("before", fault.before), ("after", fault.after)]
    lines = ["[[survivor]]", *(f"{name} = {_quoted(value)}" for name, value in rows)]
    if fault.number > 1:
        lines.append(f"number = {fault.number}")
    return "\n".join([*lines, 'kind = ""', 'says = ""'])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
