"""Jobs that end: what state every task was in when, with its checkpoints and transactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ckptsim.analysis.figures import style
from ckptsim.analysis.words import Unit, time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Entry = tuple[Any, ...]

ROW_HEIGHT = 0.34  # inches
LINE = 1.2  # points. Of a transaction
DIGIT = 0.012  # width of a digit of a number, as part of the time axis
_WAITING = "WAITING_FOR_FINAL_CP"
_STATES = {"RUNNING": style.SKY, _WAITING: style.ORANGE}
# The marks on a task's bar: the entry's name, its words, marker and colour.
_MARKS = (
    ("performed", "snapshot", "|", style.BLUE),
    ("acknowledged", "acknowledgement", ".", style.BLUE),
    ("end_of_data_acknowledged", "EndOfData acknowledged", "d", style.VERMILION),
    ("committed", "transaction committed", "^", style.GREEN),
    ("dropped", "transaction aborted", "x", style.VERMILION),
)
_LANES = 3  # lines of transactions that are pre-committed at once
_LEGIBLE = 5  # a whole picture spans at least so many of the unit of its axis


@dataclass(slots=True)
class _Life:
    """One task: (begin, end, state) in turn, its marks by name, and its transactions.

    transactions: checkpoint that pre-committed it -> (since when, until when it was so, its end).
    """

    spans: list[tuple[int, int, str]] = field(default_factory=list)
    marks: dict[str, list[int]] = field(default_factory=dict)
    transactions: dict[int, tuple[int, int | None, str]] = field(default_factory=dict)
    since_ns: int = 0
    state: str = "RUNNING"

    def enter(self, now_ns: int, state: str) -> None:
        if self.state in _STATES and now_ns > self.since_ns:
            self.spans.append((self.since_ns, now_ns, self.state))
        self.since_ns, self.state = now_ns, state

    def mark(self, now_ns: int, kind: str, which: object) -> None:
        """Note a mark. The end of a pre-committed transaction belongs to its line."""
        if kind == "precommitted":
            self.transactions[int(str(which))] = (now_ns, None, kind)
        elif kind in ("committed", "dropped") and which != "open":
            since_ns, *_ = self.transactions.get(int(str(which)), (now_ns,))
            self.transactions[int(str(which))] = (since_ns, now_ns, kind)
        else:
            self.marks.setdefault(kind, []).append(now_ns)


@style.styled
def lives(trace: Sequence[Entry]) -> Figure:
    """Draw a bar per task, coloured by its state, with snapshots, acknowledgements, transactions.

    A transaction is a line from its pre-commit to its commit or abort.  Below is every checkpoint
    from its trigger to its end. What failed is hatched.
    """
    end = _end(trace)
    tasks = _lives(trace, end)
    checkpoints = _checkpoints(trace, end)
    figure = style.new_figure(1.5 + ROW_HEIGHT * (len(tasks) + 1 + 0.5 * _depth(checkpoints)))
    ax = figure.add_subplot()
    unit = time_unit([end / _LEGIBLE])
    for row, life in enumerate(tasks.values()):
        _draw_life(ax, life, row, unit)
        _draw_transactions(ax, life, row, end, unit)
    _draw_checkpoints(ax, checkpoints, len(tasks), unit, end / unit.size)
    rows = len(tasks) + max(1, _depth(checkpoints)) * 0.5
    middle = len(tasks) + (rows - len(tasks)) / 2 - 0.25
    ax.set_yticks([*range(len(tasks)), middle], [*tasks, "checkpoints"])
    ax.set_ylim(rows + 0.2, -0.6)
    ax.set_xlim(0, 1.01 * end / unit.size)
    ax.set_xlabel(f"simulated time [{unit.name}]")
    ax.grid(visible=False, axis="y")
    figure.legend(handles=_legend(trace), loc="outside lower left", ncols=4)
    return figure


def _end(trace: Sequence[Entry]) -> int:
    """Return where to end: a job that is stalled is not drawn for as long as it was watched."""
    last = max([int(entry[0]) for entry in trace], default=1)
    acts = max([int(e[0]) for e in trace if e[1] not in ("violated", "output")], default=1)
    return max(1, min(last, acts + acts // 4))


def _lives(trace: Sequence[Entry], end: int) -> dict[str, _Life]:
    """Return the tasks in the order in which they first do something."""
    found: dict[str, _Life] = {}
    marked = {"precommitted", *(name for name, *_ in _MARKS)}
    for now_ns, kind, who, *rest in trace:
        if kind == "restored":
            for life in found.values():
                life.enter(int(now_ns), "RUNNING")
        elif kind == "failed":
            for life in found.values():
                life.enter(int(now_ns), "FAILED")
        elif kind == "task_state":
            found.setdefault(_name(who), _Life()).enter(int(now_ns), str(rest[0]))
        elif kind in marked:
            life = found.setdefault(_name(who), _Life())
            life.mark(int(now_ns), str(kind), rest[0] if rest else None)
    for life in found.values():
        life.enter(end, "")
    return found


def _name(who: object) -> str:
    return str(who).removeprefix("task ")


def _checkpoints(trace: Sequence[Entry], end: int) -> list[tuple[int, int, int, bool]]:
    """Return (number, begin, end, completed) of every checkpoint, in the order of triggers."""
    begun: dict[int, int] = {}
    ended: dict[int, tuple[int, bool]] = {}
    for now_ns, kind, _, *rest in trace:
        if kind == "triggered":
            begun[int(rest[0])] = int(now_ns)
        elif kind in ("completed", "aborted") and rest and rest[0] in begun:
            ended.setdefault(int(rest[0]), (int(now_ns), kind == "completed"))
    return [(n, since, *ended.get(n, (end, False))) for n, since in begun.items()]


def _depth(checkpoints: Sequence[tuple[int, int, int, bool]]) -> int:
    return max((lane for lane, *_ in _laned(checkpoints)), default=0) + 1


def _laned(
    checkpoints: Sequence[tuple[int, int, int, bool]],
) -> list[tuple[int, int, int, int, bool]]:
    """Put checkpoints that overlap into lanes of their own. Lane first."""
    free: list[int] = []
    found = []
    for number, begin, end, completed in checkpoints:
        lane = next((i for i, until in enumerate(free) if until <= begin), len(free))
        free[lane : lane + 1] = [end]
        found.append((lane, number, begin, end, completed))
    return found


def _draw_life(ax: Axes, life: _Life, row: int, unit: Unit) -> None:
    for begin, end, state in life.spans:
        width = (end - begin) / unit.size
        ax.barh(row, width, left=begin / unit.size, height=0.62, color=_STATES[state])
    for name, _, marker, colour in _MARKS:
        times = [time / unit.size for time in life.marks.get(name, ())]
        if not times:  # an empty line would still be given room
            continue
        place = row + {"acknowledged": -0.16, "performed": 0.0}.get(name, 0.16)
        ax.plot(times, [place] * len(times), marker, color=colour, markersize=5, clip_on=False)


def _draw_transactions(ax: Axes, life: _Life, row: int, end: int, unit: Unit) -> None:
    ends = {name: (marker, colour) for name, _, marker, colour in _MARKS}
    for lane, (since_ns, until_ns, kind) in enumerate(life.transactions.values()):
        times = [since_ns / unit.size, (end if until_ns is None else until_ns) / unit.size]
        place = row + 0.12 + 0.07 * (lane % _LANES)
        ax.plot(times, [place, place], color=style.GREEN, linewidth=LINE)
        if kind in ends:
            marker, colour = ends[kind]
            ax.plot(times[1:], [place], marker, color=colour, markersize=5, clip_on=False)


def _draw_checkpoints(
    ax: Axes, checkpoints: Sequence[tuple[int, int, int, bool]], row: int, unit: Unit, whole: float
) -> None:
    """Draw a bar per checkpoint with its number. `whole` is the length of the time axis."""
    free: dict[int, float] = {}  # lane -> where its last number ends
    for lane, number, begin, end, completed in _laned(checkpoints):
        left, width = begin / unit.size, (end - begin) / unit.size
        place = row + 0.5 * lane
        ax.barh(
            place,
            width,
            left=left,
            height=0.36,
            color=style.PURPLE if completed else "white",
            edgecolor=style.PURPLE if completed else style.GREY,
            hatch=None if completed else "////",
        )
        if left < free.get(lane, 0.0):
            continue  # numbers of checkpoints that follow at once would stand on each other
        free[lane] = left + DIGIT * len(str(number)) * whole
        ax.annotate(
            str(number), (left, place), (2, 0), textcoords="offset points", va="center", fontsize=7
        )


def _legend(trace: Sequence[Entry]) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    kinds = {entry[1] for entry in trace}
    found: list[Any] = [
        Patch(color=style.SKY, label="running"),
        Patch(color=style.ORANGE, label="waiting for its end"),
        Patch(color=style.PURPLE, label="checkpoint"),
    ]
    if "aborted" in kinds:
        found.append(Patch(facecolor="white", edgecolor=style.GREY, hatch="////", label="aborted"))
    if "precommitted" in kinds:
        found.append(
            Line2D([], [], color=style.GREEN, linewidth=LINE, label="transaction pre-committed")
        )
    return found + [
        Line2D([], [], linestyle="", marker=marker, color=colour, label=words)
        for name, words, marker, colour in _MARKS
        if name in kinds
    ]
