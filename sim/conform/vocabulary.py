"""The check that a vector says what its suite has words for. `vocabulary.toml` has the words."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from string import Template
from typing import Any

from ckptsim.models.barriers.barrier import OptionKind
from ckptsim.models.barriers.reason import FailureReason
from ckptsim.models.recovery.mapping import Mapper, Partitioner

_TYPES: dict[str, type] = {"int": int, "bool": bool, "text": str, "list": list, "object": dict}


class VocabularyError(ValueError):
    """A vector says something that its suite has no word for. The text names place and words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of one suite, or of one kind of vector in it.

    head: the fields of a vector.  name: the field of a step that names it. None where all steps are
    alike.  steps: the fields of each step by that name. Empty where there are no steps.
    closed: the fields that an object of the vector may have, by the object's name.  paired:
    `expect` has one entry for each step.
    """

    head: str
    name: str | None = None
    steps: Mapping[str, str] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=dict)
    paired: bool = False


def check(vector: Mapping[str, Any]) -> None:
    """Raise VocabularyError at the first thing that the vector's suite has no word for."""
    words = _words(vector)
    _check_fields("", vector, words.head)
    for name, allowed in words.closed.items():
        _check_closed(name, vector.get(name), allowed)
    if words.paired and len(vector["steps"]) != len(vector["expect"]):
        steps, expect = len(vector["steps"]), len(vector["expect"])
        raise VocabularyError(f"found {expect} entries in expect, expected {steps}, one a step")
    if words.steps:
        for number, step in enumerate(vector["steps"]):
            _check_step(f"step {number}: ", step, words)


def _words(vector: Mapping[str, Any]) -> Words:
    found = WORDS[vector["suite"]]
    if isinstance(found, Words):
        return found
    kind = vector.get("kind")
    if kind not in found:
        raise VocabularyError(f"found kind {kind!r}, expected one of {', '.join(found)}")
    return found[kind]


def _check_step(where: str, step: object, words: Words) -> None:
    if not isinstance(step, dict):
        raise VocabularyError(f"{where}found {step!r}, expected an object")
    name = "" if words.name is None else str(step.get(words.name))
    if name not in words.steps:
        expected = ", ".join(words.steps)
        raise VocabularyError(f"{where}found {words.name} {name!r}, expected one of {expected}")
    _check_fields(where, step, words.steps[name])


def _check_fields(where: str, said: Mapping[str, Any], line: str) -> None:
    for name, kind, options, optional in _fields(line):
        value = said.get(name)
        if value is None and (optional or (name in said and not kind)):
            continue
        if name not in said:
            raise VocabularyError(f"{where}found no {name}, expected {kind or 'one'}")
        if kind and not _is(value, kind):
            raise VocabularyError(f"{where}found {name} {value!r}, expected {kind}")
        if options and value not in options:
            expected = ", ".join(options)
            raise VocabularyError(f"{where}found {name} {value!r}, expected one of {expected}")


def _check_closed(name: str, said: object, allowed: str) -> None:
    for each in said if isinstance(said, list) else [said]:
        unknown = sorted(set(each or ()) - set(allowed.split())) if isinstance(each, dict) else []
        if unknown:
            raise VocabularyError(
                f"{name}: found {', '.join(unknown)}, expected only {', '.join(allowed.split())}"
            )


def _fields(line: str) -> Iterator[tuple[str, str, list[str], bool]]:
    """Yield the name, type, values and whether it may be missing, of each field of a line."""
    for word in line.split():
        named, _, values = word.rstrip("?").partition("=")
        name, _, kind = named.partition(":")
        yield name, kind, values.split("|") if values else [], word.endswith("?")


def _is(value: object, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "bool" or not isinstance(value, bool))


def _read() -> dict[str, Words | dict[str, Words]]:
    """Return the words of each suite. Of each `kind` in it where kinds differ."""
    text = files(__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)
    lists = {
        "opt": (kind.name.lower() for kind in OptionKind),
        "reason": (each.value for each in FailureReason),
        "mapper": (each.value for each in Mapper),
        "partitioner": (each.value for each in Partitioner),
    }
    shared = {name: f"{name}={'|'.join(values)}" for name, values in lists.items()}
    for name, line in found.pop("shared").items():
        shared[name] = Template(line).substitute(shared)

    def words(table: dict[str, Any]) -> Words:
        filled = {
            name: {
                key: Template(line).substitute(shared) for key, line in table.get(name, {}).items()
            }
            for name in ("steps", "closed")
        }
        head = Template(table["head"]).substitute(shared)
        return Words(**table | filled | {"head": head})

    return {
        suite: {kind: words(one) for kind, one in table["kinds"].items()}
        if "kinds" in table
        else words(table)
        for suite, table in found.items()
    }


WORDS = _read()
