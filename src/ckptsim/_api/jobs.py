"""Jobs of a real engine from Python: record, import, compare, advise, validate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ckptsim import scenarios
from ckptsim._api.jobs_results import Advice, Captured, ImportedJob, Validation, WhatIf
from ckptsim._api.result import nanoseconds
from ckptsim._api.runs import Named
from ckptsim._api.scenario import Value, scenario_of, text_of
from ckptsim.scenarios.catalogue import all_names
from ckptsim.scenarios.dialect import one_of
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.job import Mode, Profile
from ckptsim.sim.answers.jobs import advise as advising
from ckptsim.sim.answers.jobs import capturing, importing, validating, what_if
from ckptsim.sim.infer import folder
from ckptsim.sim.infer.advice.day import read_load
from ckptsim.sim.infer.change import changed, read_change
from ckptsim.sim.infer.tasks.machine import MachineChoice
from ckptsim.sim.rows import RunResult
from ckptsim.sim.world import run_world

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECOND_NS = 1_000_000_000
Duration = Value
"""A text such as "30 min", a timedelta, or a number of seconds."""


def capture(
    url: str,
    *,
    out: str | Path | None = None,
    seconds: float = 30.0,
    job: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: Duration = 10.0,
    ca: str | Path | None = None,
    insecure: bool = False,
    redact: bool = True,
    progress: Callable[[float], object] = float,
) -> Captured:
    """Record a running job from the REST server of its engine, with GET and nothing else.

    out: a new or empty folder; without it `recorded` in the working directory, or the first of
    `recorded-2`, `recorded-3`, ... that is free.  seconds: how long samples are taken.
    job: its id, where several run.  headers: of every request, such as a token; never written.
    ca: certificates to trust, as PEM; insecure: take any certificate.  redact: replace hosts,
    paths, users and secrets.  progress: called with the share of the time that is over.

    Raises UserError for a folder that is in use, and for a server that does not answer as one of
    Flink's does.
    """
    access = capturing.Access(
        headers=[f"{name}: {value}" for name, value in (headers or {}).items()],
        timeout_s=nanoseconds(timeout, "timeout") / _SECOND_NS,
        ca=None if ca is None else Path(ca),
        insecure=insecure,
    )
    place = _free() if out is None else Path(out)
    done = capturing.capture(
        url, place, access, seconds=seconds, job=job, redact=redact, progress=progress
    )
    return Captured(captured=done)


def _free() -> Path:
    """Return the first default folder of a recording that is not there or empty."""
    names = chain(["recorded"], (f"recorded-{number}" for number in count(2)))
    return next(
        path
        for path in map(Path, names)
        if not path.exists() or (path.is_dir() and not any(path.iterdir()))
    )


def import_job(
    recording: str | Path,
    *,
    out: str | Path | None = None,
    job: str | None = None,
    machine: str = "quiet",
    profile: str = "plain",
    set: Mapping[str, Value] | None = None,
    seeds: int = 3,
    progress: Callable[[int], object] = int,
) -> ImportedJob:
    """Make a scenario of a recording, and say how every value was found.

    recording: its folder, or the name of one that is shipped, such as `orders`.  out: the file to
    write; without it nothing is written.  job: its id, where several were recorded.
    machine: "quiet" for one with nothing else to do, "recorded" for as busy as it was.
    profile: whose constants hold, "plain", or "rig" for recordings that are shipped.
    set: what the recording does not say, by the engine's option names or ours.
    seeds: of the replay of the job as it is, 0 for none.  progress: called with runs done.

    Raises UserError for a folder that is no recording, or says too little of a job.
    """
    found = importing.import_job(
        folder.place_named(str(recording)),
        _change(set),
        out=None if out is None else Path(out),
        job=job,
        machine=_one(MachineChoice, "machine", machine),
        profile=_one(Profile, "profile", profile),
        seeds=seeds,
        progress=progress,
    )
    return ImportedJob(imported=found)


def whatif(
    job: Named | ImportedJob,
    *,
    set: Mapping[str, Value] | None = None,
    vary: Mapping[str, Sequence[Value]] | None = None,
    failure: str | bool = False,
    restart: Duration | None = None,
    seeds: int = 5,
    machine: str = "quiet",
    profile: str = "plain",
    spark: SparkSession | None = None,
    progress: Callable[[int], object] = int,
) -> WhatIf:
    """Compare a job as it is, measured and predicted, with the job as it would be.

    job: a scenario of a job on buffers, the path of its file, or the folder of a recording.
    set: options of every variant; vary: option -> values, a variant for each combination.
    failure: the vertex that fails, or True for the last one; restart: from then to the restart.
    seeds: runs of each.  machine, profile: as of `import_job`.  spark: a session that runs them.
    progress: called with the number of runs done.

    Raises UserError for what is no such job, and for options and values that cannot be.
    """
    question = what_if.Question(
        change=_change(set),
        varied={name: [text_of(one) for one in values] for name, values in (vary or {}).items()},
        failure=what_if.LAST if failure is True else failure or None,
        restart_ns=None if restart is None else nanoseconds(restart, "restart"),
        seeds=seeds,
    )
    answer = what_if.answer_to(_named(job, machine, profile), question, _runner(spark, progress))
    return WhatIf(answer=answer)


def advise(
    job: Named | ImportedJob,
    *,
    mtbf: Duration,
    restart: Duration = 10.0,
    rto: Duration | None = None,
    max_reprocessed: int | None = None,
    max_overhead: float | None = None,
    modes: Sequence[str] = ("aligned", "unaligned"),
    load: str | None = None,
    set: Mapping[str, Value] | None = None,
    machine: str = "quiet",
    profile: str = "plain",
    progress: Callable[[int], object] = int,
) -> Advice:
    """Find the interval and mode of checkpoints that cost a job least, for given failures.

    job, set, machine, profile: as of `whatif`.  mtbf: mean time between two failures.
    restart: how long the job is down after one.  rto: most from a failure until no result is late.
    max_reprocessed: most records that a failure may undo.  max_overhead: most of the time that
    checkpoints may take, from 0 to 1.  load: of the day, such as "00:00=0.3,08:00=1".
    progress: called after each run, with about how many there are.

    Raises UserError for what is no such job, and for one that no interval can help.
    """
    named = _named(job, machine, profile)
    named = replace(named, scenario=changed(named.scenario, _change(set)))
    known = {mode.value: mode for mode in Mode}
    for mode in modes:
        if mode not in known:
            raise UserError(f"modes: found {mode!r}, expected {one_of(mode, list(known))}")
    wish = advising.Wish(
        mtbf_s=nanoseconds(mtbf, "mtbf") / _SECOND_NS,
        restart_s=nanoseconds(restart, "restart") / _SECOND_NS,
        rto_s=None if rto is None else nanoseconds(rto, "rto") / _SECOND_NS,
        max_reprocessed=max_reprocessed,
        max_overhead=max_overhead,
        modes=[known[mode] for mode in modes],
        load=None if load is None else read_load(load),
    )
    return Advice(name=named.scenario.name, advice=advising.advise(named, wish, ran=progress))


def validate(
    files: str | Path | Sequence[str | Path],
    *,
    seeds: int = 7,
    jobs: int = 1,
    sequences: Sequence[str] = (),
    progress: Callable[[int, int], object] | None = None,
) -> Validation:
    """Predict measured runs of Flink and compare.

    files: measured runs, one a line.  seeds: simulated runs of each; jobs: processes.
    sequences: runs that are looked at checkpoint by checkpoint.
    progress: called with runs done and all runs.

    Raises UserError for a line that is no measured run.
    """
    found = validating.validate_files(
        paths_of(files), seeds=seeds, jobs=jobs, sequences=sequences, progress=progress
    )
    return Validation(validation=found)


def paths_of(files: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return one path or several as a list."""
    return [Path(files)] if isinstance(files, str | Path) else [Path(one) for one in files]


