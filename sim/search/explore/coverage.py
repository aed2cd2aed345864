"""What a run has reached: lines of cores, goals, and which event of an entity follows which.

Each is a short text, the same on any machine; a run of which all are known has shown nothing new.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from ckptsim import models
from ckptsim.sim.rows import RunResult

_ROOT = str(Path(models.__file__).parent.resolve()) + "/"
_NUMBERS = re.compile(r"\d+")
# Goals count as reached anew at these numbers of times (an assumption: as fuzzers bucket counts).
_BUCKETS = (1, 2, 4, 8, 16, 64)


def features(result: RunResult) -> Iterator[str]:
    """Yield what a run whose trace was kept has reached, but for lines."""
    yield f"outcome {result.run.outcome}"
    for name, count in result.goals.items():
        for bucket in _BUCKETS:
            if count >= bucket:
                yield f"goal {name} {bucket}"
    last: dict[str, str] = {}
    for entry in result.trace:
        kind, entity = str(entry[1]), str(entry[2])
        yield f"{_NUMBERS.sub('#', entity)}: {last.get(entity, 'begin')} > {kind}"
        last[entity] = kind


class Lines:
    """Watches which lines of `models` run; a code object is left alone once all of its have.

    `take` returns the lines that were seen for the first time since this was made.  Where several
    processes have one each, the first run in the order of their numbers that reaches a line is
    always among those that report it.
    """

    def __init__(self) -> None:
        self._missing: dict[CodeType, set[int] | None] = {}
        self._files: dict[str, str | None] = {}
        self._fresh: list[str] = []

    def take(self) -> list[str]:
        """Return the lines seen since the last call, as `ordering/core.py:120`."""
        fresh, self._fresh = self._fresh, []
        return fresh

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the lines that run in the block; whoever was watching before continues after it."""
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, _event: str, _: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        try:
            missing = self._missing[code]
        except KeyError:
            missing = self._missing[code] = self._lines_of(code)
        return self._ran if missing else None

    def _lines_of(self, code: CodeType) -> set[int] | None:
        """Return the lines of a core's code; None for the code of anybody else."""
        return _lines_of(code) if self._name(code.co_filename) else None

    def _ran(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        missing = self._missing[frame.f_code]
        if not missing:
            return None
        if event == "line" and frame.f_lineno in missing:
            missing.discard(frame.f_lineno)
            self._fresh.append(f"{self._name(frame.f_code.co_filename)}:{frame.f_lineno}")
        return self._ran

    def _name(self, path: str) -> str | None:
        if path not in self._files:
            found = str(Path(path).resolve())
            inside = found.startswith(_ROOT)
            self._files[path] = found.removeprefix(_ROOT) if inside else None
        return self._files[path]


def lines_by_file(reached: Iterable[str]) -> dict[str, tuple[int, list[int]]]:
    """Return, for every file of cores with a line that was reached, its lines and those missing.

    The file's name -> how many lines its functions have, and which of them were not reached.
    """
    seen: dict[str, set[int]] = {}
    for name in reached:
        path, _, line = name.partition(".py:")
        if line:
            seen.setdefault(f"{path}.py", set()).add(int(line))
    found: dict[str, tuple[int, list[int]]] = {}
    for path in sorted(seen):
        source = (Path(_ROOT) / path).read_text(encoding="utf-8")
        every = _lines_inside(compile(source, path, "exec"))
        found[path] = (len(every), sorted(every - seen[path]))
    return found


def _lines_inside(code: CodeType) -> set[int]:
    """Return the lines of all functions in a module's or a class's code."""
    found = _lines_of(code)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _lines_inside(inner)
    return found


def _lines_of(code: CodeType) -> set[int]:
    """Return the lines of a function's body that can run; none of a module or a class body.

    Those run while they are imported, which tells nothing of a run.
    """
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return set()
    found = {line for _, _, line in code.co_lines() if line is not None}
    return found - {code.co_firstlineno}
