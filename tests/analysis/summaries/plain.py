"""The summaries of a sweep read from its rows a second time, in plain Python.

Sums and quantiles are fractions, so nothing is rounded before the end.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from ckptsim.analysis.student import t_quantile
from ckptsim.analysis.summaries.schema import BARRIERS, PROBABILITIES, TASK_MEANS, UNFINISHED, WAITS
from tests.analysis.summaries.tables import Row, Rows

OF_RUN = (
    *("ended_ns", "finishing_ns", "finishing_checkpoints"),
    *("checkpoints_completed", "checkpoints_failed", "records_committed", "records_produced"),
)
SHARES = ("completed_share", "failed_checkpoint_share", "caught_up_share", "broken_share")
Values = dict[tuple[int, str], dict[int, Fraction]]


def grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def mean(values: Iterable[Any]) -> Fraction | None:
    known = [Fraction(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


def quantile(values: Iterable[int], probability: float) -> Fraction | None:
    ordered = sorted(value for value in values if value is not None)
    if not ordered:
        return None
    place = Fraction(probability) * (len(ordered) - 1)
    low, high = math.floor(place), math.ceil(place)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def survival(entries: Sequence[tuple[int, bool]]) -> list[tuple[int, Fraction]]:
    """Return Kaplan and Meier's estimate: each duration that ended with the share up to it."""
    staying, found = Fraction(1), []
    for time in sorted({time for time, ended in entries if ended}):
        at_risk = sum(other >= time for other, _ in entries)
        staying *= 1 - Fraction(sum(entry == (time, True) for entry in entries), at_risk)
        found.append((time, 1 - staying))
    return found


