"""Writes docs/ending.md and its pictures again: `python -m tests.job.records.ends.results_page`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from textwrap import fill

import pandas as pd

from ckptsim.analysis.figures.finishing import FINISHING, time_to_finish
from ckptsim.analysis.figures.run.lives import lives
from ckptsim.analysis.figures.style import svg
from ckptsim.analysis.words import value_in_words
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import load_plan, runs, with_parameters
from ckptsim.sim.world import run_world
from tests.job.records.ends.swept import swept
from tests.job.records.small import closes_ns, since

DOCUMENT = Path(__file__).parents[4] / "docs" / "ending.md"
FIGURES = DOCUMENT.parent / "figures"
S = 1_000_000_000
GOLDEN = (
    "final_chain",
    "final_chain_unaligned",
    "final_chain_naive",
    "final_backlog",
    "final_backlog_unaligned",
    "final_backlog_immediate",
    "final_backlog_naive",
    "final_backlog_naive_aligned",
)
# Plan of the sweep -> the result.
SWEEPS = {
    "final_by_depth": "1 checkpoint at any depth D; without EndOfData D + 1",
    "finishing_depth": (
        "aligned: 1 checkpoint as long as the backlog; unaligned: 1 + ceil((T_D - k0) / I) short "
        "ones; every task to the instant of the closed form"
    ),
    "finishing_backlog": "the same against the backlog",
    "finishing_interval": "the same against the interval",
    "final_by_phase": "extra wait I/2 + c in the mean; c with a checkpoint at once",
    "final_beside_endless": "a checkpoint at once gains nothing beside an endless source",
    "final_by_branch": "the short branch closes first; no final watermark before both end",
    "final_by_subtask": (
        "each subtask closes at its own next checkpoint; forward successors of finished ones are "
        "triggered by remote call"
    ),
    "final_with_union_state": "no checkpoint completes from the first end to the last",
    "final_failing": "1 / (1 - q) checkpoints in the mean",
    "final_words_lost": "the largest of n geometric variables in the mean",
    "stop_words_lost_by_rules": (
        "a stop of released Flink ends with (1 - p) ** n, a stop of the design always"
    ),
    "final_race_by_phase": "the share of declined ones is two messages over the interval",
    "final_unacknowledged": "without acknowledgement a checkpoint lasts for the backlog",
    "stop_by_depth": "1 savepoint, backlog + c + D h, for every kind and mode",
    "final_concurrent": "the first of m completed closes; m - 1 empty transactions at most",
}


def document() -> str:
    """Return the page."""
    parts = [
        "# How jobs end: results",
        (
            "How long does a bounded job take to end after its input? [The life of a "
            "task](lifecycle.md) has the rules, and this page the results. "
            "`python -m tests.job.records.ends.results_page` writes it, and a test compares it."
        ),
        "## Golden numbers",
        (
            "Five tasks form a row, and the source ends at 25 s. A checkpoint is triggered every "
            "10 s and takes 1 s. EndOfPartition takes 0.1 s per hop. In scenarios with a backlog, "
            "7 records of 1 s wait before each task. `ckptsim run NAME` repeats a row."
        ),
        table(("scenario", "triggered [s]", "tasks close [s]"), golden()),
        "## Time to finish",
        (
            "The tables have the seconds from the end of the source until the last task closes, "
            "with the triggered checkpoints in brackets. Three records of 1 s wait before each of "
            "five tasks. The first trigger comes 5 s after the end, and one follows every 10 s. "
            "`ckptsim sweep PLAN --out DIR` and `ckptsim report DIR` draw the pictures. The plan "
            "`finishing_interval` varies the interval."
        ),
        *(text for plan in PANELS for text in (f"`{plan}`:", finishing(plan))),
        "![time to finish against depth](figures/finishing_depth.svg)",
        "## Sweeps",
        (
            "T_D is the end of the data of the last task, k0 the first trigger after the end, and "
            "I the interval. c is the duration of a checkpoint, h a hop, and n the number of "
            "tasks. A test checks the results (`tests/job/records/ends/test_sweeps.py`). They are "
            "exact without chance, and within three standard deviations with it."
        ),
        table(("plan", "result"), [(f"`{plan}`", says) for plan, says in SWEEPS.items()]),
        "## Legacy sources",
        (
            'A legacy source (`kind = "legacy"`) emits on a thread of its own, beside the mailbox. '
            "What may it still emit when a stop with savepoint has come?"
        ),
        table(("a stop", "still emitted", "what becomes of it"), LEGACY),
        (
            "Released Flink cancels the thread and waits for its end. A suspended mailbox does not "
            "concern that thread, so EndOfData and the savepoint overtake its records:"
        ),
        LEGACY_COMMANDS,
        (
            "The thread holds the checkpoint lock while a record waits for room. So a trigger "
            "waits until the task downstream has taken a record, even where barriers overtake. In "
            "`legacy_source_back_pressured` a record takes 10 ms:"
        ),
        table(("kind of source", "mean checkpoint", "longest"), locked()),
        "## Order of lifecycle calls",
        (
            "Jobs of 18 kinds ran on a local cluster of Flink 1.20.3. The scenarios `flink_*` make "
            "the same calls in the same order (`tests/job/records/ends/test_observed.py`)."
        ),
        "## Pictures of a run",
        (
            "The first picture has five tasks with unaligned checkpoints and a backlog "
            "(`final_backlog_unaligned`). The second has three checkpoints at once after the end "
            "of data (`transactions_after_finish`)."
        ),
        "![lives of five tasks](figures/final_backlog_unaligned.svg)",
        "![three checkpoints at once](figures/transactions_after_finish.svg)",
    ]
    return "\n\n".join(map(wrapped, parts)) + "\n"


LEGACY = (
    (
        "cancels the thread (`stopped_by`, default)",
        "the records until the function looks at its flag (`after_cancel_records`)",
        "they come before EndOfData and the savepoint: all is committed once",
    ),
    (
        "suspends the mailbox, with drain",
        "all records until the task closes",
        "they come after EndOfData: the sink has finished, and they are lost",
    ),
    (
        "suspends the mailbox, without drain",
        "all records until the task closes",
        "they are in a transaction that is aborted: a restored job reads them again",
    ),
)
# ruff: noqa: E501 - commands are one line
LEGACY_COMMANDS = """\
```console
$ ckptsim check legacy_source_stopped
violations   none
$ ckptsim check legacy_source_stopped --set job.vertices[0].stopped_by=suspend
VIOLATED exactly_once_output
$ ckptsim check legacy_source_stopped --set job.vertices[0].stopped_by=suspend --set stop_kind=no_drain
VIOLATED aborted_transactions_are_empty_at_close
```"""


def locked() -> list[tuple[str, str, str]]:
    """Return how long checkpoints take with either kind of source, under back-pressure."""
    rows = []
    for kind in ("source", "legacy"):
        kinds = {"job.vertices[0].kind": kind}
        scenario = with_parameters(by_name("legacy_source_back_pressured"), kinds, source="page")
        checkpoints = run_world(scenario, seed=0).checkpoints
        done = [(one.duration_ns or 0) / 1e6 for one in checkpoints if one.status == "completed"]
        rows.append((f"`{kind}`", f"{fmean(done):.1f} ms", f"{max(done):g} ms"))
    return rows


PANELS = {
    "finishing_depth": ("repeat", "tasks in all", 2),
    "finishing_backlog": ("preloaded_records", "records before each task", 0),
}


def golden() -> list[tuple[str, str, str]]:
    """Return the triggers and closing instants of the golden scenarios."""
    rows = []
    for name in GOLDEN:
        result = run_world(by_name(name), seed=0)
        closes = ", ".join(f"{instant / S:g}" for instant in closes_ns(result))
        triggers = ", ".join(str(instant) for instant in since(result, 25))
        rows.append((f"`{name}`", triggers, closes))
    return rows


def finishing(plan: str) -> str:
    """Return the table of a plan on how long finishing takes: a row per value, a column per way."""
    key, says, more = PANELS[plan]
    cells: dict[str, dict[str, str]] = {}
    for values, result in swept(plan):
        value = values[key]
        shown = str(value + more) if isinstance(value, int) else str(value)
        way = values["mode"].replace("_", " ")
        way = f"naive, {way}" if values["protocol"] == "naive" else way
        run = result.run
        found = f"{(run.finishing_ns or 0) / S:g} ({run.finishing_checkpoints})"
        cells.setdefault(shown, {})[way] = found
    ways = list(next(iter(cells.values())))
    return table((says, *ways), [(shown, *row.values()) for shown, row in cells.items()])


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def intervals(plan: str) -> pd.DataFrame:
    """Return the means of a plan of one replication, as a report computes them."""
    rows = []
    called = load_plan(plan).words
    for run in runs(load_plan(plan)):
        swept = json.loads(run.point.parameters)
        spoken = {called[path]: value_in_words(path, value) for path, value in swept.items()}
        found = run_world(run.point.scenario, seed=run.seed).run
        rows += [
            {
                "scenario": found.scenario,
                "parameters": json.dumps(spoken),
                "metric": metric,
                "n": 1,
                "mean": float(getattr(found, metric)),
                "low": math.nan,
                "high": math.nan,
            }
            for metric in FINISHING
        ]
    return pd.DataFrame(rows)


def pictures() -> dict[str, str]:
    """Return the pictures of the page as SVG texts, by name."""
    depth, words = "operators in the chain", ["ending protocol", "checkpoint mode"]
    found = {"finishing_depth": svg(time_to_finish(intervals("finishing_depth"), depth, words))}
    for name in ("final_backlog_unaligned", "transactions_after_finish"):
        found[name] = svg(lives(run_world(by_name(name), seed=0, keep_trace=True).trace))
    return found


def wrapped(part: str) -> str:
    """Return a paragraph in short lines, and anything else as it is."""
    if part.startswith(("#", "|", "```", "!", "*")):
        return part
    return fill(part, 118, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
    FIGURES.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FIGURES / f"{name}.svg").write_text(text, encoding="utf-8")
