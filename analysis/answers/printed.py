"""The answers of a sweep as text for a terminal: a line per point, then sentences."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from ckptsim.analysis.answers.cliffs import Key
from ckptsim.analysis.answers.sentences import Answer, answer
from ckptsim.analysis.answers.series import answering, differ
from ckptsim.analysis.statistics import interval
from ckptsim.analysis.summaries import Summaries
from ckptsim.analysis.words import amount, time_in_words
from ckptsim.scenarios.planning import METRICS
from ckptsim.scenarios.severity import severity_of

Durations: TypeAlias = Mapping[Key, Mapping[float, float]]  # by probability, with two counts

WIDTH = 100
POINTS_MAX = 28  # lines of points. The others are in the report
_SHORTEST = 8  # characters of a value that is cut
_HEADING = 12  # characters from where a heading is broken into lines
_N, _COMPLETED = -1.0, -2.0
_NUMBER = re.compile(r"(?<=\d) (?=[a-zA-Zµ%])")
_NO_BREAK = "\u00a0"
_SHOWN = {"median_latency_ns": 0.5, "p95_latency_ns": 0.95}  # of all checkpoints of a point


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the table: its heading, its cells, and whether these are numbers.

    Where there is no room a heading is broken at blanks, and a column that may go is left out.
    """

    heading: str
    cells: list[str]
    right: bool = True
    may_go: bool = False
    broken: bool = False
    heading_width: int = _HEADING

    @property
    def width(self) -> int:
        """The width of its widest line."""
        whole = len(self.heading)
        if self.broken:
            whole = max(min(whole, self.heading_width), *map(len, self.heading.split()), 0)
        return max(whole, *map(len, self.cells), 0)


def printed(findings: Summaries, cliffs: Sequence[str], found: Answer | None = None) -> list[str]:
    """Return the lines of the answers: question, table, sentences and cliffs.

    found: the answer, if it is there already.
    """
    found = found or answer(findings)
    lines = paragraph(str(findings.about.get("question") or findings.about["plan"]))
    lines += ["", *point_table(findings)]
    lines.append("")
    for sentence in (*found.sentences, *cliffs, found.note):
        lines += paragraph(sentence)
    return lines


def paragraph(text: str) -> list[str]:
    """Return the lines of a text, all but the first one set in. A number stays with its unit."""
    kept = _NUMBER.sub(_NO_BREAK, text)
    wrapped = textwrap.wrap(
        kept, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(_NO_BREAK, " ") for line in wrapped]


def point_table(findings: Summaries) -> list[str]:
    """Return one line per point: its values, durations, asked metrics, violations, a mark."""
    durations = _durations(findings)
    metric, marks = ranked(findings, durations)
    keys = [(point["scenario"], point["parameters"]) for point in findings.points]
    shown = _chosen(keys, marks)
    columns = list(_columns(findings, durations, [keys[place] for place in shown], kept=metric))
    if any(marks.values()):
        cells = [marks.get(keys[place], "") for place in shown]
        columns.append(Column(heading="", cells=cells, right=False))
    columns, dropped = _fitting(columns)
    lines = list(_lines(columns))
    if len(keys) > len(shown):
        lines.append(f"... {len(keys) - len(shown):,} more points in the report")
    if metric is not None and any(marks.values()):
        lines.append(f"best and worst: by the {METRICS[metric].says}")
    if dropped:
        lines.append(f"no room for: {', '.join(dropped)}; the report has them")
    return lines


def ranked(findings: Summaries, durations: Durations) -> tuple[str | None, dict[Key, str]]:
    """Return the first requested metric with a better direction, with its best and worst point.

    There are none where these differ by no more than noise.  A point where a property breaks is
    never the best.
    """
    known = [name for name in answering(findings) if METRICS[name].less_is_better is not None]
    if not known:
        return None, {}
    metric = known[0]
    every = {key: _value(findings, durations, metric, key) for key in findings.replications[metric]}
    values = {key: value for key, value in every.items() if not math.isnan(value)}
    if not values:
        return metric, {}
    # No figure makes up for a broken property.
    broken = {_key(row) for row in violations_of(findings, expected=False)}
    right = [key for key in values if key not in broken]
    choose = (min, max) if METRICS[metric].less_is_better else (max, min)
    best = choose[0](right, key=values.__getitem__, default=None)
    worst = choose[1](values, key=values.__getitem__)
    seeds = findings.replications[metric]
    if best is None or values[best] == values[worst] or not differ(seeds[best], seeds[worst]):
        return metric, {}
    return metric, {best: "best", worst: "worst"}


def _value(findings: Summaries, durations: Durations, metric: str, key: Key) -> float:
    """Return a metric of a point as the table shows it."""
    if metric in _SHOWN:
        return durations.get(key, {}).get(_SHOWN[metric], math.nan)
    seeds = findings.replications[metric].get(key, {})
    return interval(list(seeds.values())).mean if seeds else math.nan


def _chosen(keys: Sequence[Key], marks: dict[Key, str]) -> list[int]:
    """Return the places of the points that are shown: the first ones, and those with a mark."""
    if len(keys) <= POINTS_MAX:
        return list(range(len(keys)))
    marked = [place for place, key in enumerate(keys) if key in marks]
    others = [place for place in range(len(keys)) if place not in marked]
    return sorted([*marked, *others[: POINTS_MAX - len(marked)]])


