"""How good predicted recoveries are, figure by figure.

Right is a downtime within max(15 %, 200 ms), records done again within max(10 %, 300), a time until
caught up within max(10 %, 350 ms).  The mean error of the latter is over max(measured, 2 s), the
one of the peak latency over the measured values.  The downtime of a resubmission is given, so it is
no prediction and counts nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ckptsim.sim.validate.recoveries.measured import Figures, RecoveryRun
from ckptsim.sim.validate.recoveries.predict import RecoveryPrediction
from ckptsim.sim.validate.score import Bound, Pair, Share, mean

LEAST_CATCH_UP_MS = 2_000.0


DOWNTIME = Bound(relative=0.15, absolute=200.0)
REPROCESSED = Bound(relative=0.10, absolute=300.0)
CATCH_UP = Bound(relative=0.10, absolute=350.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryLine:
    """One recovery, predicted beside measured. None where either side has nothing.

    came: whether the job was caught up, predicted and measured. None for a job without a rate.
    """

    name: str
    downtime: Pair | None
    reprocessed: Pair | None
    peak_latency: Pair | None
    catch_up: Pair | None
    came: tuple[bool, bool] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryScore:
    """All comparisons. skipped: runs that could not be simulated."""

    lines: tuple[RecoveryLine, ...]
    skipped: tuple[RecoveryPrediction, ...]

    @property
    def downtime(self) -> Share:
        """Downtimes that are right."""
        return _share(DOWNTIME, (line.downtime for line in self.lines))

    @property
    def reprocessed(self) -> Share:
        """Numbers of records done again that are right."""
        return _share(REPROCESSED, (line.reprocessed for line in self.lines))

    @property
    def catch_up(self) -> Share:
        """Times until caught up that are right. One that came on one side only is wrong."""
        found = _share(CATCH_UP, (line.catch_up for line in self.lines))
        missed = sum(1 for line in self.lines if line.came in ((True, False), (False, True)))
        return Share(right=found.right, count=found.count + missed)

    @property
    def catch_up_error(self) -> float:
        """Mean error of the times until caught up, over max(measured, 2 s)."""
        return mean(
            abs(pair.predicted - pair.measured) / max(pair.measured, LEAST_CATCH_UP_MS)
            for pair in (line.catch_up for line in self.lines)
            if pair is not None
        )

    @property
    def peak_error(self) -> float:
        """Mean relative error of the peak latencies."""
        pairs = (line.peak_latency for line in self.lines)
        return mean(abs(pair.error) for pair in pairs if pair is not None)


def score_recoveries(predictions: Sequence[RecoveryPrediction]) -> RecoveryScore:
    """Compare every prediction with its measurement, in order."""
    return RecoveryScore(
        lines=tuple(
            line for one in predictions if one.found for line in _lines(one.run, one.found)
        ),
        skipped=tuple(one for one in predictions if one.reason is not None),
    )


def _lines(run: RecoveryRun, figures: Sequence[Figures]) -> Iterable[RecoveryLine]:
    for index, (ours, one) in enumerate(zip(figures, run.recoveries, strict=True)):
        theirs, paced = one.figures, one.figures.peak_latency_ms is not None
        came = (ours.catch_up_duration_ms is not None, theirs.catch_up_duration_ms is not None)
        told = one.given.downtime_ms is not None
        yield RecoveryLine(
            name=f"{run.run_id} failure {index + 1}",
            downtime=None if told else _pair(ours, theirs, "downtime_ms"),
            reprocessed=_pair(ours, theirs, "reprocessed_records"),
            peak_latency=_pair(ours, theirs, "peak_latency_ms"),
            catch_up=_pair(ours, theirs, "catch_up_duration_ms"),
            came=came if paced else None,
        )


def _pair(ours: Figures, theirs: Figures, name: str) -> Pair | None:
    predicted, measured = getattr(ours, name), getattr(theirs, name)
    if predicted is None or measured is None:
        return None
    return Pair(float(predicted), float(measured))


def _share(bound: Bound, pairs: Iterable[Pair | None]) -> Share:
    kept = [pair for pair in pairs if pair is not None]
    return Share(right=sum(bound.holds(pair) for pair in kept), count=len(kept))


_NOTHING = "-"


def recovery_lines(found: RecoveryScore) -> list[str]:
    """Return a table of all recoveries, predicted / measured, and the shares below it."""
    head = (
        f"{'recovery':32}{'downtime ms':>16}{'done again':>16}{'peak ms':>16}{'caught up ms':>18}"
    )
    lines = [head, *(_row(line) for line in found.lines), ""]
    lines += [
        f"downtime within max(15 %, 200 ms): {found.downtime}",
        f"records done again within max(10 %, 300): {found.reprocessed}",
        f"caught up within max(10 %, 350 ms): {found.catch_up}",
        f"caught up: mean error {100 * found.catch_up_error:.2f} % of max(measured, 2 s)",
        f"peak latency: mean error {100 * found.peak_error:.2f} %",
    ]
    lines += [f"not simulated: {one.run.run_id}: {one.reason}" for one in found.skipped]
    return lines


def _row(line: RecoveryLine) -> str:
    came = line.came
    caught = _shown(line.catch_up)
    if line.catch_up is None and came is not None and came[0] != came[1]:
        caught = "came / never" if came[0] else "never / came"
    return (
        f"{line.name:32}{_shown(line.downtime):>16}{_shown(line.reprocessed):>16}"
        f"{_shown(line.peak_latency):>16}{caught:>18}"
    )


def _shown(pair: Pair | None) -> str:
    return _NOTHING if pair is None else f"{pair.predicted:.0f} / {pair.measured:.0f}"
