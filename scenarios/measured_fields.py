"""The fields of a line of measurements, checked field by field before anything is simulated.

The checks are lenient where the measurements are: unknown keys pass, null counts as absent, and
what Flink has a default for may be absent.  A value of the wrong type or out of its range is a
problem with its path.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ckptsim.scenarios.errors import Problem

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Field:
    """One key of an object: its type, its least value, and whether it may be absent.

    kind: "text", "whole", "number", "flag", "list", "object", or "times" for a list of numbers.
    above: the least value itself is too small.
    """

    key: str
    kind: str
    required: bool = False
    minimum: float | None = None
    above: bool = False


CONFIG = (
    Field("sources", "list", required=True),
    Field("operators", "list", required=True),
    Field("placement", "text", required=True),
    Field("record_bytes_on_wire", "whole", required=True, minimum=1),
    Field("checkpoint", "object", required=True),
    Field("storage", "object"),
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
SOURCE = (
    Field("name", "text", required=True),
    Field("parallelism", "whole", required=True, minimum=1),
    Field("rate_limit_per_s_total", "number", minimum=0, above=True),
    Field("rate_per_s_total", "number", minimum=0, above=True),
    Field("hot_fraction_to_subtask0", "number", minimum=0),
    Field("stops_after_ms", "number", minimum=0),
)
OPERATOR = (
    Field("name", "text", required=True),
    Field("parallelism", "whole", required=True, minimum=1),
    Field("inputs", "list", required=True),
    Field("service_time_us", "number", required=True, minimum=0),
    Field("slow_subtask0_factor", "number", minimum=0, above=True),
    Field("state_bytes_total", "number", minimum=0),
)
INPUT = (
    Field("from", "text", required=True),
    Field("partitioner", "text", required=True),
)
CHECKPOINT = (
    Field("mode", "text", required=True),
    Field("interval_ms", "number", required=True, minimum=1),
    Field("aligned_timeout_ms", "number", minimum=0),
    Field("min_pause_ms", "number", minimum=0),
    Field("max_concurrent", "whole", minimum=1),
)
STORAGE = (
    Field("write_bytes_per_s", "number", minimum=0, above=True),
    Field("read_bytes_per_s_each_stream", "number", minimum=0, above=True),
    Field("limit_scope", "text"),
    Field("create_latency_ms", "number", minimum=0),
    Field("inline_threshold_bytes", "whole", minimum=0),
)


def config_problems(config: Mapping[str, Any], path: str) -> list[Problem]:
    """Return the problems in a `config`. `path` is where it is."""
    found = object_problems(config, CONFIG, path)
    if found:
        return found
    found += _each(config["sources"], SOURCE, f"{path}.sources")
    found += _each(config["operators"], OPERATOR, f"{path}.operators")
    for index, entry in enumerate(config["operators"]):
        if isinstance(entry, Mapping) and isinstance(entry.get("inputs"), list):
            found += _each(entry["inputs"], INPUT, f"{path}.operators[{index}].inputs")
    found += object_problems(config["checkpoint"], CHECKPOINT, f"{path}.checkpoint")
    found += object_problems(config.get("storage") or {}, STORAGE, f"{path}.storage")
    return found


def object_problems(entry: object, fields: Sequence[Field], path: str) -> list[Problem]:
    """Return the problems in one object. Keys that no field names are left alone."""
    if not isinstance(entry, Mapping):
        return [Problem(path, shown(entry), "an object")]
    found = []
    for field in fields:
        value = entry.get(field.key)
        place = f"{path}.{field.key}" if path else field.key
        if value is None:
            if field.required:
                found.append(
                    Problem(
                        place, "null" if field.key in entry else "no such key", _expected(field)
                    )
                )
        elif not _fits(value, field):
            found.append(Problem(place, shown(value), _expected(field)))
    return found


def shown(value: object) -> str:
    """Return a value as short JSON."""
    text = json.dumps(value, default=str)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 4] + " ..."


def _each(entries: Sequence[Any], fields: Sequence[Field], path: str) -> list[Problem]:
    if not entries:
        return [Problem(path, "[]", "at least one")]
    return [
        problem
        for index, entry in enumerate(entries)
        for problem in object_problems(entry, fields, f"{path}[{index}]")
    ]


def _fits(value: object, field: Field) -> bool:
    match field.kind:
        case "text":
            return isinstance(value, str)
        case "flag":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, list)
        case "object":
            return isinstance(value, Mapping)
        case "times":
            return isinstance(value, list) and all(_is_number(item) for item in value)
    if not _is_number(value) or (field.kind == "whole" and value != int(value)):  # type: ignore[call-overload]
        return False
    least = field.minimum
    return least is None or value > least or (value == least and not field.above)  # type: ignore[operator]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _expected(field: Field) -> str:
    words = {
        "text": "a text",
        "whole": "a whole number",
        "number": "a number",
        "flag": "true or false",
        "list": "a list",
        "object": "an object",
        "times": "a list of numbers",
    }[field.kind]
    if field.minimum is None:
        return words
    return f"{words} {'above' if field.above else 'of at least'} {field.minimum:g}"
