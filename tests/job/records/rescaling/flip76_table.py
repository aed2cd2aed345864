"""The tables of docs/flip76.md: what each way of FLIP-76 breaks, and what it costs.

`python -m tests.job.records.rescaling.flip76_table` writes them and the figure again.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median

from ckptsim.analysis.figures.style import svg
from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import load_plan
from ckptsim.sim.world import run_world
from tests.job.records.rescaling import flip76_timed as timed

PAGE = Path(__file__).parents[4] / "docs" / "flip76.md"
BEGIN, END = "<!-- alternatives -->\n", "<!-- end of alternatives -->"
_MS = 1_000_000


def names() -> list[str]:
    """Return the scenarios that the plan puts side by side."""
    return [str(name) for name in load_plan("flip76").grid["scenario"]]


def row(name: str) -> str:
    """Return the line of a scenario, of one run."""
    result = run_world(by_name(name), seed=0)
    broken = sorted({one.property for one in result.violations})
    figures = {one.figure: one.value for one in result.figures}
    done = [one.duration_ns or 0 for one in result.checkpoints if one.status == "completed"]
    cells = (
        f"`{name}`",
        ", ".join(f"`{one}`" for one in broken) or "nothing",
        f"{figures.get('write_amplification', 0):.2f}",
        f"{median(done) / _MS:.2f} ms" if done else "none",
        f"{figures['pieces_read']:.1f}" if "pieces_read" in figures else "-",
        f"{figures.get('handles', 0):.1f}",
    )
    return f"| {' | '.join(cells)} |"


def table() -> str:
    """Return the table."""
    head = (
        "| scenario | breaks | written per buffer sent | median checkpoint | reads per restore "
        "| handles per checkpoint |"
    )
    lines = [head, "|---|---|---:|---:|---:|---:|", *(row(name) for name in names())]
    return "\n".join(lines) + "\n"


WIDTHS = ("4", "16")  # of the table of recoveries


def timed_tables(back: timed.Cells, fan: timed.Cells, spilled: timed.Cells) -> dict[str, str]:
    """Return the tables that have times, by the word in their marks."""
    return {
        "recoveries": timed.read_back(back, WIDTHS),
        "fan-out": timed.fan_out(fan),
        "spilling": timed.spilling(spilled),
    }


def with_table(text: str, name: str, lines: str) -> str:
    """Return the page with a table between its marks."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    return text[: text.index(begin) + len(begin)] + lines + text[text.index(end) :]


if __name__ == "__main__":
    page = with_table(PAGE.read_text(encoding="utf-8"), "alternatives", table())
    plans = [timed.results(f"flip76_{name}") for name in ("read_back", "fan_out", "spilling")]
    for name, lines in timed_tables(*plans).items():
        page = with_table(page, name, lines)
    PAGE.write_text(page, encoding="utf-8")
    drawn = svg(timed.picture(*plans))
    (PAGE.parent / "figures" / "flip76.svg").write_text(drawn, encoding="utf-8")
