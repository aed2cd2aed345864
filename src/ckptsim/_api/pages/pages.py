"""Scenarios and plans, parameters and topics: what you can look up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckptsim import scenarios
from ckptsim._api.columns import aligned, frame_of, paragraph
from ckptsim._api.pages.topics import TOPICS, parameter_lines, property_page
from ckptsim._api.result import CountPlots, Facts, Result
from ckptsim._api.scenario import Value, load, scenario_of, vary
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.describe import Description, describe
from ckptsim.scenarios.dialect import one_of, suggestion
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import scenario_key
from ckptsim.scenarios.files.json_schema import json_schema
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import METRICS, Plan, all_plans, plan_values, points, size_of
from ckptsim.sim.infer.assumptions import assumptions

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 8
POINTS_CHECKED = 10_000  # an assumption: what can be made within some seconds


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Listing(Result):
    """Scenarios and sweep plans of the program. word: the word or link that was asked for."""

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
        """The scenarios and the plans, of all of them a line per link with their counts."""
        if not self.rows:
            hint = suggestion(self.word or "", [one.name for one in all_scenarios()])
            return f"no scenario or plan has {self.word!r} in its name or meaning{hint}"
        if self.word is None:
            return self._links()
        blocks = []
        for kind, own, of in (("scenario", "scenario", "link"), ("plan", "sweep plan", "scenario")):
            rows = [tuple(row.values()) for row in self._of(kind, "name", of, "says")]
            if rows:
                blocks.append("\n".join(aligned((own, of, "what it shows"), rows)))
        blocks.append("`ckptsim explain NAME` shows every parameter of a scenario.")
        return "\n\n".join(blocks)

    def _links(self) -> str:
        counts = Counter((row["link"], row["kind"]) for row in self.rows)
        rows = [
            (name, str(counts[name, "scenario"]), str(counts[name, "plan"]), link.says)
            for name, link in LINKS.items()
        ]
        head = ("link", "scenarios", "sweep plans", "what it models")
        hints = [
            "`ckptsim list LINK` shows one link, `ckptsim list WORD` searches a word.",
            "`ckptsim explain NAME` shows every parameter of a scenario.",
        ]
        return "\n".join([*aligned(head, rows), "", *hints])

    def _facts(self) -> Facts:
        return [(row["name"], f"{row['link']}: {row['says']}") for row in self.rows]


def list(word: str | None = None, *, link: str | None = None) -> Listing:  # noqa: A001
    """Return the scenarios and sweep plans that come with the program.

    word: only those with it in name, link or meaning, or of the link that it names. link: only
    this link of the chain.
    Raises UserError for a link that is not there.
    """
    asked = word or link
    if word in LINKS and link is None:
        word, link = None, word
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
    part = (word or "").lower()
    shown = [
        row
        for row in rows
        if link in (None, row["link"]) and any(part in text.lower() for text in row.values())
    ]
    return Listing(rows=shown, word=asked)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Explanation(Result):
    """A scenario parameter by parameter, a plan, or a topic. `text` is for people."""

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
    """Explain a scenario, with every parameter, a topic of `ckptsim explain`, or a property.

    what: a scenario, what `load` takes, a topic such as "slots", or the name of a property.
    set: options of a scenario.  Raises UserError for any other name.
    """
    if isinstance(what, str):
        page = TOPICS[what][1]() if what in TOPICS else property_page(what)
        if page is not None:
            return Explanation(name=what, text=page.text, data=page.data)
    named = what if isinstance(what, scenarios.Scenario) else load(what)
    return explained(scenario_of(vary(named, set or {})))


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
        *(line for one in assumptions(scenario) for line in paragraph(one)),
    ]
    return Explanation(name=scenario.name, text="\n".join(lines), data=data, parameters=found)


def explained_plan(plan: Plan) -> Explanation:
    """Return a plan's axes and points. Raises ScenarioError for a point that cannot be made."""
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


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of scenario files and sweep plans."""
    return json_schema()
