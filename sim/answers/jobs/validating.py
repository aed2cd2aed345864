"""The answer of `validate`: measured runs, what was predicted of each, and how far both agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path

from ckptsim.scenarios.errors import UserError
from ckptsim.sim import validate
from ckptsim.sim.validate.recoveries import predict_recoveries
from ckptsim.sim.validate.state import predict_states


def validate_files(
    files: Sequence[Path],
    *,
    seeds: int = 7,
    jobs: int = 1,
    sequences: Sequence[str] = (),
    progress: Callable[[int, int], object] | None = None,
) -> validate.Comparison:
    """Predict every measured run of some files, and compare.

    seeds: simulated runs of each; jobs: processes; sequences: runs shown checkpoint by checkpoint;
    progress: is called with runs done and all.
    Raises UserError for a line that is no measured run, and for sequences that the files have not.
    """
    measurements = validate.read_measurements(files)
    runs, failing = measurements.runs, measurements.recoveries
    if failing and sequences:
        raise UserError("--sequence: found a file of recoveries, expected one of checkpoints")
    wanted = _wanted(runs, sequences)
    states = measurements.states
    tick = _Tick(progress, len(runs) + len(wanted) + len(failing) + len(states))
    stated = predict_states(states, seeds=seeds, jobs=jobs, progress=tick)
    recovered = predict_recoveries(failing, seeds=seeds, jobs=jobs, progress=tick)
    predictions = validate.predict_all(runs, seeds=seeds, jobs=jobs, progress=tick)
    shown = []
    for one in wanted:
        shown.append(validate.sequence_of(one, seeds=seeds))
        tick()
    return validate.Comparison(
        predictions=predictions, recovered=recovered, sequences=shown, states=stated
    )


class _Tick:
    """Counts the runs that are done."""

    def __init__(self, progress: Callable[[int, int], object] | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


def _wanted(
    runs: Sequence[validate.MeasuredRun], names: Sequence[str]
) -> list[validate.MeasuredRun]:
    """Return the runs of these names."""
    known = {run.run_id: run for run in runs}
    for name in names:
        if name not in known:
            nearest = get_close_matches(name, known, 1, 0)
            raise UserError(f"--sequence: found {name!r}, expected a run such as {nearest[0]!r}")
        if not known[name].jobs[0].checkpoints:
            raise UserError(f"--sequence: found {name!r}, expected a run with its checkpoints")
    return [known[name] for name in names]