def _columns(
    findings: Summaries, durations: Durations, keys: Sequence[Key], *, kept: str | None
) -> Iterator[Column]:
    """Yield the columns of some points. kept: the metric that has its place before others."""
    values = [json.loads(parameters) for _, parameters in keys]
    for name, known in findings.axes.items():
        if len(set(known)) > 1:
            cells = [str(value.get(name, "")) for value in values]
            yield Column(heading=name, cells=cells, right=False)
    times_of = [durations.get(key, {}) for key in keys]
    if durations:
        for heading, probability in (("median", 0.5), ("p95", 0.95)):
            cells = [time_in_words(times.get(probability)) for times in times_of]
            yield Column(heading=heading, cells=cells)
        yield Column(heading="n", cells=list(map(_counted, times_of)))
    for metric in answering(findings):
        if metric in _SHOWN and durations:
            continue
        means = [_value(findings, durations, metric, key) for key in keys]
        cells = ["-" if math.isnan(mean) else amount(metric, mean) for mean in means]
        yield Column(heading=METRICS[metric].says, cells=cells, may_go=metric != kept)
    yield from _broken(findings, keys)


def _counted(times: Mapping[float, float]) -> str:
    """Return the checkpoints of quantiles, with those that did not complete."""
    unfinished = times.get(_N, 0) - times.get(_COMPLETED, 0)
    of_them = f" ({unfinished:,.0f} unfinished)" if unfinished else ""
    return f"{times.get(_N, 0):,.0f}{of_them}"


def _broken(findings: Summaries, keys: Sequence[Key]) -> Iterator[Column]:
    """Yield how many runs of each point violate a property, and how many ended in an error."""
    outcomes = {_key(row): row for row in findings.outcomes.to_dict("records")}
    unexpected = {_key(row) for row in violations_of(findings, expected=False)}
    cells = []
    for key in keys:
        row = outcomes.get(key, {"runs": 0, "runs_violated": 0, "error": 0})
        of = f"{row['runs_violated']:,} of {row['runs']:,} runs"
        expected = "" if key in unexpected else ", as meant"
        cells.append(f"{of}{expected}" if row["runs_violated"] else "0")
    yield Column(heading="violations", cells=cells)
    errors = [int(outcomes[key]["error"]) if key in outcomes else 0 for key in keys]
    if any(errors):
        yield Column(heading="errors", cells=[f"{count:,}" for count in errors])


def violations_of(findings: Summaries, *, expected: bool) -> list[dict[Any, Any]]:
    """Return the rows of violations that their scenarios expect, or the others, harm first."""
    declared = {
        (point["scenario"], point["parameters"]): json.loads(point["document"]).get("violates", [])
        for point in findings.points
    }
    rows = sorted(
        findings.violations.to_dict("records"), key=lambda row: severity_of(row["property"])
    )
    return [row for row in rows if (row["property"] in declared[_key(row)]) == expected]


def _key(row: Mapping[Any, Any]) -> Key:
    return str(row["scenario"]), str(row["parameters"])


def _durations(findings: Summaries) -> Durations:
    """Return the quantiles of checkpoint durations by point, and how many checkpoints there are."""
    found: dict[Key, dict[float, float]] = {}
    for row in findings.latency.to_dict("records"):
        times = found.setdefault(_key(row), {_N: row["n"], _COMPLETED: row["completed"]})
        times[row["probability"]] = row["latency_ns"]
    return found


def _fitting(columns: list[Column]) -> tuple[list[Column], list[str]]:
    """Return the columns that fit, with cut values if need be, and the names of the others."""
    dropped: list[str] = []
    if _whole(columns) > WIDTH:
        columns = [replace(column, broken=True) for column in columns]
    while _whole(columns) > WIDTH and any(column.may_go for column in columns):
        last = max(place for place, column in enumerate(columns) if column.may_go)
        dropped.insert(0, columns.pop(last).heading)
    while _whole(columns) > WIDTH:
        place = max(range(len(columns)), key=lambda place: _cuttable(columns[place]))
        if _cuttable(columns[place]) <= _SHORTEST:
            break
        columns[place] = _narrower(columns[place])
    return columns, dropped


def _cuttable(column: Column) -> int:
    return 0 if column.right or not column.heading else column.width


def _narrower(column: Column) -> Column:
    cut = partial(_cut, width=column.width - 1)
    words = " ".join(map(cut, column.heading.split()))
    cells = list(map(cut, column.cells))
    return replace(column, heading=words, cells=cells, heading_width=column.width - 1)


def _cut(text: str, width: int) -> str:
    """Return a text with its end, which distinguish names of modules, and what fits before it."""
    if len(text) <= width:
        return text
    head = (width - 1) // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def _whole(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns) + 2 * (len(columns) - 1)


def _lines(columns: Sequence[Column]) -> Iterator[str]:
    headings = [textwrap.wrap(column.heading, column.width) for column in columns]
    height = max(map(len, headings), default=0)
    for line in range(height):
        cells = [
            heading[line - height + len(heading)] if line >= height - len(heading) else ""
            for heading in headings
        ]
        yield _line(columns, cells)
    for row in zip(*(column.cells for column in columns), strict=True):
        yield _line(columns, row)


def _line(columns: Sequence[Column], cells: Sequence[str]) -> str:
    parts = [
        cell.rjust(column.width) if column.right else cell.ljust(column.width)
        for column, cell in zip(columns, cells, strict=True)
    ]
    return "  ".join(parts).rstrip()
