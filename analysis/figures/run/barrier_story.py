"""One checkpoint of a job as a sequence diagram: barriers on their way, channels that are blocked.

Drawn from the entries of a kept trace: `triggered`, `sent_barrier`, `barrier`, `announced`,
`aligned`, `snapshot`, `acknowledged` and `completed` or `failed`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ckptsim.analysis.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    VERMILION,
    new_figure,
    styled,
)
from ckptsim.analysis.words import Unit, in_unit, size_unit, time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Entry = Sequence[Any]

ROW_INCHES = 0.13  # of one channel
LANE_GAP = 1.6  # rows between two subtasks
CHANNELS_MAX = 8  # of one subtask. Of wider ones the first, the last and some between are drawn
COLOURS = {"ALIGNED": BLUE, "TIMEOUTABLE": ORANGE, "UNALIGNED": VERMILION, "FORCED_ALIGNED": GREY}
# After a label that may lie over a line.
_CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
SAYS = {
    "ALIGNED": "aligned barrier",
    "TIMEOUTABLE": "barrier that may still overtake",
    "UNALIGNED": "unaligned barrier: overtakes data",
    "FORCED_ALIGNED": "aligned, because the edge forbids overtaking",
}


@dataclass(slots=True)
class Lane:
    """What one subtask did for the checkpoint. Times in ns.

    barriers: per channel, when its barrier was taken, and its kind. announced: per channel.
    """

    name: str
    senders: tuple[str, ...]
    sent: list[tuple[int, int]] = field(default_factory=list)
    barriers: dict[int, tuple[int, str]] = field(default_factory=dict)
    announced: dict[int, int] = field(default_factory=dict)
    aligned_ns: int | None = None
    snapshot_ns: int | None = None
    acknowledged: tuple[int, int] | None = None
    top: float = 0.0
    rows: dict[int, float] = field(default_factory=dict)

    @property
    def middle(self) -> float:
        """The height of the subtask's own line."""
        return self.top + (max(1, len(self.rows)) - 1) / 2


@styled
def barrier_story(
    entries: Sequence[Entry], senders: Mapping[str, Sequence[str]], checkpoint: int
) -> Figure:
    """Draw one checkpoint: a lane per subtask with a row per channel, time from left to right.

    entries: of a kept trace. senders: per subtask, in the order of the lanes, the sender of each of
    its channels.  A bar is a channel that is blocked after its barrier.
    """
    lanes = lanes_of(entries, senders, checkpoint)
    height = _place(lanes)
    times = [int(e[0]) for e in entries if _concerns(e, checkpoint)]
    begin, end = min(times, default=0), max(times, default=1)
    unit = time_unit([end - begin])
    figure = new_figure(1.6 + ROW_INCHES * height)
    ax = figure.add_subplot()
    kinds = {}
    for lane in lanes.values():
        for channel, row in lane.rows.items():
            ax.plot([0, (end - begin) / unit.size], [row, row], color="#E4E4E4", lw=0.6, zorder=0)
            if channel in lane.barriers:
                _draw_channel(ax, lane, channel, lanes=lanes, begin=begin, unit=unit)
                kinds[lane.barriers[channel][1]] = True
        _draw_task(ax, lane, begin, unit)
    _draw_job(ax, entries, checkpoint, begin, unit)
    ax.set_yticks([lane.middle for lane in lanes.values()], list(lanes), fontsize=7)
    ax.set_ylim(height, -2.2)
    ax.set_xlim(-0.02 * (end - begin) / unit.size, 1.10 * (end - begin) / unit.size)
    ax.grid(visible=False)
    ax.set_xlabel(f"simulated time [{unit.name}] since the trigger of checkpoint {checkpoint}")
    _legend(figure, ax, list(kinds))
    return figure


def lanes_of(
    entries: Sequence[Entry], senders: Mapping[str, Sequence[str]], checkpoint: int
) -> dict[str, Lane]:
    """Return what every subtask did for a checkpoint, in the order of the senders' keys."""
    lanes = {name: Lane(name, tuple(writers)) for name, writers in senders.items()}
    for entry in entries:
        lane = lanes.get(str(entry[2]))
        if lane is None or not _concerns(entry, checkpoint):
            continue
        time, kind = int(entry[0]), entry[1]
        if kind == "barrier":
            lane.barriers.setdefault(int(entry[4]), (time, str(entry[5])))
        elif kind == "announced":
            lane.announced.setdefault(int(entry[4]), time)
        elif kind == "sent_barrier":
            lane.sent.append((time, int(entry[4])))
        elif kind == "aligned":
            lane.aligned_ns = time
        elif kind == "snapshot":
            lane.snapshot_ns = time
        elif kind == "acknowledged":
            lane.acknowledged = (time, int(entry[4]))
    return lanes


