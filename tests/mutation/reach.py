"""Which drawn scenarios reach which lines of right cores, so that a fault is tried there first.

This is the corpus that `check LINK --explore --corpus DIR` would keep, with all the lines that each
of its entries reaches.  It is kept in a file and made again when cores or generators change.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from tests.mutation.operators import MODELS, ROOT, Fault
from tests.mutation.plant import import_anew, in_process

# Of the scenarios that reach a fault's lines, how many are run before others are drawn.
_FIRST_MAX = 40


@dataclass(frozen=True, slots=True)
class Reach:
    """The entries of a link's corpus: choices, how many events the run has, `file:line` reached."""

    link: str
    entries: list[tuple[list[int], int, frozenset[str]]]

    def of(self, fault: Fault) -> list[list[int]]:
        """Return the choices of the runs that reach the fault's lines, the shortest first."""
        lines = {f"{fault.file}:{line}" for line in range(fault.line, fault.last_line + 1)}
        found = [(events, choices) for choices, events, seen in self.entries if lines & seen]
        return [choices for _, choices in sorted(found)][:_FIRST_MAX]


def reach_of(link: str, folder: Path, *, seconds: float) -> Reach:
    """Return what a link reaches, from the folder, or by so many seconds of exploring."""
    path = folder / f"{link}.reach.json"
    source = _fingerprint()
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["source"] == source:
            return _read(link, kept["entries"])
    entries = in_process(partial(_explored, link, seconds), seconds=20 * seconds)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"source": source, "entries": entries}), encoding="utf-8")
    return _read(link, entries)


def _read(link: str, entries: list[Any]) -> Reach:
    return Reach(link, [(choices, events, frozenset(seen)) for choices, events, seen in entries])


def _explored(link: str, seconds: float) -> list[Any]:
    """Explore with right cores, and run each entry of the corpus again for all its lines."""
    import_anew(None)
    exploring = import_module("ckptsim.sim.search.explore")
    explorer = exploring.Explorer(link=link)
    corpus = exploring.Corpus()
    report = exploring.explore(explorer, exploring.Exploring(seconds=seconds), corpus)
    if report.violating:
        says = report.violating[0].trial.violations[0].says
        raise RuntimeError(f"the right cores break a property of {link}: {says}")
    entries = []
    for number, choices in enumerate(corpus.entries):
        seen: set[tuple[str, int]] = set()
        with _tracing(seen):
            run = explorer.run(number, choices)
        entries.append([list(choices), run.trial.events, sorted(_named(seen))])
    return entries


@contextmanager
def _tracing(seen: set[tuple[str, int]]) -> Iterator[None]:
    """Collect the lines of functions of cores that run in the block."""

    def ran(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return ran

    def called(frame: FrameType, _event: str, _: Any) -> Any:
        return ran if "/models/" in frame.f_code.co_filename else None

    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(None)


def _named(seen: set[tuple[str, int]]) -> Iterator[str]:
    """Yield the lines as `ordering/core.py:120`. The folder has another path as an import."""
    for name, line in seen:
        path = Path(name).resolve()
        if path.is_relative_to(MODELS):
            yield f"{path.relative_to(MODELS).as_posix()}:{line}"


def _fingerprint() -> str:
    digest = blake2b(digest_size=16)
    for folder in (MODELS, ROOT / "scenarios" / "generators"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
