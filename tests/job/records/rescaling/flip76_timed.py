"""The tables and the figure of docs/flip76.md that have times, from its three sweep plans.

`python -m tests.job.records.rescaling.flip76_table` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from matplotlib.figure import Figure

from ckptsim.analysis.figures.style import DASHES, LINES, MARKERS, new_figure, styled
from ckptsim.scenarios.planning import load_plan, runs
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world
from tests.job.records.ends.swept import Values, values_of

_MS = 1_000_000
_PREFIX = "flip76_timed_"
Cells = dict[tuple[Any, ...], RunResult]
"""Results by way and the other swept values."""


def results(plan: str, keep: Callable[[Values], bool] = lambda _values: True) -> Cells:
    """Return the results of the points of a plan, by way and the other swept values."""
    found = {}
    for run in runs(load_plan(plan)):
        values = values_of(run)
        if keep(values):
            way = str(values.pop("scenario", run.point.scenario.name)).removeprefix(_PREFIX)
            result = run_world(run.point.scenario, seed=run.seed)
            if result.violations:
                raise AssertionError(f"{plan}, {run.point.parameters}: {result.violations[0]}")
            found[way, *(str(value) for _, value in sorted(values.items()))] = result
    return found


def back_ms(result: RunResult) -> float:
    """Return how long data in flight took to come back."""
    return figure(result, "in_flight_back_ns") / _MS


def figure(result: RunResult, name: str) -> float:
    """Return a figure of a run."""
    return next(one.value for one in result.figures if one.figure == name)


def lasts_ms(result: RunResult) -> float:
    """Return the median duration of the checkpoints of a run."""
    done = [one.duration_ns or 0 for one in result.checkpoints if one.status == "completed"]
    return median(done) / _MS


def read_back_cell(result: RunResult) -> tuple[str, str, str]:
    """Return the files, the requests and the time of one recovery."""
    counts = (figure(result, name) for name in ("files_opened", "pieces_read"))
    files, pieces = (f"{count:.0f}" for count in counts)
    return files, pieces, f"{back_ms(result) / 1000:.2f} s"


def read_back(cells: Cells, widths: tuple[str, ...]) -> str:
    """Return the table of recoveries, by way and width."""
    sizes = [
        f"{(result.recoveries[0].bytes_read or 0) / 1e6:.1f} MB, width {width}"
        for width in widths
        for result in [cells["ad_hoc", width]]
    ]
    head = "| `flip76_timed_...` | " + " | ".join(
        f"files: {size} | requests | recovery" for size in sizes
    )
    lines = [head + " |", "|---|" + "---:|---:|---:|" * len(widths)]
    for way in dict.fromkeys(way for way, _ in cells):
        shown = [" | ".join(read_back_cell(cells[way, width])) for width in widths]
        lines.append(f"| `{way}` | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def fan_out(cells: Cells) -> str:
    """Return the table of recoveries of one sender, by number of receivers."""
    counts = list(dict.fromkeys(count for _, count in cells))
    lines = [f"| receivers of one sender | {' | '.join(counts)} |", "|---|" + "---:|" * len(counts)]
    for way, says in (("ad_hoc", "each end reads its own"), ("one_side", "receivers read all")):
        lines.append(f"| {says} | {' | '.join(_ms(back_ms(cells[way, n])) for n in counts)} |")
    return "\n".join(lines) + "\n"


def spilling(cells: Cells) -> str:
    """Return the table of checkpoints with a log service, by time per record and write speed."""
    writes = list(dict.fromkeys(write for _, _, write in cells))
    lines = [f"| time per record | {' | '.join(writes)} |", "|---|" + "---:|" * len(writes)]
    for service in dict.fromkeys(service for _, service, _ in cells):
        pairs = [
            (cells["log_service", service, write], cells["continuous_service", service, write])
            for write in writes
        ]
        shown = [" / ".join(_ms(lasts_ms(one)) for one in pair) for pair in pairs]
        lines.append(f"| {service} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _ms(value: float) -> str:
    return f"{value:.0f} ms"


@styled
def picture(back: Cells, fan: Cells, spilled: Cells) -> Figure:
    """Draw recoveries by width and by receivers of one sender, and checkpoints by writes."""
    found = new_figure(3.6)
    panels = found.subplots(1, 3)
    by_width = {key: back_ms(one) for key, one in back.items() if key[0] != "log_service"}
    _lines(panels[0], by_width, "senders and receivers")
    _lines(panels[1], {key: back_ms(one) for key, one in fan.items()}, "receivers of one sender")
    lasts = {
        (f"{way}, {service}", write.removesuffix(" MB/s")): lasts_ms(one)
        for (way, service, write), one in spilled.items()
        if service in ("500 us", "2 ms", "8 ms") and way in ("log_service", "continuous_service")
    }
    _lines(panels[2], lasts, "MB/s of a writing stream")
    for ax, title in zip(panels, ("recovery, ms", "recovery, ms", "checkpoint, ms"), strict=True):
        ax.set_title(title)
    for ax in panels[:2]:
        ax.set_ylim(0, None)
    panels[2].set_yscale("log")
    panels[2].yaxis.set_major_formatter("{x:g}")
    return found


def _lines(ax: Any, values: Mapping[tuple[str, str], float], axis: str) -> None:
    for place, way in enumerate(dict.fromkeys(way for way, _ in values)):
        points = sorted((float(x), y) for (one, x), y in values.items() if one == way)
        ax.plot(
            *zip(*points, strict=True),
            label=way.replace("_", " "),
            color=LINES[place % len(LINES)],
            linestyle=DASHES[place % len(DASHES)],
            marker=MARKERS[place % len(MARKERS)],
            markersize=3,
        )
    ax.set_xscale("log", base=2)
    ticks = sorted({float(x) for _, x in values})
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xlabel(axis)
    ax.legend(fontsize=6)
