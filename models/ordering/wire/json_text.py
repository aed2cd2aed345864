"""JSON text in and out with every number as it was written.

A destination returns messages that are not its own: `100.0`, `1E3` or a number of forty digits must
leave as they came, which floating point does not grant.  Keys keep their order.
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import NoReturn

Json = object  # str, Number, bool, None, list[Json] or dict[str, Json]


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()

    def whole(self) -> int | None:
        """Return the value if it is a whole number of at most 18 digits, else None."""
        try:
            value = Decimal(self)
        except InvalidOperation:  # an exponent beyond all bounds
            return None
        if value.adjusted() > 17 or value != value.to_integral_value():
            return None
        return int(value)


def read_json(text: str) -> Json:
    """Return the value that a JSON text represents.

    Raises ValueError when the text is not JSON. `NaN` and `Infinity` are not.
    """
    try:
        value: Json = json.loads(
            text, parse_int=Number, parse_float=Number, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


class _Written(str):
    """Text that is written as it is."""

    __slots__ = ()


def write_json(value: Json) -> str:
    """Return a value of `read_json` as compact JSON, to any depth."""
    written: list[str] = []
    todo: list[Json] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, (Number, _Written)):
            written.append(item)
        elif isinstance(item, dict):
            todo.extend(reversed(_object_tokens(item)))
        elif isinstance(item, list):
            todo.extend(reversed(_list_tokens(item)))
        else:
            written.append(json.dumps(item))
    return "".join(written)


def _object_tokens(value: dict[str, Json]) -> list[Json]:
    tokens: list[Json] = [_Written("{")]
    for number, (key, item) in enumerate(value.items()):
        tokens += [_Written(f"{',' if number else ''}{json.dumps(key)}:"), item]
    return [*tokens, _Written("}")]


def _list_tokens(value: list[Json]) -> list[Json]:
    tokens: list[Json] = [_Written("[")]
    for number, item in enumerate(value):
        tokens += [_Written("," if number else ""), item]
    return [*tokens, _Written("]")]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
