"""Writes docs/ending.md and its pictures again: `python -m tests.job.records.ends.results_page`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ckptsim.analysis.figures.finishing import FINISHING, time_to_finish
from ckptsim.analysis.figures.run.lives import lives
from ckptsim.analysis.figures.style import svg
from ckptsim.analysis.words import value_in_words
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import load_plan, runs
from ckptsim.sim.world import run_world
from tests.job.records.ends.swept import swept
from tests.job.records.small import closes_ns, since
from tests.lifecycle.pages import wrapped

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
# Plan of the sweep -> (its number in the published list, what comes out).
SWEEPS = {
    "final_by_depth": ("1, 2", "1 checkpoint at any depth D; without EndOfData D + 1"),
    "finishing_depth": (
        "3, 4",
        (
            "aligned: 1 checkpoint as long as the backlog; unaligned: 1 + ceil((T_D - k0) / I) "
            "short ones; every task to the instant of the closed form, with time-outs, too"
        ),
    ),
    "finishing_backlog": ("3, 4", "the same against the backlog"),
    "finishing_interval": ("3, 4", "the same against the interval"),
    "final_by_phase": ("5", "extra wait I/2 + c in the mean; c with a checkpoint at once"),
    "final_beside_endless": ("5", "a checkpoint at once gains nothing beside an endless source"),
    "final_by_branch": ("6", "the short branch closes first; no final watermark before both end"),
    "final_by_subtask": (
        "7",
        (
            "each subtask closes at its own next checkpoint; below finished ones forward "
            "successors are triggered by remote call"
        ),
    ),
    "final_with_union_state": ("8", "nothing completes from the first end to the last"),
    "final_failing": ("9", "1 / (1 - q) checkpoints in the mean"),
    "final_words_lost": ("10", "the largest of n geometric variables in the mean"),
    "stop_words_lost_by_rules": (
        "10",
        "released Flink's stop ends with (1 - p) ** n, that of the design always",
    ),
    "final_race_by_phase": ("11", "two messages over the interval is the share of declined ones"),
    "final_unacknowledged": ("12", "without acknowledgement a checkpoint lasts for the backlog"),
    "stop_by_depth": ("13", "1 savepoint, backlog + c + D h, whatever the kind and the mode"),
    "final_concurrent": (
        "14",
        "the first of m completed closes; m - 1 empty transactions at most",
    ),
}
# What a cluster printed -> scenario of the same calls in the same order, or why there is none.
OBSERVED = {
    "chain of four operators": "`flink_chain`",
    "four tasks, also with a new source": "`flink_long_interval`; both kinds of source end alike",
    "interval of 1000 s": "`flink_long_interval`",
    "no checkpoints; checkpoints that end with tasks": (
        "`checkpoints_off`, `checkpoints_end_with_tasks`"
    ),
    "short source joined with a long one": "`flink_union`",
    "slow, aligned": "`flink_slow_aligned`",
    "slow, unaligned, with a shuffle": (
        "`flink_slow_unaligned`; numbers of checkpoints follow the times of this machine, not of "
        "that cluster"
    ),
    "slow, unaligned, without a shuffle": (
        "`flink_slow_unaligned_pointwise`, with the same numbers: 1 and 4 before the end of the "
        "last task, 2 and 3 declined, 5 the final one"
    ),
    "drain, no drain": "`flink_drain`, `stop_no_drain`",
    "stop while a branch waits, both kinds": "`flink_drain_waiting`, `flink_no_drain_waiting`",
    "stop after a branch has closed, both kinds": ("`flink_drain_closed`, `flink_no_drain_closed`"),
    "two-phase commit": "`flink_two_phase_commit`",
    "restore with a finished branch": "`restore_finished_branch`, `flink_restore_new_behind`",
    "restore with a new predecessor": "`flink_restore_new_before`: refused by the same rule",
    "restore of a partly finished vertex": "`flink_restore_partly`",
    "union state after the first finish": "`flink_restore_union`",
    "two inputs; the same stopped without drain": (
        "`flink_two_inputs`, `flink_two_inputs_no_drain`"
    ),
    "savepoint of a stop that expires": "`savepoint_expires`",
}


def document() -> str:
    """Return the page."""
    parts = [
        "# How jobs end: results",
        (
            "This page has the results of the scenarios and sweep plans on bounded jobs. The rules "
            "are in [the life of a task](lifecycle.md). "
            "`python -m tests.job.records.ends.results_page` writes the tables, and a test "
            "compares them with the program."
        ),
        "## Golden numbers",
        (
            "There are five tasks in a row, and the source ends at 25 s. A checkpoint is triggered "
            "every 10 s and takes 1 s. EndOfPartition takes 0.1 s per hop. In scenarios with a "
            "backlog, 7 records of 1 s wait before each task. `ckptsim run NAME` repeats a row."
        ),
        table(("scenario", "triggered [s]", "tasks close [s]"), golden()),
        "## Time to finish",
        (
            "The tables have the seconds from the end of the source until the last task closes. "
            "The checkpoints that are triggered meanwhile are in brackets. Unless a table varies "
            "it, three records of 1 s wait before each of five tasks. The first trigger comes 5 s "
            "after the end, and one follows every 10 s. Where the interval varies, the first comes "
            "after 1 s. `ckptsim sweep PLAN --out DIR` and `ckptsim report DIR` draw the pictures."
        ),
        *(text for plan in PANELS for text in (f"`{plan}`:", finishing(plan))),
        "![time to finish against depth](figures/finishing_depth.svg)",
        "## Sweeps",
        table(
            ("symbol", "meaning"),
            [
                ("T_D", "end of the data of the last task"),
                ("k0", "first trigger after the end"),
                ("I", "interval"),
                ("c", "duration of a checkpoint"),
                ("h", "hop"),
                ("n", "number of tasks"),
            ],
        ),
        (
            "A test checks the numbers (`tests/job/records/ends/test_sweeps.py`). They are exact "
            "without chance. With chance they are within three standard deviations."
        ),
        table(
            ("published sweep", "plan", "what comes out"),
            [(number, f"`{plan}`", says) for plan, (number, says) in SWEEPS.items()],
        ),
        "## Order of lifecycle calls",
        (
            "These jobs ran on a local cluster of Flink 1.20.3. The scenario makes the same calls "
            "in the same order (`tests/job/records/ends/test_observed.py`)."
        ),
        table(("on the cluster", "scenario"), list(OBSERVED.items())),
        "## Pictures of a run",
        (
            "A report draws the run with the slowest checkpoint. The first picture has five tasks "
            "with unaligned checkpoints and a backlog (`final_backlog_unaligned`). The second has "
            "three checkpoints at once after the end of data (`transactions_after_finish`)."
        ),
        "![lives of five tasks](figures/final_backlog_unaligned.svg)",
        "![three checkpoints at once](figures/transactions_after_finish.svg)",
    ]
    return "\n\n".join(map(wrapped, parts)) + "\n"


PANELS = {
    "finishing_depth": ("repeat", "tasks in all", 2),
    "finishing_backlog": ("preloaded_records", "records before each task", 0),
    "finishing_interval": ("interval", "interval", 0),
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


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
    FIGURES.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FIGURES / f"{name}.svg").write_text(text, encoding="utf-8")
