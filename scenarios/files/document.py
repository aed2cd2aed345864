"""Scenarios and their documents: from tables of keys and values to a Scenario, and back.

A document is what a TOML file holds, as dictionaries, lists and single values.  The keys of a
scenario's document are the ones of its link: the head (`name`, `link`, `says`, ...), one table with
the model's parameters, and the faults.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, time
from typing import Any, Protocol, TypeAlias, cast

from ckptsim.scenarios.dialect import (
    At,
    Bad,
    Choice,
    Entry,
    Kind,
    Many,
    Nested,
    OneOf,
    Text,
    human_table,
    placed,
    plain_table,
    read_keys,
    schema,
    suggestion,
)
from ckptsim.scenarios.errors import Problem, ScenarioError
from ckptsim.scenarios.fields import REQUIRED, name_kind
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.spec import Link, Scenario


class _Judge(Protocol):
    def problems_with(self, scenario: Scenario) -> list[Problem]: ...


class _Placed(Protocol):
    def problems_in(self, model: object) -> list[Problem]: ...


def read(
    found: Mapping[str, object], *, source: str, links: Mapping[str, Link] = LINKS
) -> Scenario:
    """Return the scenario of a document. Raises ScenarioError with every problem found."""
    problems: list[Problem] = []
    at = At(source, "", problems)
    link = _link(found, at, links)
    if link is None:
        read_keys(_head_of_any(links), found, at)
        raise ScenarioError(problems)
    at = replace(at, renamed=link.renamed)
    values = read_keys(entries(link), found, at)
    if isinstance(values, Bad):
        raise ScenarioError(problems)
    whole = {entry.name: entry.default for entry in entries(link)} | values
    model = whole.pop(link.key)
    scenario = Scenario(model=model, **cast("dict[str, Any]", whole))
    if hasattr(model, "problems_with"):
        notes = cast("_Judge", model).problems_with(scenario)
        problems.extend(placed(note, at) for note in notes)
    for index, fault in enumerate(scenario.faults):
        if hasattr(fault, "problems_in"):
            where = at.key("faults").item(index)
            notes = cast("_Placed", fault).problems_in(model)
            problems.extend(placed(note, where) for note in notes)
    if problems:
        raise ScenarioError(problems)
    return scenario


def _link(found: Mapping[str, object], at: At, links: Mapping[str, Link]) -> Link | None:
    expected = "one of " + ", ".join(f'"{name}"' for name in links)
    if "link" not in found:
        at.key("link").note("nothing", f"{expected} (required: which link of the chain)")
        return None
    word = found["link"]
    if not isinstance(word, str) or word not in links:
        hint = suggestion(word, links) if isinstance(word, str) else ""
        at.key("link").refuse(word, expected + hint)
        return None
    return links[word]


class _Anything(Kind):
    __slots__ = ()

    def read(self, found: object, at: At) -> object:
        return found

    def expected(self) -> str:
        return "anything"

    def plain(self, value: object) -> object:
        return value


def _head_of_any(links: Mapping[str, Link]) -> list[Entry]:
    """Return the keys that a scenario of some link may have. Only the head is judged."""
    unjudged = ["link", "goals", "violates", "faults", *(link.key for link in links.values())]
    head = [_NAME, _SAYS]
    return head + [_entry(key, _Anything(), None, "") for key in dict.fromkeys(unjudged)]


def entries(link: Link) -> tuple[Entry, ...]:
    """Return the top-level parameters of a link's scenarios, in the order of showing them."""
    defaults = tuple((f".{path}", value) for path, value in link.defaults.items())
    model = Nested(table=link.model, defaults=defaults)
    whole = all(not entry.required for entry in schema(link.model))
    return (
        _NAME,
        _entry("link", Choice(options=(link.name,)), REQUIRED, "which link of the chain"),
        _SAYS,
        _entry("goals", _names(link.goals), (), "situations that some run must reach"),
        _entry("violates", _names(link.properties), (), "properties that this design must break"),
        _entry(link.key, model, model.default() if whole else REQUIRED, "parameters of the model"),
        _entry(
            "faults",
            Many(item=OneOf(tables=link.faults), minimum=0, maximum=1000),
            (),
            "what goes wrong, and when",
        ),
    )


def defaults(link: Link) -> dict[str, object]:
    """Return the document of a link's model with every parameter that has a default."""
    model = next(entry for entry in entries(link) if entry.name == link.key)
    inside = cast("Nested", model.kind).entries()
    return {
        link.key: {
            entry.name: entry.kind.plain(entry.default) for entry in inside if not entry.required
        }
    }