class Reading:
    """The rows of a sweep with their points, as places in the plan."""

    def __init__(self, points: Sequence[str], rows: Rows) -> None:
        self.rows = rows
        self.runs = {
            row["run_key"]: {**row, "point": points.index(row["parameters"])}
            for row in rows["runs"]
        }
        self.checkpoints = [self._lasting(row) for row in rows["checkpoints"] if not row["inner"]]

    def _lasting(self, row: Row) -> Row:
        of_run = self.runs[row["run_key"]]
        cut = [
            one["failed_ns"]
            for one in self.rows["recoveries"]
            if (one["run_key"], one["attempt"]) == (row["run_key"], row["attempt"])
        ]
        until = [row["completed_ns"], min(cut, default=None), of_run["ended_ns"]]
        last = next(one for one in until if one is not None)
        lasted = row["duration_ns"]
        lasted = max(0, last - row["triggered_ns"]) if lasted is None else lasted
        named = {name: of_run[name] for name in ("point", "seed", "ties", "replay")}
        return {**row, **named, "elapsed_ns": lasted, "ended": row["status"] == "completed"}

    def by_point(self) -> list[tuple[int, list[Row]]]:
        return sorted(grouped(self.checkpoints, lambda row: row["point"]).items())

    def outcomes(self) -> list[Any]:
        names = ("completed", "failed", "stalled", "error")
        return [
            (point, len(runs), *(sum(row["outcome"] == name for row in runs) for name in names))
            + tuple(
                sum(take(row) for row in runs)
                for take in (lambda r: r["violations"], lambda r: r["violations"] > 0,
                             lambda r: r["attempts"])
            )
            for point, runs in sorted(grouped(self.runs.values(), lambda r: r["point"]).items())
        ]  # fmt: skip

    def latency(self) -> list[Any]:
        found = []
        for point, rows in self.by_point():
            entries = [(row["elapsed_ns"], row["ended"]) for row in rows]
            done = [time for time, ended in entries if ended]
            counts = [sum(row["status"] == status for row in rows) for status in UNFINISHED]
            curve = survival(entries)
            for p in PROBABILITIES:
                reached = [time for time, below in curve if below >= p - 1e-12]
                row = (point, len(rows), len(done), *counts, p, quantile(done, p))
                found.append((*row, min(reached, default=None)))
        return found

    def distribution(self) -> list[Any]:
        found = []
        for point, rows in self.by_point():
            entries = [(row["elapsed_ns"], row["ended"]) for row in rows]
            unfinished = sum(not ended for _, ended in entries)
            found += [(point, len(rows), unfinished, *step) for step in survival(entries)]
        return found

    def phases(self) -> list[Any]:
        found = []
        for point, rows in self.by_point():
            for family in (WAITS, BARRIERS):
                done = [row for row in rows if row["ended"] and row.get(family[0]) is not None]
                whole = sum(row["elapsed_ns"] for row in done)
                for phase in family if done else ():
                    total = sum(row.get(phase) or 0 for row in done)
                    share = Fraction(total, whole) if whole else None
                    found.append((point, phase, len(done), total, whole, share))
        return sorted(found, key=lambda row: row[:2])

    def first_barriers(self) -> list[Any]:
        found = []
        for point, rows in self.by_point():
            known = [row.get("start_delay_ns") for row in rows if row["ended"]]
            known = [value for value in known if value is not None]
            if known:
                quartiles = (quantile(known, p) for p in (0.25, 0.5, 0.75))
                found.append((point, len(known), *quartiles))
        return found

    def outliers(self) -> list[Any]:
        def place(row: Row) -> Any:
            return -row["elapsed_ns"], row["scope"], row["attempt"], row["checkpoint_id"]

        slowest = [
            min(rows, key=place)
            for rows in grouped(self.checkpoints, lambda row: row["run_key"]).values()
        ]
        slowest.sort(key=lambda row: (-row["elapsed_ns"], row["run_key"]))
        names = ("point", "seed", "ties", "run_key", "scope", "checkpoint_id", "attempt", "status")
        names += ("reason", "triggered_ns", "elapsed_ns", "replay")
        return [tuple(row[name] for name in names) for row in slowest[:10]]

    def tasks(self) -> list[Any]:
        found = []
        place = lambda row: (self.runs[row["run_key"]]["point"], row["task"])  # noqa: E731
        for (point, task), rows in sorted(grouped(self.rows["tasks"], place).items()):
            most = max(map(len, grouped(rows, lambda row: row["run_key"]).values()))
            means = (mean(row[name] for row in rows) for name in TASK_MEANS)
            found.append((point, task, most, *means))
        return found

    def violations(self) -> list[Any]:
        found = []
        place = lambda row: (self.runs[row["run_key"]]["point"], row["property"])  # noqa: E731
        for (point, name), rows in sorted(grouped(self.rows["violations"], place).items()):
            examples = []
            for key, some in grouped(rows, lambda row: row["run_key"]).items():
                said = min((r["at_ns"], r["says"], r["story"], r["replay"]) for r in some)
                examples.append((self.runs[key]["seed"], self.runs[key]["ties"], *said))
            of = sum(row["point"] == point for row in self.runs.values())
            first = enumerate(sorted(examples)[:3], start=1)
            found += [(point, name, len(examples), of, rank, *one) for rank, one in first]
        return found

    def errors(self) -> list[Any]:
        failed = [row for row in self.runs.values() if row["outcome"] == "error"]
        found = []
        by_text = grouped(failed, lambda row: (row["point"], row["error"]))
        for (point, text), rows in sorted(by_text.items()):
            seed, _, replay = min((row["seed"], row["ties"], row["replay"]) for row in rows)
            found.append((point, text, len(rows), seed, replay))
        return found

    def goals(self) -> list[Any]:
        return [
            (
                goal,
                len(rows),
                sum(row["reached"] > 0 for row in rows),
                sum(r["reached"] for r in rows),
            )
            for goal, rows in sorted(grouped(self.rows["goals"], lambda row: row["goal"]).items())
        ]

    def metrics(self) -> dict[tuple[str, str], Fraction]:
        """Return every metric of every run, by run key and name."""
        found: dict[tuple[str, str], Any] = {}
        tables = ("recoveries", "tasks", "figures")
        rows = {name: grouped(self.rows[name], lambda row: row["run_key"]) for name in tables}
        mine = grouped(self.checkpoints, lambda row: row["run_key"])
        for key, of_run in self.runs.items():
            if of_run["outcome"] == "error":
                continue
            values: dict[str, Any] = {name: of_run.get(name) for name in OF_RUN}
            both = of_run["checkpoints_completed"] + of_run["checkpoints_failed"]
            values["completed_share"] = int(of_run["outcome"] == "completed")
            if both:
                failed = Fraction(of_run["checkpoints_failed"], both)
                values["failed_checkpoint_share"] = failed
            done = [row for row in mine.get(key, ()) if row["ended"]]
            lasted = [row["elapsed_ns"] for row in done]
            values["median_latency_ns"] = quantile(lasted, 0.5)
            values["p95_latency_ns"] = quantile(lasted, 0.95)
            values["longest_latency_ns"] = max(lasted, default=None)
            values["start_delay_ns"] = quantile([row.get("start_delay_ns") for row in done], 0.5)
            values["persisted_bytes"] = mean(row.get("persisted_bytes") for row in done)
            values |= _recovered(rows["recoveries"].get(key, []), of_run["ended_ns"])
            closed = [row["finished_ns"] for row in rows["tasks"].get(key, ())]
            values["median_closed_ns"] = quantile(closed, 0.5)
            closed = [one for one in closed if one is not None]
            values["first_closed_ns"] = min(closed, default=None)
            values |= {row["figure"]: row["value"] for row in rows["figures"].get(key, ())}
            found |= {(key, name): value for name, value in values.items() if value is not None}
        return {place: Fraction(value) for place, value in found.items()}

    def replications(self) -> Values:
        """Return the mean over tie policies by point and metric, and by seed."""
        found: dict[tuple[int, str], dict[int, list[Fraction]]] = {}
        for (key, name), value in self.metrics().items():
            seeds = found.setdefault((self.runs[key]["point"], name), {})
            seeds.setdefault(self.runs[key]["seed"], []).append(value)
        return {
            place: {seed: mean(values) or Fraction(0) for seed, values in seeds.items()}
            for place, seeds in found.items()
        }

    def intervals(self) -> list[Any]:
        return [
            (*place, *_student(list(values.values()), place[1], least=0))
            for place, values in sorted(self.replications().items())
        ]

    def differences(self) -> list[Any]:
        values, found = self.replications(), []
        for (point, metric), here in sorted(values.items()):
            first = values.get((0, metric), {})
            common = [seed for seed in here if seed in first]
            if point and common:
                n, *bounds = _student([here[s] - first[s] for s in common], metric, least=-1)
                unpaired = len(here) + len(first) - 2 * len(common)
                found.append((point, metric, n, unpaired, *bounds))
        return found

    def expected(self) -> list[Any]:
        known = [
            row for row in self.rows["figures"] if self.runs[row["run_key"]]["outcome"] != "error"
        ]
        place = lambda row: (self.runs[row["run_key"]]["point"], row["figure"])  # noqa: E731
        return [
            (*key, mean(row["expected"] for row in rows))
            for key, rows in sorted(grouped(known, place).items())
        ]


