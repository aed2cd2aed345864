"""What can be looked up from Python: scenarios and plans, parameters and topics, store files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim import scenarios
from ckptsim._api.frames import frame_of, tidy
from ckptsim._api.plots import Plots
from ckptsim._api.result import Facts, Result
from ckptsim._api.scenario import Value, load, scenario_of, vary
from ckptsim._api.vectors import CountPlots
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.describe import Description, describe
from ckptsim.scenarios.dialect import one_of
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import costs_text, scenario_key, written_whole
from ckptsim.scenarios.files.json_schema import json_schema
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import all_plans
from ckptsim.sim.extras import extras_explained

if TYPE_CHECKING:
    import pandas as pd

    from ckptsim.sim.store.real.runs import StoreContents as Contents

_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Listing(Result):
    """Scenarios and sweep plans that come with the program: kind, name, link, what it shows."""

    rows: Sequence[Mapping[str, str]]

    def frame(self) -> pd.DataFrame:
        """Return one row per scenario and plan."""
        return frame_of([dict(row) for row in self.rows], ("kind", "name", "link", "says"))

    def to_dict(self) -> dict[str, Any]:
        """Return the rows."""
        return {"rows": [dict(row) for row in self.rows]}

    @property
    def plot(self) -> Plots:
        """How many there are of each link."""
        counts = {name: sum(row["link"] == name for row in self.rows) for name in LINKS}
        return CountPlots(counts, "scenarios and plans")

    def _facts(self) -> Facts:
        return [(row["name"], f"{row['link']}: {row['says']}") for row in self.rows]


def list(word: str | None = None, *, link: str | None = None) -> Listing:  # noqa: A001
    """Return the scenarios and sweep plans that come with the program.

    word: only those with it in name, link or meaning; link: only those of this link of the chain.
    Raises UserError for a link that is not there.
    """
    if link is not None and link not in LINKS:
        raise UserError(f"link: found {link!r}, expected {one_of(link, [*LINKS])}")
    link_of = {scenario.name: scenario.link for scenario in all_scenarios()}
    rows = [
        {"kind": "scenario", "name": one.name, "link": one.link, "says": one.says}
        for one in all_scenarios()
    ]
    rows += [
        {
            "kind": "plan",
            "name": one.name,
            "link": link_of.get(one.scenario, ""),
            "says": one.says,
        }
        for one in all_plans()
    ]
    asked = (word or "").lower()
    return Listing(
        rows=[
            row
            for row in rows
            if link in (None, row["link"]) and any(asked in text.lower() for text in row.values())
        ]
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Explanation(Result):
    """A scenario parameter by parameter, or a topic; `text` is what the command line prints."""

    name: str
    text: str
    data: object
    parameters: Sequence[Description] = ()

    def frame(self) -> pd.DataFrame:
        """Return one row per parameter: path, value, default, unit, bounds, meaning, source."""
        rows = [asdict(one) for one in self.parameters]
        return frame_of(rows, ("path", "value", "default", "unit", "bounds", "says", "source"))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim explain --json` prints."""
        return {"name": self.name, "data": self.data}

    @property
    def plot(self) -> Plots:
        """How many parameters of each table differ from their defaults."""
        counts: dict[str, int] = {}
        for one in self.parameters:
            table = one.path.rpartition(".")[0] or one.path
            counts[table] = counts.get(table, 0) + one.changed
        return CountPlots({name: n for name, n in counts.items() if n}, "changed parameters")

    def _facts(self) -> Facts:
        changed = [(one.path, one.value) for one in self.parameters if one.changed]
        if not self.parameters:
            return [(self.name, line) for line in self.text.splitlines()[:_SHOWN] if line]
        return [("scenario", self.name), *changed]