def _change(options: Mapping[str, Value] | None) -> dict[str, str]:
    return read_change([f"{name}={text_of(value)}" for name, value in (options or {}).items()])


Choice = TypeVar("Choice", bound=StrEnum)


def _one(choices: type[Choice], key: str, name: str) -> Choice:
    known = [choice.value for choice in choices]
    if name not in known:
        raise UserError(f"{key}: found {name!r}, expected {one_of(name, known)}")
    return choices(name)


def _named(job: Named | ImportedJob, machine: str, profile: str) -> folder.Named:
    """Return a job with what is known of it."""
    choice = _one(MachineChoice, "machine", machine)
    kept = _one(Profile, "profile", profile)
    if isinstance(job, ImportedJob):
        named = folder.job_of(job.imported.scenario)
        return replace(named, recording=job.imported.recording, measures=job.imported.measures)
    if isinstance(job, scenarios.Scenario):
        return folder.job_of(scenario_of(job))
    place = folder.place_named(str(job))
    if not place.exists() and str(job) in all_names():
        return folder.job_of(scenario_of(job))
    return folder.job_named(place, machine=choice, profile=kept)


def _runner(spark: SparkSession | None, progress: Callable[[int], object]) -> what_if.Runner:
    """Return what runs scenarios: this process, or the session that was given."""

    def run(runs: Sequence[tuple[scenarios.Scenario, int]], _says: str) -> Sequence[RunResult]:
        if spark is not None:
            from ckptsim.analysis.sweeps.results import run_all

            return run_all(spark, runs, progress=progress)
        found = []
        for scenario, seed in runs:
            found.append(run_world(scenario, seed=seed, judged=False))
            progress(len(found))
        return found

    return run
