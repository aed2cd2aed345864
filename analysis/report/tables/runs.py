"""Tables of single runs and of all: the slowest checkpoints, errors, situations, parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from ckptsim.analysis.report.tables import cells
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import time_in_words, value_in_words

ROWS_MAX = 60


def outliers_part(findings: Summaries) -> cells.TitledTable:
    """Return the slowest checkpoints with the command that replays each one's run."""
    return cells.titled(
        "Slowest checkpoints",
        "One per run; the command prints the story of the run.",
        "point:text|checkpoint:text|status:text|took or lasted|replay:command",
        (
            (
                cells.word(cells.label(findings, row)),
                cells.word(f"{row['scope']}/{row['checkpoint_id']}"),
                cells.word(row["status"]),
                cells.time(row["elapsed_ns"]),
                cells.word(row["replay"]),
            )
            for row in cells.records(findings.outliers)
        ),
    )


def errors_part(findings: Summaries) -> cells.TitledTable:
    """Return the errors that runs ended in."""
    return cells.titled(
        "Errors",
        "Runs that raised instead of ending; each is a fault of the program or its input.",
        "point:text|error:text|runs|replay the first:command",
        (
            (
                cells.word(cells.label(findings, row)),
                cells.word(row["error"]),
                cells.count(row["runs"]),
                cells.word(row["replay"]),
            )
            for row in cells.records(findings.errors)[:ROWS_MAX]
        ),
    )


def goals_part(findings: Summaries) -> cells.TitledTable:
    """Return how often each situation that is wanted was reached."""
    return cells.titled(
        "Situations reached",
        "How many runs reached each rare situation: a sweep without them shows little.",
        "situation:text|runs|times",
        (
            (
                cells.word(str(row["goal"]).replace("_", " ")),
                cells.count(row["runs_reached"], f"{row['runs_reached']:,} of {row['runs']:,}"),
                cells.count(row["reached"]),
            )
            for row in cells.records(findings.goals)
        ),
    )


def parameters_part(findings: Summaries) -> cells.TitledTable:
    """Return every parameter of the first point. Those that the sweep changes are marked."""
    document = json.loads(findings.points[0]["document"])
    paths = [path for path, _ in findings.about["axes"]]
    swept = [name for path in paths for name in (path, f"{path}_ns", f"{path}_bytes")]
    return cells.titled(
        "Parameters",
        "All parameters at the first point; what the sweep changes is marked.",
        "parameter:text|value:text",
        (
            cells.Row(
                (cells.word(path), cells.word(value_in_words(path, value))),
                marked=any(_same(path, name) for name in swept),
            )
            for path, value in flat(document)
            if path != "says"
        ),
    )


def _same(path: str, swept: str) -> bool:
    """Return whether a path is the swept one, in which `[*]` represents every index."""
    pieces = swept.split("[*]")
    if len(pieces) == 1:
        return path == swept
    return path.startswith(pieces[0] + "[") and path.endswith("]" + pieces[-1])


def flat(value: object, path: str = "") -> list[tuple[str, object]]:
    """Return the single values of a document by their paths, in order."""
    if isinstance(value, Mapping):
        inner = [(f"{path}.{key}" if path else str(key), item) for key, item in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        inner = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    else:
        return [(path, value)]
    return [entry for inner_path, item in inner for entry in flat(item, inner_path)]


def violations_of(findings: Summaries) -> list[dict[str, Any]]:
    """Return what the template shows of each property broken at each point."""
    declared = {
        cells.key_of(point): json.loads(point["document"]).get("violates", [])
        for point in findings.points
    }
    found = []
    rows = cells.records(findings.violations)
    for (point, name), group in groupby(rows, lambda row: (cells.key_of(row), row["property"])):
        first, *more = group
        found.append(
            {
                "property": name,
                "declared": name in declared[point],
                "point": cells.label(findings, first),
                "runs": first["runs"],
                "of": first["of"],
                "examples": [
                    {**row, "at": f"at {time_in_words(row['at_ns'])}"} for row in (first, *more)
                ],
            }
        )
    return found
