"""How good predictions of state, storage and recovery are, value by value and family by family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ckptsim.sim.validate.score import Bound, Pair, Share
from ckptsim.sim.validate.state.measured import RECOVERY, STEADY, StateRun
from ckptsim.sim.validate.state.predict import StatePrediction

BOUNDS: Mapping[str, Bound] = {
    "end_to_end_ms": Bound(relative=0.20, absolute=40.0),
    "sync_ms": Bound(relative=0.30, absolute=30.0),
    "async_ms": Bound(relative=0.20, absolute=40.0),
    "state_bytes": Bound(relative=0.05, absolute=0.0),
    "checkpointed_bytes_min": Bound(relative=0.10, absolute=0.0),
    "checkpointed_bytes_mean": Bound(relative=0.25, absolute=0.0),
    "files_created": Bound(relative=0.25, absolute=0.5),
    "trigger_gap_ms": Bound(relative=0.05, absolute=50.0),
    "running_again_after_ms": Bound(relative=0.10, absolute=150.0),
    "restore_ms": Bound(relative=0.10, absolute=100.0),
    "restore_read_bytes": Bound(relative=0.03, absolute=0.0),
    "records_again": Bound(relative=0.10, absolute=50.0),
    "record_age_back_after_ms": Bound(relative=0.15, absolute=500.0),
    "tasks_restarted": Bound(relative=0.0, absolute=0.0),
}
"""How far a prediction may be off: a share of what was measured, or an amount."""

_WIDTH = 30


def blocks_of(run: StateRun) -> dict[str, dict[str, Any]]:
    """Return the measurement of a run, with the keys that are predicted."""
    steady = {key: run.steady.get(key) for key in STEADY}
    recovery = {key: run.recovery.get(key) for key in RECOVERY}
    return {"steady": steady, "recovery": recovery if run.recovery else {}}


def predicted_of(one: StatePrediction) -> dict[str, dict[str, Any]]:
    """Return the prediction of a run, in the blocks of the measurement."""
    found = one.found
    if found is None:
        return {"steady": {}, "recovery": {}}
    return {"steady": dict(found.steady), "recovery": dict(found.recovery)}


def verdicts(one: StatePrediction) -> Iterator[tuple[str, Any, Any, bool]]:
    """Yield key, predicted, measured, and whether it is right, of all that was measured."""
    ours = predicted_of(one)
    for block, values in blocks_of(one.run).items():
        for key, measured in values.items():
            if measured is None:
                continue
            predicted = ours[block].get(key)
            if isinstance(measured, list):
                yield key, predicted, measured, sorted(predicted or ()) == sorted(measured)
            else:
                right = predicted is not None and BOUNDS[key].holds(Pair(predicted, measured))
                yield key, predicted, measured, right


def _shares(
    predictions: Sequence[StatePrediction], *, by_key: bool
) -> dict[tuple[str, ...], Share]:
    found: dict[tuple[str, ...], list[bool]] = {}
    for one in predictions:
        for key, _, _, right in verdicts(one):
            place = (one.run.family, key) if by_key else (one.run.family,)
            found.setdefault(place, []).append(right)
    return {key: Share(right=sum(all_), count=len(all_)) for key, all_ in sorted(found.items())}


def state_document(predictions: Sequence[StatePrediction]) -> dict[str, Any]:
    """Return the shares that are right, of all and by family."""
    families = {name[0]: one for name, one in _shares(predictions, by_key=False).items()}
    right, count = (sum(getattr(s, k) for s in families.values()) for k in ("right", "count"))
    return {
        "values": count,
        "right": right,
        "share": round(right / count, 4) if count else None,
        "families": {name: round(one.share, 4) for name, one in families.items()},
    }


def state_lines(predictions: Sequence[StatePrediction], *, runs: bool) -> list[str]:
    """Return a table of figures by family, and the values that are wrong. runs: all values."""
    lines = [f"{'family, figure':{_WIDTH}}{'right':>12}"]
    for (family, key), share in _shares(predictions, by_key=True).items():
        lines.append(f"{family + ' ' + key:{_WIDTH}}{f'{share.right} of {share.count}':>12}")
    for (family,), share in _shares(predictions, by_key=False).items():
        lines.append(f"family {family}: {share}")
    found = state_document(predictions)
    if found["share"] is not None:
        said = f"{found['right']} of {found['values']}"
        lines.append(f"right of all values: {said} ({100 * found['share']:.1f} %)")
    for one in predictions:
        for key, predicted, measured, right in verdicts(one):
            if runs or not right:
                mark = "" if right else "  off"
                said = f"{_text(predicted)} / {_text(measured)}{mark}"
                lines.append(f"{one.run.run_id + ' ' + key:{_WIDTH + 12}}{said}")
    lines += [f"not simulated: {p.run.run_id}: {p.reason}" for p in predictions if p.reason]
    return lines


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return str(len(value)) if isinstance(value, list) else f"{value:.0f}"
