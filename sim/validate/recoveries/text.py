"""The comparison of recoveries as text."""

from __future__ import annotations

from ckptsim.sim.validate.recoveries.score import RecoveryLine, RecoveryScore, Share
from ckptsim.sim.validate.score import Pair

_NOTHING = "-"


def recovery_lines(found: RecoveryScore) -> list[str]:
    """Return a table of all recoveries, predicted / measured, and the shares below it."""
    head = (
        f"{'recovery':32}{'downtime ms':>16}{'done again':>16}{'peak ms':>16}{'caught up ms':>18}"
    )
    lines = [head, *(_row(line) for line in found.lines), ""]
    lines += [
        f"downtime within max(15 %, 200 ms): {_of(found.downtime)}",
        f"records done again within max(10 %, 300): {_of(found.reprocessed)}",
        f"caught up within max(10 %, 350 ms): {_of(found.catch_up)}",
        f"caught up: mean error {100 * found.catch_up_error:.2f} % of max(measured, 2 s)",
        f"peak latency: mean error {100 * found.peak_error:.2f} %",
    ]
    lines += [f"not simulated: {one.run.run_id}: {one.reason}" for one in found.skipped]
    return lines


def _row(line: RecoveryLine) -> str:
    came = line.came
    caught = _pair(line.catch_up)
    if line.catch_up is None and came is not None and came[0] != came[1]:
        caught = "came / never" if came[0] else "never / came"
    return (
        f"{line.name:32}{_pair(line.downtime):>16}{_pair(line.reprocessed):>16}"
        f"{_pair(line.peak_latency):>16}{caught:>18}"
    )


def _pair(pair: Pair | None) -> str:
    return _NOTHING if pair is None else f"{pair.predicted:.0f} / {pair.measured:.0f}"


def _of(share: Share) -> str:
    return f"{share.right} of {share.count} ({100 * share.share:.0f} %)"