def _concerns(entry: Entry, checkpoint: int) -> bool:
    kinds = ("triggered", "barrier", "announced", "sent_barrier", "aligned", "snapshot")
    ends = ("acknowledged", "completed", "aborted", "declined")
    return entry[1] in (*kinds, *ends) and entry[3] == checkpoint


def _place(lanes: Mapping[str, Lane]) -> float:
    top = 0.0
    for lane in lanes.values():
        count = len(lane.senders)
        step = -(-count // CHANNELS_MAX) if count else 1
        shown = sorted({*range(0, count, step), *([count - 1] if count else [])})
        lane.top = top
        lane.rows = {channel: top + place for place, channel in enumerate(shown)}
        top += max(1, len(shown)) + LANE_GAP
    return top


def _draw_channel(
    ax: Axes, lane: Lane, channel: int, *, lanes: Mapping[str, Lane], begin: int, unit: Unit
) -> None:
    time, kind = lane.barriers[channel]
    row, color, x = lane.rows[channel], COLOURS.get(kind, BLACK), (time - begin) / unit.size
    until = lane.aligned_ns
    if kind != "UNALIGNED" and until is not None and until > time:
        width = (until - time) / unit.size
        ax.barh(row, width, 0.62, x, color=ORANGE, alpha=0.35, hatch="//", edgecolor="white", lw=0)
    sender = lanes.get(lane.senders[channel])
    if sender is not None and sender.sent:
        left = [sent for sent, _ in sender.sent if sent <= time] or [sender.sent[0][0]]
        start = ((left[-1] - begin) / unit.size, sender.middle)
        ax.annotate(
            "", (x, row), start, zorder=1,
            arrowprops={"arrowstyle": "-|>", "color": color, "lw": 0.7, "alpha": 0.75,
                        "shrinkA": 0, "shrinkB": 0, "mutation_scale": 6},
        )  # fmt: skip
    if channel in lane.announced:
        heard = (lane.announced[channel] - begin) / unit.size
        ax.plot([heard], [row], "|", color=color, ms=5)


def _draw_task(ax: Axes, lane: Lane, begin: int, unit: Unit) -> None:
    if lane.snapshot_ns is not None:
        x = (lane.snapshot_ns - begin) / unit.size
        ax.plot([x], [lane.middle], "D", color=BLACK, ms=3.5, zorder=3)
        overtaken = max((count for _, count in lane.sent), default=0)
        if overtaken:
            ax.annotate(
                f"overtakes {overtaken}", (x, lane.top), (-2, 3), textcoords="offset points",
                ha="right", va="bottom", fontsize=6,
            )  # fmt: skip
    if lane.acknowledged is not None:
        time, persisted = lane.acknowledged
        x = (time - begin) / unit.size
        ax.plot([x], [lane.middle], "o", color=GREEN, ms=4, zorder=3)
        if persisted:
            ax.annotate(
                in_unit(persisted, size_unit([persisted])), (x, lane.middle), (4, 0),
                textcoords="offset points", va="center", fontsize=6, color=GREEN, bbox=_CLEAR,
            )  # fmt: skip


def _draw_job(ax: Axes, entries: Sequence[Entry], checkpoint: int, begin: int, unit: Unit) -> None:
    for entry in entries:
        if entry[1] in ("triggered", "completed", "aborted") and _concerns(entry, checkpoint):
            x = (int(entry[0]) - begin) / unit.size
            ax.axvline(x, color=GREY, lw=0.8, ls="--", zorder=0)
            side, shift = ("left", 3) if x == 0 else ("right", -3)
            ax.annotate(
                str(entry[1]), (x, -1.4), (shift, 0), textcoords="offset points", ha=side,
                fontsize=7,
            )  # fmt: skip


def _legend(figure: Figure, ax: Axes, kinds: Sequence[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Line2D([], [], color=COLOURS.get(kind, BLACK), lw=1, marker=">", ms=4,
               label=SAYS.get(kind, kind.lower()))
        for kind in sorted(kinds)
    ]  # fmt: skip
    handles += [
        Patch(facecolor=ORANGE, alpha=0.35, hatch="//", edgecolor="white", label="blocked channel"),
        Line2D([], [], color=BLACK, marker="D", ls="none", ms=3.5, label="snapshot"),
        Line2D([], [], color=GREEN, marker="o", ls="none", ms=4,
               label="acknowledged, with data in flight"),
    ]  # fmt: skip
    if any(line.get_marker() == "|" for line in ax.get_lines()):
        handles.append(Line2D([], [], color=GREY, marker="|", ls="none", label="announced"))
    figure.legend(handles=handles, loc="outside lower left", ncols=3)