def _names(known: Collection[str]) -> Kind:
    return Many(item=Choice(options=tuple(known)) if known else name_kind(), minimum=0, maximum=100)


def _entry(name: str, kind: Kind, default: object, says: str) -> Entry:
    return Entry(name=name, short=None, default=default, kind=kind, says=says, source="")


_NAME = _entry("name", name_kind(), REQUIRED, "by which it is found and shown")
_LINE = Text(pattern=r"[^\x00-\x1f\x7f]+", says="a text on one line", longest=300)
_SAYS = _entry("says", _LINE, REQUIRED, "what the scenario shows, in one sentence")


def plain(scenario: Scenario, links: Mapping[str, Link] = LINKS) -> dict[str, object]:
    """Return the scenario's document with every parameter in base units. `read` takes it back."""
    link = links[scenario.link]
    return plain_table(_Flat(scenario, link), entries(link))


def human(scenario: Scenario, links: Mapping[str, Link] = LINKS) -> dict[str, object]:
    """Return the scenario's document as people write it, without defaults."""
    link = links[scenario.link]
    return human_table(_Flat(scenario, link), entries(link))


class _Flat:
    def __init__(self, scenario: Scenario, link: Link) -> None:
        self._scenario = scenario
        self._key = link.key

    def __getattr__(self, key: str) -> object:
        return getattr(self._scenario, "model" if key == self._key else key)


def to_json(scenario: Scenario, links: Mapping[str, Link] = LINKS) -> str:
    """Return the whole scenario as one line of JSON, for transport. `from_json` takes it back."""
    return canonical(plain(scenario, links))


def from_json(text: str, links: Mapping[str, Link] = LINKS) -> Scenario:
    """Return the scenario that `to_json` wrote."""
    return read(json.loads(text), source="JSON", links=links)


def canonical_json(scenario: Scenario, links: Mapping[str, Link] = LINKS) -> str:
    """Return everything that decides a run (so not `says`) as JSON with sorted keys."""
    document = plain(scenario, links)
    del document["says"]
    return canonical(document)


def scenario_key(scenario: Scenario, links: Mapping[str, Link] = LINKS) -> str:
    """Return a hash of everything that decides a run, as 32 hexadecimal digits."""
    text = canonical_json(scenario, links)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def canonical(value: object) -> str:
    """Return JSON data as one text, the same for equal data."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


# Keys, and indices into arrays of tables, from the top of a document.
Place: TypeAlias = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def to_toml(scenario: Scenario, *, links: Mapping[str, Link] = LINKS) -> str:
    """Return the text of a file that loads to an equal scenario."""
    return write(human(scenario, links))


def write(
    document: Mapping[str, object], comments: Mapping[Place, Sequence[str]] | None = None
) -> str:
    """Return tables of texts, numbers, booleans, arrays and tables as TOML.

    comments: place of a single value, with indices into arrays of tables -> lines to stand above
    it. The ones of places that the document does not have are left out.
    """
    return "\n".join(_table(document, (), (), comments or {})).strip("\n") + "\n"


def _table(
    table: Mapping[str, object],
    path: tuple[str, ...],
    place: Place,
    comments: Mapping[Place, Sequence[str]],
) -> Iterator[str]:
    """Write single values first: what follows a header belongs to it. path, place: of the table."""
    for key, value in table.items():
        if not _has_header(value):
            yield from (f"# {line}" for line in comments.get((*place, key), ()))
            yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        inner, there = (*path, key), (*place, key)
        if isinstance(value, Mapping):
            if not value or not all(map(_has_header, value.values())):
                yield from ("", f"[{'.'.join(map(_key, inner))}]")
            yield from _table(value, inner, there, comments)
        elif _holds_tables(value):
            for index, item in enumerate(cast("Sequence[Mapping[str, object]]", value)):
                yield from ("", f"[[{'.'.join(map(_key, inner))}]]")
                yield from _table(item, inner, (*there, index), comments)


def _has_header(value: object) -> bool:
    return isinstance(value, Mapping) or _holds_tables(value)


def _holds_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _text(key)


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case list():
            return "[" + ", ".join(_value(item) for item in value) + "]"
        case Mapping():
            pairs = (f"{_key(key)} = {_value(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case date() | time():
            return value.isoformat()
        case _:
            return repr(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON leaves it
