"""The table of docs/flip76.md: what each way of FLIP-76 breaks, and what it costs.

`python -m tests.job.records.rescaling.flip76_table` writes it again.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median

from ckptsim.scenarios.catalogue import by_name
from ckptsim.scenarios.planning import load_plan
from ckptsim.sim.world import run_world

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


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + rest[rest.index(END) :], encoding="utf-8")
