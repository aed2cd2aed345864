"""A job to begin with: a chain of vertices, as a file with a comment above each key."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim._api.columns import aligned, frame_of
from ckptsim._api.result import CountPlots, Facts, Result
from ckptsim._api.scenario import Scenario, wrapped
from ckptsim.scenarios.describe import describe
from ckptsim.scenarios.dialect import units
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import Place, read, write, written_whole
from ckptsim.scenarios.files.json_schema import with_schema
from ckptsim.scenarios.job import Job
from ckptsim.scenarios.job.job import ON_BUFFERS

if TYPE_CHECKING:
    import pandas as pd

_WIDTH = 96
_LOAD = 0.5  # an assumption to begin with: how busy each subtask is
_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*/\s*(s|min|h)")
_SECONDS = {"s": 1, "min": 60, "h": 3_600}
_UNIT = re.compile(r"_(?:ns|bytes|per_s|bytes_per_s)$")
_HEAD = """\
# Made by `ckptsim new`. Change the values, then:
#   ckptsim run {name}                    one run, with its checkpoints
#   ckptsim whatif {name} --set execution.checkpointing.unaligned.enabled=true
#   ckptsim explain {name}                every other key, with its default
# Add a failure with a table [[faults]]: kind = "crash_task", vertex = "{last}", at = "30 s"

"""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class NewJob(Result):
    """A job to begin with. contents: of its file. written: where that is, None for nowhere."""

    scenario: Scenario
    contents: str
    written: Path | None

    def save(self, path: str | Path) -> Path:
        """Write the file and return its path."""
        written_whole(Path(path), with_schema(Path(path), self.contents))
        return Path(path)

    def frame(self) -> pd.DataFrame:
        """Return one row per vertex: name, kind, parallelism, service, state."""
        rows = [
            (one.name, one.kind.value, one.parallelism, one.service_ns, one.state_bytes)
            for one in self.scenario.job.vertices
        ]
        return frame_of(rows, ("name", "kind", "parallelism", "service_ns", "state_bytes"))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim new --json` prints."""
        written = None if self.written is None else str(self.written)
        return {"written": written, "contents": self.contents}

    @property
    def plot(self) -> CountPlots:
        """How many subtasks each vertex has."""
        counts = {one.name: one.parallelism for one in self.scenario.job.vertices}
        return CountPlots(counts, "subtasks")

    @property
    def text(self) -> str:
        """The vertices, and the next commands."""
        rows = [
            (one.name, f"{one.parallelism}", one.kind.value) for one in self.scenario.job.vertices
        ]
        lines = aligned(("vertex", "subtasks", "kind"), rows)
        if self.written is None:
            return "\n".join(lines)
        return "\n".join(
            [*lines, f"\nwritten: {self.written}", f"next: ckptsim run {self.written}"]
        )

    def _facts(self) -> Facts:
        return [("vertices", ", ".join(one.name for one in self.scenario.job.vertices))]


def new(
    out: str | Path | None = None,
    *,
    vertices: Sequence[str] = ("source", "operator", "sink"),
    parallelism: int = 1,
    rate: str = "1000 /s",
    interval: str = "10 s",
    mode: str = "aligned",
    state: str = "10 MB",
) -> NewJob:
    """Make a job to begin with: a source, operators and a sink in a row.

    out: a new file. Without it nothing is written. vertices: their names in order, two at least.
    parallelism: of each. rate: records of the source. interval, mode: of the checkpoints.
    state: of each operator. Each subtask is busy half of the time.

    Raises UserError for a file that is there, and ScenarioError for values that cannot be.
    """
    place = None if out is None else Path(out)
    if place is not None and place.exists():
        raise UserError(f"out: found {str(place)!r}, expected a file that is not there yet")
    if place is not None and place.suffix != ".toml":
        raise UserError(f"out: found {str(place)!r}, expected a name that ends in .toml")
    if len(vertices) < 2:
        found = ", ".join(vertices) or "none"
        raise UserError(f"vertices: found {found}, expected a source and a sink at least")
    name = re.sub(r"[^a-z0-9_-]", "_", "job" if place is None else place.stem.lower()).strip("_-")
    document: dict[str, Any] = {
        "name": name or "job",
        "link": ON_BUFFERS,
        "says": f"{' -> '.join(vertices)}, each with {parallelism} subtasks",
        "job": {
            "duration": "2 min",
            "vertices": _vertices(vertices, parallelism, rate, state),
            "checkpointing": {"mode": mode, "interval": interval},
            "storage": {"write": "50 MB/s", "read": "100 MB/s"},
            "restart": {"kind": "fixed_delay", "delay": "1 s"},
            "recovery": {"timed": True},
        },
    }
    scenario = read(document, source="new")
    assert isinstance(scenario.model, Job)
    head = _HEAD.format(name="job.toml" if place is None else place, last=vertices[-1])
    contents = head + write(document, _comments(scenario, document))
    if place is not None:
        written_whole(place, with_schema(place, contents))
    return NewJob(scenario=wrapped(scenario), contents=contents, written=place)


def _vertices(
    names: Sequence[str], parallelism: int, rate: str, state: str
) -> list[dict[str, Any]]:
    """Return the tables of the vertices. A rate that is none is left to the loader."""
    match = _RATE.fullmatch(rate.strip())
    per_s = float(match[1]) / _SECONDS[match[2]] if match else 0.0
    service_us = max(1, round(_LOAD * max(1, parallelism) / (per_s or 1e3) * 1e6))
    service = units.write(service_us * 1_000, units.DURATION_UNITS)
    first, *others = names
    found: list[dict[str, Any]] = [
        {"name": first, "kind": "source", "parallelism": parallelism, "rate": rate}
    ]
    for before, name in zip(names, others, strict=False):
        table: dict[str, Any] = {"name": name, "kind": "operator", "parallelism": parallelism}
        table["inputs"] = [{"upstream": before, "partitioner": "hash"}]
        table |= {"service": service, "state": state}
        if name == others[-1]:
            table["kind"] = "sink"
            table["inputs"] = [{"upstream": before, "partitioner": "rebalance"}]
            del table["state"]
        found.append(table)
    return found


def _comments(scenario: object, document: Mapping[str, Any]) -> dict[Place, list[str]]:
    says = {_UNIT.sub("", one.path): one.says for one in describe(scenario)}  # type: ignore[arg-type]
    found: dict[Place, list[str]] = {}
    seen: set[str] = set()

    def walk(table: Mapping[str, Any], place: Place, path: str) -> None:
        for key, value in table.items():
            inner = f"{path}.{key}" if path else key
            if isinstance(value, dict):
                walk(value, (*place, key), inner)
            elif key == "vertices":
                for index, item in enumerate(value):
                    walk(item, (*place, key, index), f"{inner}[{index}]")
            elif path and (text := says.get(inner)) and (generic := re.sub(r"\[\d+\]", "", inner)):
                if generic not in seen:
                    found[(*place, key)] = textwrap.wrap(text, _WIDTH)
                seen.add(generic)

    walk(document, (), "")
    return found
