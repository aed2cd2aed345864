"""The fields of a line of measurements, checked field by field before anything is simulated.

The checks are lenient where the measurements are: unknown keys pass, null counts as absent, and
what Flink has a default for may be absent.  A value of the wrong type or out of its range is a
problem with its path.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ckptsim.scenarios.errors import Problem

_SHOWN = 60
_KINDS = {
    "text": "a text",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "list": "a list",
    "object": "an object",
    "times": "a list of numbers",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One key of an object: its type, its least value, and whether it may be absent.

    kind: "text", "whole", "number", "flag", "list", "object", or "times" for a list of numbers.
    above: the least value itself is too small.  words: the texts that it may be.  inside: the keys
    of an object, or of each object in a list, which has some where the key is required.
    each: what every key of an object has.
    """

    key: str
    kind: str
    required: bool = False
    minimum: float | None = None
    above: bool = False
    words: tuple[str, ...] = ()
    inside: tuple[Field, ...] = ()
    each: Field | None = None

    @property
    def expected(self) -> str:
        """What it may be, for people."""
        if self.words:
            return f"one of {', '.join(self.words)}"
        if self.minimum is None:
            return _KINDS[self.kind]
        return f"{_KINDS[self.kind]} {'above' if self.above else 'of at least'} {self.minimum:g}"

    def fits(self, value: object) -> bool:
        """Return whether a value is of the type and in the range."""
        match self.kind:
            case "text":
                return isinstance(value, str) and (not self.words or value in self.words)
            case "flag":
                return isinstance(value, bool)
            case "list":
                return isinstance(value, list)
            case "object":
                return isinstance(value, Mapping)
            case "times":
                return isinstance(value, list) and all(map(_is_number, value))
        if not _is_number(value) or (self.kind == "whole" and value != int(value)):  # type: ignore[call-overload]
            return False
        least = self.minimum
        return least is None or value > least or (value == least and not self.above)  # type: ignore[operator]


# Figures, in objects as deep as they go.
FIGURE = Field("", "number")
_INPUT = (Field("from", "text", required=True), Field("partitioner", "text", required=True))
_SOURCE = (
    Field("name", "text", required=True),
    Field("parallelism", "whole", required=True, minimum=1),
    Field("rate_limit_per_s_total", "number", minimum=0, above=True),
    Field("rate_per_s_total", "number", minimum=0, above=True),
    Field("hot_fraction_to_subtask0", "number", minimum=0),
    Field("stops_after_ms", "number", minimum=0),
)
_OPERATOR = (
    Field("name", "text", required=True),
    Field("parallelism", "whole", required=True, minimum=1),
    Field("inputs", "list", required=True, inside=_INPUT),
    Field("service_time_us", "number", required=True, minimum=0),
    Field("slow_subtask0_factor", "number", minimum=0, above=True),
    Field("state_bytes_total", "number", minimum=0),
)
_CHECKPOINT = (
    Field("mode", "text", required=True),
    Field("interval_ms", "number", required=True, minimum=1),
    Field("aligned_timeout_ms", "number", minimum=0),
    Field("min_pause_ms", "number", minimum=0),
    Field("max_concurrent", "whole", minimum=1),
)
_STORAGE = (
    Field("write_bytes_per_s", "number", minimum=0, above=True),
    Field("read_bytes_per_s_each_stream", "number", minimum=0, above=True),
    Field("limit_scope", "text"),
    Field("create_latency_ms", "number", minimum=0),
    Field("inline_threshold_bytes", "whole", minimum=0),
)
CONFIG = (
    Field("sources", "list", required=True, inside=_SOURCE),
    Field("operators", "list", required=True, inside=_OPERATOR),
    Field("placement", "text", required=True),
    Field("record_bytes_on_wire", "whole", required=True, minimum=1),
    Field("checkpoint", "object", required=True, inside=_CHECKPOINT),
    Field("storage", "object", inside=_STORAGE),
    Field("two_input_merge", "text"),
    Field("memory_segment_bytes", "whole", minimum=256),
    Field("exclusive_buffers_per_channel", "whole", minimum=0),
    Field("floating_buffers_per_gate", "whole", minimum=1),
    Field("max_buffers_per_channel", "whole", minimum=1),
    Field("max_overdraft_buffers_per_gate", "whole", minimum=0),
    Field("buffer_debloat_enabled", "flag"),
    Field("buffer_debloat_target_ms", "number", minimum=1),
    Field("buffer_timeout_ms", "number", minimum=-1),
    Field("jobs_per_run", "whole", minimum=1),
)


def object_problems(entry: object, fields: Sequence[Field], path: str) -> list[Problem]:
    """Return the problems in one object. Keys that no field names are left alone."""
    if not isinstance(entry, Mapping):
        return [Problem(path, shown(entry), "an object")]
    found: list[Problem] = []
    for field in fields:
        value = entry.get(field.key)
        place = f"{path}.{field.key}" if path else field.key
        if value is None:
            if field.required:
                absent = "null" if field.key in entry else "no such key"
                found.append(Problem(place, absent, field.expected))
        elif not field.fits(value):
            found.append(Problem(place, shown(value), field.expected))
        else:
            found += _problems_inside(value, field, place)
    return found


def _problems_inside(value: object, field: Field, place: str) -> list[Problem]:
    if field.each is not None and isinstance(value, Mapping):
        keys = [_of_key(field.each, key, inside) for key, inside in value.items()]
        return object_problems(value, keys, place)
    if not field.inside:
        return []
    if not isinstance(value, list):
        return object_problems(value, field.inside, place)
    if field.required and not value:
        return [Problem(place, "[]", "at least one")]
    each = (object_problems(one, field.inside, f"{place}[{n}]") for n, one in enumerate(value))
    return [problem for problems in each for problem in problems]


def _of_key(field: Field, key: str, value: object) -> Field:
    """Return what a key has. A figure may be an object of such."""
    if field is FIGURE and isinstance(value, Mapping):
        return Field(key, "object", each=FIGURE)
    return replace(field, key=key)


def shown(value: object) -> str:
    """Return a value as short JSON."""
    text = json.dumps(value, default=str)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 4] + " ..."


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
