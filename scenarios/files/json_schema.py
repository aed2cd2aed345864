"""The JSON Schema of scenario files and of plans, made of the fields that the loader reads.

It holds the structure: keys, kinds of values, units, bounds, words, defaults, and what a key means.
What must hold between values only the loader knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ckptsim.scenarios.dialect import NONE_TEXT, Choice, Entry, Flag, Kind, Many, Nested, OneOf
from ckptsim.scenarios.dialect.kinds import Real, Text, Whole
from ckptsim.scenarios.dialect.units import DURATION_UNITS
from ckptsim.scenarios.files.document import entries
from ckptsim.scenarios.files.load import written_whole
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning.plan_keys import ENTRIES, Axes, Settings, Words

SCHEMA_FILE = "ckptsim.schema.json"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
_NUMBER = r"[0-9]{1,30}(\.[0-9]{1,30})?"
_WHOLE = r"[0-9]{1,30}(\.0{1,30})?"
_SPELLINGS = {"us": ("us", "µs", "μs"), "kB": ("kB", "KB"), "kB/s": ("kB/s", "KB/s")}


def json_schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of a file that is a scenario or a plan."""
    made = _Definitions()
    scenarios = [
        {
            "if": {"properties": {"link": {"const": name}}, "required": ["link"]},
            "then": made.table(f"{name} scenario", entries(link)),
        }
        for name, link in LINKS.items()
    ]
    return {
        "$schema": DRAFT,
        "title": "A scenario or a sweep plan of ckptsim",
        "type": "object",
        "properties": {"link": {"enum": list(LINKS)}},
        "if": {"required": ["link"]},
        "then": {"allOf": scenarios},
        "else": made.table("plan", ENTRIES),
        "$defs": made.found,
    }


class _Definitions:
    def __init__(self) -> None:
        self.found: dict[str, Schema] = {}

    def table(self, name: str, keys: Sequence[Entry], *, kind: str | None = None) -> Schema:
        """Return a reference to the schema of a table. kind: what its key `kind` says."""
        schema = self._table(keys, kind)
        words = re.sub(r"[^A-Za-z0-9]+", "_", name if kind is None else f"{name} {kind}")
        number = 1
        while self.found.setdefault(unique := f"{words}_{number}", schema) != schema:
            number += 1
        return {"$ref": f"#/$defs/{unique}"}

    def _table(self, keys: Sequence[Entry], kind: str | None) -> Schema:
        properties: Schema = {} if kind is None else {"kind": {"const": kind}}
        both: list[Schema] = []
        required = ["kind"] if kind is not None else []
        for entry in keys:
            for key, value in self._keys(entry):
                properties[key] = value
            if entry.short is None:
                required += [entry.name] if entry.required else []
                continue
            names = [{"required": [entry.name]}, {"required": [entry.short]}]
            both.append({"oneOf": names} if entry.required else {"not": {"allOf": names}})
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        schema |= {"required": required} if required else {}
        return schema | ({"allOf": both} if both else {})

    def _keys(self, entry: Entry) -> Iterable[tuple[str, Schema]]:
        about: Schema = {"description": entry.says} if entry.says else {}
        if not entry.required:
            about |= {"default": entry.kind.human(entry.default)}
        yield entry.name, self._kind(entry.kind) | about
        if entry.short is not None:
            yield entry.short, self._kind(entry.kind, bare=False) | about

    def _kind(self, kind: Kind, *, bare: bool = True) -> Schema:
        """Return the schema of a value. bare: whether a number without a unit will do."""
        if isinstance(kind, Whole):
            numbers = {"type": "integer", "minimum": kind.minimum, "maximum": kind.maximum}
            texts = [] if kind.scale is None else [self._quantity(kind.scale)]
            return _any([numbers] * bare + texts, optional=kind.optional)
        if isinstance(kind, Real):
            numbers = {"type": "number", "minimum": kind.minimum, "maximum": kind.maximum}
            suffixes = kind.suffixes or ()
            texts = [_text(rf"\s*{_NUMBER}\s*({_words(suffixes)})\s*")] if suffixes else []
            return _any([numbers] * bare + texts, optional=kind.optional)
        if isinstance(kind, Flag):
            return _any([{"type": "boolean"}], optional=kind.optional)
        if isinstance(kind, Choice):
            return {"enum": list(kind.options)}
        if isinstance(kind, Text):
            return {"type": "string", "pattern": f"^({kind.pattern})$", "maxLength": kind.longest}
        return self._composite(kind, bare=bare)

    def _quantity(self, scale: Mapping[str, int]) -> Schema:
        name = f"quantity_in_{list(scale)[-1].replace('/', '_per_')}"
        self.found.setdefault(name, _text(_pattern(scale)))
        return {"$ref": f"#/$defs/{name}"}

    def _composite(self, kind: Kind, *, bare: bool) -> Schema:
        if isinstance(kind, Many):
            items = self._kind(kind.item, bare=bare)
            sizes = {"minItems": kind.minimum, "maxItems": kind.maximum}
            return {"type": "array", "items": items, **sizes}
        if isinstance(kind, Nested):
            table = self.table(kind.table.__name__, kind.entries())
            return _any([table], optional=kind.optional)
        if isinstance(kind, OneOf):
            tables = [
                self.table(table.__name__, kind.entries(name), kind=name)
                for name, table in kind.tables.items()
            ]
            return _any(tables, optional=kind.optional)
        if isinstance(kind, Axes | Settings | Words):
            return {"type": "object"}
        raise TypeError(f"{type(kind).__name__} has no JSON Schema")


def _any(schemas: list[Schema], *, optional: bool) -> Schema:
    found = [*schemas, *([{"const": NONE_TEXT}] if optional else [])]
    return found[0] if len(found) == 1 else {"anyOf": found}


def _text(pattern: str) -> Schema:
    return {"type": "string", "pattern": f"^{pattern}$"}


def _pattern(scale: Mapping[str, int]) -> str:
    """Return the pattern of a quantity: nothing smaller than a base unit, a duration in parts."""
    parts = [
        rf"{_NUMBER if size > 1 else _WHOLE}\s*({_words((unit,))})\s*"
        for unit, size in scale.items()
    ]
    if scale is DURATION_UNITS:
        return r"\s*(?=[0-9])" + "".join(f"({part})?" for part in parts)
    return rf"\s*({'|'.join(parts)})"


def _words(units: Iterable[str]) -> str:
    return "|".join(re.escape(word) for unit in units for word in _SPELLINGS.get(unit, (unit,)))


def with_schema(path: Path, text: str) -> str:
    """Return a TOML text with the line by which editors find its schema, which it writes."""
    place = path.parent / SCHEMA_FILE
    schema = json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"
    if not place.is_file() or place.read_text("utf-8") != schema:
        written_whole(place, schema)
    return f"#:schema ./{SCHEMA_FILE}\n{text}"