def _recovered(rows: Sequence[Row], ended_ns: int) -> dict[str, Any]:
    """Return the metrics of one run's recoveries."""
    if not rows:
        return {}
    down = [r["resumed_ns"] - r["failed_ns"] for r in rows if r.get("resumed_ns") is not None]
    found: dict[str, Any] = {
        "recovery_ns": sum(down) if down else None,
        "records_reprocessed": sum(row["records_reprocessed"] for row in rows),
    }
    ordered = sorted(rows, key=lambda row: row["failed_ns"])
    parts = defaultdict(list)
    for place, row in enumerate(ordered):
        if row.get("bytes_read") is None:
            continue
        following = ordered[place + 1]["failed_ns"] if place + 1 < len(ordered) else ended_ns
        ends = ("failed", "detected", "resumed", "state_read", "first_record", "caught_up")
        at = {name: row.get(f"{name}_ns") for name in ends}
        parts["caught_up_share"].append(int(at["caught_up"] is not None))
        parts["peak_latency_ns"].append(row.get("peak_latency_ns"))
        if at["caught_up"] is None and at["first_record"] is not None:
            at["caught_up"] = following
        for name, begin, end in (
            ("downtime_ns", "failed", "first_record"),
            ("catch_up_ns", "failed", "caught_up"),
            ("recovery_detected_ns", "failed", "detected"),
            ("recovery_restart_ns", "detected", "resumed"),
            ("recovery_read_ns", "resumed", "state_read"),
            ("recovery_first_record_ns", "state_read", "first_record"),
            ("recovery_catch_up_ns", "first_record", "caught_up"),
        ):
            both = at[begin] is not None and at[end] is not None
            parts[name].append(at[end] - at[begin] if both else None)
    return {**found, **{name: mean(values) for name, values in parts.items()}}


def _student(values: Sequence[Fraction], metric: str, *, least: int) -> tuple[Any, ...]:
    n = len(values)
    middle = sum(values) / n
    if n == 1:
        return 1, middle, None, None
    variance = sum((value - middle) ** 2 for value in values) / (n - 1)
    half = t_quantile(0.95, n - 1) * math.sqrt(variance / n)
    low, high = float(middle) - half, float(middle) + half
    if metric in SHARES:
        low, high = (min(max(bound, least), 1) for bound in (low, high))
    return n, middle, low, high
