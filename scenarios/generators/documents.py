"""Documents of random scenarios: tables of values to choose from, without what does not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ckptsim.scenarios.errors import ScenarioError
from ckptsim.scenarios.files import from_json
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.spec import Scenario

_TRIES = 6
_STEP = re.compile(r"[A-Za-z_]\w*|(?<=\[)\d+(?=\])")


def drawn(choices: Choices, table: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return a table with one of the values of each parameter; the first is the simplest."""
    return {name: choices.of(values) for name, values in table.items()}


def slower(text: Any, factor: int, *, but: Collection[str] = ()) -> Any:
    """Return a document all of whose durations are so many times as long, but those of names."""
    if isinstance(text, Mapping):
        return {
            key: value * factor
            if key.endswith("_ns") and isinstance(value, int) and key not in but
            else slower(value, factor, but=but)
            for key, value in text.items()
        }
    return [slower(one, factor, but=but) for one in text] if isinstance(text, list) else text


def fitted(text: dict[str, Any]) -> Scenario:
    """Return the scenario of a document in base units, without what does not fit.

    An option that others refuse goes back to its default, and a fault that names what is not there
    goes: what fits is declared where the options are.
    """
    for _ in range(_TRIES):
        try:
            return from_json(json.dumps(text))
        except ScenarioError as error:
            # From the back, so that the places of those in front stay what they are.
            for problem in reversed(error.problems):
                _leave_out(text, [*map(str, _STEP.findall(problem.path.rpartition(": ")[2]))])
    return from_json(json.dumps(text))


def _leave_out(text: Any, path: Sequence[str]) -> None:
    """Take away what a path leads to, as far as the document has it; of a fault, all of it."""
    if path[:1] == ["faults"]:
        path = path[:2]
    holder, last = None, None
    for step in path:
        if isinstance(text, list):
            key: Any = int(step)
            found = key if key < len(text) else None
        else:  # a path may name a parameter without its unit
            found = next((one for one in text if one == step or one.startswith(f"{step}_")), None)
        if found is None:
            break
        holder, last, text = text, found, text[found]
        if not isinstance(text, dict | list):
            break
    if holder is not None:
        del holder[last]
