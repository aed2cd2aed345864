"""What you can look up: scenarios and plans, parameters and topics, store files and their costs."""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim import scenarios
from ckptsim._api.columns import aligned
from ckptsim._api.frames import frame_of, tidy
from ckptsim._api.plots import CountPlots
from ckptsim._api.result import Facts, Result
from ckptsim._api.scenario import Value, load, scenario_of, vary
from ckptsim._api.topics import TOPICS, Page, parameter_lines
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.describe import Description, describe
from ckptsim.scenarios.dialect import duration_text, one_of, suggestion
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import costs_text, scenario_key, written_whole
from ckptsim.scenarios.files.json_schema import json_schema
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import METRICS, Plan, all_plans, plan_values, points, size_of
from ckptsim.sim.extras import extras_explained

if TYPE_CHECKING:
    import pandas as pd

    from ckptsim.sim.store.real.runs import StoreContents as Contents

_SHOWN = 8
POINTS_CHECKED = 10_000  # an assumption: what can be made within some seconds


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Listing(Result):
    """Scenarios and sweep plans that come with the program: kind, name, link, what it shows.

    word: what was looked for.
    """

    rows: Sequence[Mapping[str, str]]
    word: str | None = None

    def frame(self) -> pd.DataFrame:
        """Return one row per scenario and plan."""
        columns = ("kind", "name", "link", "says")
        return frame_of([{name: row[name] for name in columns} for row in self.rows], columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the scenarios, each with its link, and the plans, each with its scenario."""
        return {
            "scenarios": self._of("scenario", "name", "link", "says"),
            "plans": self._of("plan", "name", "scenario", "says"),
        }

    def _of(self, kind: str, *columns: str) -> Sequence[dict[str, str]]:
        return [{name: row[name] for name in columns} for row in self.rows if row["kind"] == kind]

    @property
    def plot(self) -> CountPlots:
        """How many there are of each link."""
        counts = {name: sum(row["link"] == name for row in self.rows) for name in LINKS}
        return CountPlots(counts, "scenarios and plans")

    @property
    def text(self) -> str:
        """A table of the scenarios and one of the plans."""
        if not self.rows:
            hint = suggestion(self.word or "", [one.name for one in all_scenarios()])
            return f"no scenario or plan has {self.word!r} in its name or meaning{hint}"
        blocks = []
        for kind, own, of in (("scenario", "scenario", "link"), ("plan", "sweep plan", "scenario")):
            rows = [tuple(row.values()) for row in self._of(kind, "name", of, "says")]
            if rows:
                blocks.append("\n".join(aligned((own, of, "what it shows"), rows)))
        blocks.append("`ckptsim explain NAME` shows every parameter of a scenario.")
        return "\n\n".join(blocks)

    def _facts(self) -> Facts:
        return [(row["name"], f"{row['link']}: {row['says']}") for row in self.rows]


def list(word: str | None = None, *, link: str | None = None) -> Listing:  # noqa: A001
    """Return the scenarios and sweep plans that come with the program.

    word: only those with it in name, link or meaning; link: only those of this link of the chain.
    Raises UserError for a link that is not there.
    """
    if link is not None and link not in LINKS:
        raise UserError(f"link: found {link!r}, expected {one_of(link, [*LINKS])}")
    found = all_scenarios()
    link_of = {one.name: one.link for one in found}
    rows = [
        {"kind": "scenario", "name": one.name, "scenario": "", "link": one.link, "says": one.says}
        for one in found
    ]
    for plan in all_plans():
        about = {"kind": "plan", "name": plan.name, "scenario": plan.scenario, "says": plan.says}
        rows.append(about | {"link": link_of.get(plan.scenario, "")})
    asked = (word or "").lower()
    shown = [
        row
        for row in rows
        if link in (None, row["link"]) and any(asked in text.lower() for text in row.values())
    ]
    return Listing(rows=shown, word=word)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Explanation(Result):
    """A scenario parameter by parameter, a plan, or a topic; `text` is for people."""

    name: str
    text: str
    data: object
    parameters: Sequence[Description] = ()

    def frame(self) -> pd.DataFrame:
        """Return one row per parameter: path, value, default, unit, bounds, meaning, source."""
        rows = [asdict(one) for one in self.parameters]
        return frame_of(rows, ("path", "value", "default", "unit", "bounds", "says", "source"))

    def to_dict(self) -> dict[str, Any]:
        """Return the name, and what `ckptsim explain --json` prints."""
        return {"name": self.name, "data": self.data}

    @property
    def plot(self) -> CountPlots:
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
    if isinstance(what, str) and what in TOPICS:
        return explained_page(what, TOPICS[what][1]())
    named = what if isinstance(what, scenarios.Scenario) else load(what)
    return explained(scenario_of(vary(named, set or {})))


def explained_page(name: str, page: Page) -> Explanation:
    """Return a page as an explanation."""
    return Explanation(name=name, text=page.text, data=page.data)


def explained(scenario: scenarios.Scenario, *, only_changed: bool = False) -> Explanation:
    """Return every parameter of a scenario, its text with those that are shown."""
    found = describe(scenario)
    data = {
        "name": scenario.name,
        "link": scenario.link,
        "says": scenario.says,
        "scenario_key": scenario_key(scenario),
        "parameters": [asdict(one) for one in found],
    }
    shown = [one for one in found if one.path not in ("name", "link", "says")]
    lines = [
        f"{scenario.name} ({scenario.link}): {scenario.says}\n",
        *parameter_lines([one for one in shown if one.changed or not only_changed]),
        f"\n* differs from the default.  Scenario key {data['scenario_key']}.",
    ]
    return Explanation(name=scenario.name, text="\n".join(lines), data=data, parameters=found)


def explained_plan(plan: Plan) -> Explanation:
    """Return a plan's axes and points.

    Raises ScenarioError when a point of the plan cannot be made.
    """
    size, values = size_of(plan), plan_values(plan)
    shown = points(plan, most=POINTS_CHECKED)
    axes = [
        (
            path,
            plan.words.get(path, ""),
            "grid" if path in plan.grid else "zip",
            ", ".join(map(_shown, values[path])),
        )
        for path in plan.axes
    ]
    lines = [f"{plan.name} (sweep plan of {plan.scenario}): {plan.says}\n"]
    asked = [("question", plan.question)] if plan.question else []
    asked += [("answered by", f"{METRICS[name].says} ({name})") for name in plan.answers]
    lines += [*aligned((), asked), ""] if asked else []
    lines += [*aligned(("parameter", "called", "in", "values"), axes), ""]
    if plan.overrides:
        overrides = [(path, _shown(value)) for path, value in plan.overrides.items()]
        lines += [*aligned(("for all points", "value"), overrides), ""]
    seeds = "common random numbers" if plan.common_random_numbers else "seeds of their own"
    lines.append(
        f"points: {size.points}; tie policies: {', '.join(plan.ties)}; "
        f"replications: {size.replications}, with {seeds}; in all {size.runs} runs"
    )
    if len(shown) < size.points:
        lines.append(f"checked: the first {len(shown)} points; a sweep checks all before it begins")
    data = {
        "name": plan.name,
        "says": plan.says,
        "question": plan.question,
        "answers": [*plan.answers],
        "words": dict(plan.words),
        "scenario": plan.scenario,
        "axes": {path: [*values[path]] for path in plan.axes},
        "overrides": dict(plan.overrides),
        "ties": [*plan.ties],
        "runs": size.runs,
        "points": [
            {
                "index": point.index,
                "parameters": json.loads(point.parameters),
                "scenario_key": scenario_key(point.scenario),
            }
            for point in shown
        ],
    }
    return Explanation(name=plan.name, text="\n".join(lines), data=data)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class StoreContents(Result):
    """What is in a store file: its partitions, and whether their checkpoints are whole."""

    contents: Contents

    @property
    def damaged(self) -> bool:
        """Whether the checkpoint of a partition is damaged."""
        return any(one.damage is not None for one in self.contents.partitions)

    @property
    def failed(self) -> bool:
        """Whether the checkpoint of a partition is damaged."""
        return self.damaged

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
    def plot(self) -> CountPlots:
        """How many rows each partition has."""
        return CountPlots({str(one.key): one.rows for one in self.contents.partitions}, "rows")

    @property
    def text(self) -> str:
        """A row per partition, with its checkpoint."""
        about = ", ".join(f"{name} {value}" for name, value in self.contents.about.items())
        lines = [
            f"{self.contents.path}: {about}",
            f"{'partition':<40} {'rows':>8} {'position':>10} {'blob bytes':>10}  checkpoint",
        ]
        for one in self.contents.partitions:
            position = "-" if one.checkpoint is None else str(one.checkpoint.position)
            size = "-" if one.blob_bytes is None else str(one.blob_bytes)
            lines.append(f"{one.key!s:<40} {one.rows:>8} {position:>10} {size:>10}  {_state(one)}")
        return "\n".join(lines)

    def _facts(self) -> Facts:
        partitions = [
            (str(one.key), f"{one.rows} rows{', DAMAGED' if one.damage else ''}")
            for one in self.contents.partitions
        ]
        return [("file", self.contents.path), *self.contents.about.items(), *partitions]


def _state(one: Any) -> str:
    """Return a word on the checkpoint of a partition."""
    if one.checkpoint is not None:
        return "end of push" if one.checkpoint.end_of_push else "no end of push"
    if one.damage is not None:
        return f"DAMAGED: {one.damage}"
    return "none" if one.blob_bytes is None else "a blob of the user's"


def store(file: str | Path) -> StoreContents:
    """Look into a store file without changing it; the extra `store` reads it.

    Raises UserError for what is no store, or in use.
    """
    with extras_explained():
        from ckptsim.sim.store.real import inspect_store

        return StoreContents(contents=inspect_store(Path(file)))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Costs(Result):
    """What the steps of a store cost on this machine; `costs` are for a scenario or a plan.

    machine: what was measured, as names and values.
    """

    measurements: Sequence[Any]
    costs: Mapping[str, int]
    machine: Mapping[str, object]

    def save(self, path: str | Path) -> Path:
        """Write the costs as a file for `--costs` and `sweep(costs=...)`."""
        written_whole(Path(path), costs_text(self.costs, self.machine))
        return Path(path)

    def frame(self) -> pd.DataFrame:
        """Return one row per step: n, median, 95th percentile."""
        return tidy(frame_of([asdict(one) for one in self.measurements]))

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements and the costs."""
        rows = [asdict(one) for one in self.measurements]
        return {"measurements": rows, "costs": dict(self.costs)}

    @property
    def plot(self) -> CountPlots:
        """The median of each step, with its n."""
        counts = {f"{one.says} (n = {one.n})": one.median_ns for one in self.measurements}
        return CountPlots(counts, "median [ns]")

    @property
    def text(self) -> str:
        """The medians of all steps, and the costs that follow."""
        head = ("median ms", "rounds from", "to", "p95")
        lines = [f"{'step':<60} {head[0]:>10} {head[1]:>11} {head[2]:>8} {head[3]:>8} {'n':>5}"]
        for one in self.measurements:
            rounds = f"{one.fastest_round_ns / 1e6:>11.3f} {one.slowest_round_ns / 1e6:>8.3f}"
            times = f"{one.median_ns / 1e6:>10.3f} {rounds} {one.p95_ns / 1e6:>8.3f}"
            lines.append(f"{one.says:<60} {times} {one.n:>5}")
        lines.append("\ncosts of the model:")
        for name, value in self.costs.items():
            shown = f"{value:,} bytes/s" if name.endswith("_per_s") else duration_text(value)
            lines.append(f"  {name:<20} {shown}")
        lines.append("a remote commit cannot be measured here: it stays as the scenario has it")
        return "\n".join(lines)

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
        about = _machine() | {"rounds": rounds, "repeats": repeats}
        return Costs(measurements=found, costs=costs_of(found), machine=about)


def _machine() -> dict[str, object]:
    import duckdb

    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return {"machine": machine, "duckdb": duckdb.__version__}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of scenario files and sweep plans."""
    return json_schema()
