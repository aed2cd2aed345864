"""How far a replay of the job as it is can be trusted: measured beside simulated, and one word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from ckptsim.sim.infer.measures import Measures, behind_warm_up
from ckptsim.sim.rows import CheckpointRow, RunResult
from ckptsim.sim.validate.measured import Stats

# Two medians of the same thing are taken as equal within so much: a share, and an absolute part.
# Source: what repeated measurements of one configuration differ by, rounded up.
_GOOD_MS, _GOOD_BYTES = (0.10, 20.0), (0.12, 65_536.0)
# Beyond twice as much and some, what follows from the model does not follow from the job.
_FAIR_MS, _FAIR_BYTES = (0.25, 50.0), (0.30, 4 * 65_536.0)
_GOOD_SHARE, _FAIR_SHARE = 0.10, 0.25
ENOUGH_CHECKPOINTS = 5


class Word(StrEnum):
    """How good a replay is."""

    GOOD = "good"
    FAIR = "fair"
    NOT = "do not trust"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure: measured and simulated, in `unit`. word: how near, None where it is no bar."""

    name: str
    unit: str
    measured: float | None
    simulated: float | None
    word: Word | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The word, why it is no better, and all figures."""

    word: Word
    because: tuple[str, ...]
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        reasons = "; ".join(self.because)
        return f"{self.word.value}, because {reasons}" if reasons else self.word.value


def verdict_of(measured: Measures, simulated: Measures) -> Verdict:
    """Return how a replay compares with the measured values."""
    rows = (*_checkpoint_rows(measured, simulated), *_vertex_rows(measured, simulated))
    because = []
    count = int(measured.duration_ms["n"])
    word = Word.GOOD
    if not count or not simulated.duration_ms["n"]:
        who = "measured" if not count else "simulated"
        return Verdict(word=Word.NOT, because=(f"no completed checkpoint was {who}",), rows=rows)
    if count < ENOUGH_CHECKPOINTS:
        word = Word.FAIR
        because.append(f"only {count} checkpoints were measured after the warm-up")
    for wanted in (Word.NOT, Word.FAIR):
        off = [row for row in rows if row.word is wanted]
        if off and (word is Word.GOOD or wanted is Word.NOT):
            word = wanted
        if off and word is wanted:
            because += [_reason(row) for row in off[:3]]
    return Verdict(word=word, because=tuple(because), rows=rows)


def moving(results: Sequence[RunResult]) -> Iterator[str]:
    """Yield what of checkpoints still moves at the end of runs: in their last third, in words."""
    runs = [[row for _, row in behind_warm_up(result)] for result in results]

    def middle(number: int, of: Callable[[CheckpointRow], float]) -> float | None:
        rows = [row for r in runs for row in r[number * len(r) // 3 : (number + 1) * len(r) // 3]]
        return median(map(of, rows)) if rows else None

    for name, unit, of in (
        ("durations", "ms", lambda row: (row.duration_ns or 0) / 1e6),
        ("bytes in flight", "bytes", lambda row: float(row.persisted_bytes or 0)),
    ):
        before, last = middle(1, of), middle(2, of)
        if before is not None and last is not None and _word(before, last, unit) is not Word.GOOD:
            yield (
                f"{name} of checkpoints still move at the end of the simulated runs, from"
                f" {figure_text(before, unit)} to {figure_text(last, unit)}:"
                " they come from a young job"
            )


def _reason(row: Row) -> str:
    ours, theirs = figure_text(row.simulated, row.unit), figure_text(row.measured, row.unit)
    return f"{row.name} is {ours} simulated and {theirs} measured"


def figure_text(value: float | None, unit: str, *, none: str = "nothing") -> str:
    """Return a figure with its unit. none: what represents no figure."""
    if value is None:
        return none
    return f"{value:.0%}" if unit == "%" else f"{value:,.0f} {unit}"


def _checkpoint_rows(measured: Measures, simulated: Measures) -> Iterator[Row]:
    for name, unit, ours, theirs, is_bar in (
        ("duration", "ms", simulated.duration_ms, measured.duration_ms, True),
        ("persisted", "bytes", simulated.persisted_bytes, measured.persisted_bytes, True),
        ("processed", "bytes", simulated.processed_bytes, measured.processed_bytes, False),
    ):
        yield _row(name, unit, (_median(theirs), _median(ours)), is_bar=is_bar)
    pair = (measured.duration_ms.get("p95"), simulated.duration_ms.get("p95"))
    yield _row("duration p95", "ms", pair, is_bar=False)


def _vertex_rows(measured: Measures, simulated: Measures) -> Iterator[Row]:
    for name, theirs in measured.vertices.items():
        ours = simulated.vertices.get(name)
        if ours is None:
            continue
        for what, unit, pair in (
            ("start delay", "ms", (theirs.start_delay_ms, ours.start_delay_ms)),
            ("alignment", "ms", (theirs.alignment_ms, ours.alignment_ms)),
            ("processed", "bytes", (theirs.processed_bytes, ours.processed_bytes)),
            ("persisted", "bytes", (theirs.persisted_bytes, ours.persisted_bytes)),
            ("busy", "%", (theirs.busy, ours.busy)),
            ("back-pressured", "%", (theirs.back_pressured, ours.back_pressured)),
            ("idle", "%", (theirs.idle, ours.idle)),
        ):
            yield _row(f"{name}: {what}", unit, pair, is_bar=what == "back-pressured")


def _median(found: Stats) -> float | None:
    return found.get("median")


def _row(name: str, unit: str, pair: tuple[float | None, float | None], *, is_bar: bool) -> Row:
    theirs, ours = pair
    word = _word(theirs, ours, unit) if is_bar and theirs is not None and ours is not None else None
    return Row(name=name, unit=unit, measured=theirs, simulated=ours, word=word)


def _word(theirs: float, ours: float, unit: str) -> Word:
    off = abs(ours - theirs)
    if unit == "%":
        good, fair = _GOOD_SHARE, _FAIR_SHARE
    else:
        bars = (_GOOD_MS, _FAIR_MS) if unit == "ms" else (_GOOD_BYTES, _FAIR_BYTES)
        good, fair = (max(share * theirs, least) for share, least in bars)
    if off <= good:
        return Word.GOOD
    return Word.FAIR if off <= fair else Word.NOT
