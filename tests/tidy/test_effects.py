"""Every effect of a job's cores is carried out in one place, by a match that leaves none out."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest

from ckptsim.models.barriers import channel_state as writer_events
from ckptsim.models.barriers.channels import network as channel_effects
from ckptsim.models.barriers.handler import events as handler_events
from ckptsim.models.barriers.subtask import events as subtask_events
from ckptsim.models.coordinator import events as coordinator_events
from ckptsim.models.lifecycle import effects as lifecycle_effects

ROOT = Path(__file__).parents[2]
# Conformance writes effects down in the words of its vectors, rules judge by them what hosts do:
# neither carries anything out.
_NO_HOSTS = ("sim/conform", "sim/rules")
PLACES = [
    path
    for folder in ("scenarios", "sim", "analysis")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not any(folder in path.as_posix() for folder in _NO_HOSTS)
]
UNIONS: dict[str, tuple[ModuleType, Any]] = {
    "barrier handler": (handler_events, handler_events.HandlerEffect),
    "subtask checkpoints": (subtask_events, subtask_events.SubtaskEffect),
    "channels and subpartitions": (channel_effects, channel_effects.NetworkEffect),
    "channel-state writer": (writer_events, writer_events.WriterEffect),
    "task lifecycle": (lifecycle_effects, lifecycle_effects.Effect),
    "coordinator": (coordinator_events, coordinator_events.CoordinatorEffect),
}
Effect = tuple[str, str]
"""Module and class."""


def _names(tree: ast.Module) -> dict[str, str]:
    """Return what the names that a file imports stand for."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _class_of(pattern: ast.MatchClass, names: dict[str, str]) -> Effect | None:
    """Return module and class of a class pattern, or None for a class of the file itself."""
    parts = ast.unparse(pattern.cls).split(".")
    full = ".".join([names.get(parts[0], parts[0]), *parts[1:]])
    module, _, name = full.rpartition(".")
    return (module, name) if module else None


def _is_closed(match: ast.Match) -> bool:
    """Return whether the last case of a match takes everything and hands it to assert_never."""
    last = match.cases[-1]
    return isinstance(last.pattern, ast.MatchAs) and ast.unparse(last.body[-1]).startswith(
        "assert_never("
    )


def _cases(path: Path) -> Iterator[tuple[Effect, ast.Match]]:
    """Yield the classes that a file's matches have cases for."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = _names(tree)
    for match in ast.walk(tree):
        if isinstance(match, ast.Match):
            for case in match.cases:
                for node in ast.walk(case.pattern):
                    effect = _class_of(node, names) if isinstance(node, ast.MatchClass) else None
                    if effect is not None:
                        yield effect, match


COUNTS: Counter[Effect] = Counter()
OPEN: dict[Effect, list[str]] = defaultdict(list)
for _path in PLACES:
    for _effect, _match in _cases(_path):
        COUNTS[_effect] += 1
        if not _is_closed(_match):
            OPEN[_effect].append(f"{_path.relative_to(ROOT)}:{_match.lineno}")


def _effects(union: str) -> list[Effect]:
    module, members = UNIONS[union]
    return [(module.__name__, member.__name__) for member in get_args(members)]


@pytest.mark.parametrize("union", UNIONS)
def test_each_effect_has_one_case(union: str) -> None:
    """No effect is carried out twice, and none is forgotten."""
    counted = {effect: COUNTS[effect] for effect in _effects(union)}
    assert counted == dict.fromkeys(counted, 1)


@pytest.mark.parametrize("union", UNIONS)
def test_each_match_over_effects_is_closed(union: str) -> None:
    """A new effect without a case is an error of types: the last case is assert_never."""
    assert {effect: OPEN[effect] for effect in _effects(union) if OPEN[effect]} == {}


def test_a_case_is_found_wherever_it_stands(tmp_path: Path) -> None:
    """Aliases, alternatives and open matches are seen for what they are."""
    source = """
from ckptsim.models.barriers import channel_state as do
from ckptsim.models.barriers.channel_state import DropStream
match effect:
    case do.OpenStream() | DropStream(number):
        pass
    case _:
        pass
"""
    path = tmp_path / "host.py"
    path.write_text(source, encoding="utf-8")
    found = list(_cases(path))
    module = "ckptsim.models.barriers.channel_state"
    assert [effect for effect, _ in found] == [(module, "OpenStream"), (module, "DropStream")]
    assert not any(_is_closed(match) for _, match in found)
