"""A sweep plan explained: what it varies, how many points and runs that makes."""

from __future__ import annotations

import json

from ckptsim.scenarios.files import scenario_key
from ckptsim.scenarios.planning import METRICS, Plan, plan_values, points, size_of
from ckptsim.sim.answers.columns import aligned
from ckptsim.sim.cli.pages.topics import Page

MOST_SHOWN = 10_000  # an assumption: what can be made within some seconds


def plan_page(plan: Plan) -> Page:
    """Return a plan's axes and points.

    Raises ScenarioError when a point of the plan cannot be made.
    """
    size = size_of(plan)
    shown = points(plan, most=MOST_SHOWN)
    values = plan_values(plan)
    axes = [
        (
            path,
            plan.words.get(path, ""),
            "grid" if path in plan.grid else "zip",
            ", ".join(map(_shown, values[path])),
        )
        for path in plan.axes
    ]
    head = f"{plan.name} (sweep plan of {plan.scenario}): {plan.says}\n"
    seeds = "common random numbers" if plan.common_random_numbers else "seeds of their own"
    count = (
        f"points: {size.points}; tie policies: {', '.join(plan.ties)}; "
        f"replications: {size.replications}, with {seeds}; in all {size.runs} runs"
    )
    if len(shown) < size.points:
        count += f"\nchecked: the first {len(shown)} points; a sweep checks all before it begins"
    overrides = [(path, _shown(value)) for path, value in plan.overrides.items()]
    asked = [("question", plan.question)] if plan.question else []
    asked += [("answered by", f"{METRICS[name].says} ({name})") for name in plan.answers]
    if asked:
        head = "\n".join([head, *aligned((), asked), ""])
    lines = [head, *aligned(("parameter", "called", "in", "values"), axes), ""]
    if overrides:
        lines += [*aligned(("for all points", "value"), overrides), ""]
    data = {
        "name": plan.name,
        "says": plan.says,
        "question": plan.question,
        "answers": list(plan.answers),
        "words": dict(plan.words),
        "scenario": plan.scenario,
        "axes": {path: list(values[path]) for path in plan.axes},
        "overrides": dict(plan.overrides),
        "ties": list(plan.ties),
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
    return Page(text="\n".join([*lines, count]), data=data)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