def explain(
    what: str | Path | scenarios.Scenario, *, set: Mapping[str, Value] | None = None
) -> Explanation:
    """Explain a scenario, with every parameter, or a topic of `ckptsim explain`.

    what: a scenario, what `load` takes, or a topic such as "slots"; set: options of a scenario.
    Raises UserError for what is none of them.
    """
    from ckptsim.sim.cli.pages.reference import parameter_lines
    from ckptsim.sim.cli.pages.topics import TOPICS, load_topic

    if isinstance(what, str) and what in TOPICS:
        page = load_topic(TOPICS[what])
        return Explanation(name=what, text=page.text, data=page.data)
    named = what if isinstance(what, scenarios.Scenario) else load(what)
    scenario = scenario_of(vary(named, set or {}))
    found = describe(scenario)
    data = {
        "name": scenario.name,
        "link": scenario.link,
        "says": scenario.says,
        "scenario_key": scenario_key(scenario),
        "parameters": [asdict(one) for one in found],
    }
    text = "\n".join(parameter_lines(found))
    return Explanation(name=scenario.name, text=text, data=data, parameters=found)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class StoreContents(Result):
    """What is in a store file: its partitions, and whether their checkpoints are whole."""

    contents: Contents

    @property
    def damaged(self) -> bool:
        """Whether the checkpoint of a partition is damaged."""
        return any(one.damage is not None for one in self.contents.partitions)

    def frame(self) -> pd.DataFrame:
        """Return one row per partition: rows, position, bytes of the checkpoint, damage."""
        rows = [
            {
                "partition": str(one.key),
                "rows": one.rows,
                "position": None if one.checkpoint is None else one.checkpoint.position,
                "blob_bytes": one.blob_bytes,
                "damage": one.damage,
            }
            for one in self.contents.partitions
        ]
        return frame_of(rows, ("partition", "rows", "position", "blob_bytes", "damage"))

    def to_dict(self) -> dict[str, Any]:
        """Return what `ckptsim store --json` prints."""
        return asdict(self.contents) | {"path": str(self.contents.path)}

    @property
    def plot(self) -> Plots:
        """How many rows each partition has."""
        return CountPlots({str(one.key): one.rows for one in self.contents.partitions}, "rows")

    def _facts(self) -> Facts:
        facts: Facts = [("file", self.contents.path), *self.contents.about.items()]
        partitions = [
            (str(one.key), f"{one.rows} rows{', DAMAGED' if one.damage else ''}")
            for one in self.contents.partitions
        ]
        return [*facts, *partitions]


def store(file: str | Path) -> StoreContents:
    """Look into a store file without changing it; the extra `store` reads it.

    Raises UserError for what is no store, or in use.
    """
    with extras_explained():
        from ckptsim.sim.store.real import inspect_store

        return StoreContents(contents=inspect_store(Path(file)))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Costs(Result):
    """What the steps of a store cost on this machine; `costs` are for a scenario or a plan."""

    measurements: Sequence[Any]
    costs: Mapping[str, int]

    def save(self, path: str | Path) -> Path:
        """Write the costs as a file for `--costs` and `sweep(costs=...)`."""
        written_whole(Path(path), costs_text(self.costs, {}))
        return Path(path)

    def frame(self) -> pd.DataFrame:
        """Return one row per step: n, median, 95th percentile."""
        return tidy(frame_of([asdict(one) for one in self.measurements]))

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements and the costs."""
        rows = [asdict(one) for one in self.measurements]
        return {"measurements": rows, "costs": dict(self.costs)}

    @property
    def plot(self) -> Plots:
        """The median of each step, with its n."""
        counts = {f"{one.says} (n = {one.n})": one.median_ns for one in self.measurements}
        return CountPlots(counts, "median [ns]")

    def _facts(self) -> Facts:
        return [
            (one.says, f"median {one.median_ns / 1e6:.3f} ms (n = {one.n})")
            for one in self.measurements
        ]


def measure_store(
    *,
    folder: str | Path | None = None,
    repeats: int = 30,
    rounds: int = 3,
    progress: Callable[[str, int, int], None] | None = None,
) -> Costs:
    """Measure real checkpoint stores on this machine, and return costs for the model.

    folder: on the disk to measure; without one a temporary one.  repeats: of each transaction in a
    round; rounds: how often all is measured.  progress: called with a step, steps done and all.

    Raises UserError for a folder that is not there, or when the extra `store` is not installed.
    """
    if folder is not None and not Path(folder).is_dir():
        raise UserError(f"folder: found {str(folder)!r}, expected a folder")
    with (
        extras_explained(),
        tempfile.TemporaryDirectory(prefix="ckptsim-measure-", dir=folder) as place,
    ):
        from ckptsim.sim.store.real.measure import costs_of, measure

        found = measure(
            Path(place),
            repeats=repeats,
            rounds=rounds,
            progress=progress or (lambda _says, _done, _total: None),
        )
        return Costs(measurements=found, costs=costs_of(found))


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of scenario files and sweep plans."""
    return json_schema()
