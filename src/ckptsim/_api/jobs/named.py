"""The job that an argument names, and its options, as all verbs of real jobs take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ckptsim import scenarios
from ckptsim._api.jobs.recorded import ImportedJob, change_of, one_named
from ckptsim._api.scenario import Named, Value, scenario_of
from ckptsim.scenarios.catalogue import all_names
from ckptsim.scenarios.job import Profile
from ckptsim.scenarios.planning import with_parameters
from ckptsim.sim.infer import folder
from ckptsim.sim.infer.advice.budget import shortened
from ckptsim.sim.infer.change import changed
from ckptsim.sim.infer.tasks.machine import MachineChoice

AnyJob: TypeAlias = Named | ImportedJob
"""A scenario of a job on buffers, the path of its file, the folder of a recording, an import."""


def named_job(
    job: AnyJob, machine: str, job_id: str | None = None, profile: str = "plain"
) -> folder.Named:
    """Return a job with its recording and measures. job_id: where several were recorded."""
    choice = one_named(MachineChoice, "machine", machine)
    kept = one_named(Profile, "profile", profile)
    if isinstance(job, ImportedJob):
        named = folder.job_of(scenario_of(job.scenario))
        return replace(named, recording=job.recording, measures=job.measures)
    if isinstance(job, scenarios.Scenario):
        return folder.job_of(scenario_of(job))
    place = folder.place_named(str(job))
    if not place.exists() and str(job) in all_names():
        return folder.job_of(scenario_of(job))
    return folder.job_named(place, job=job_id, machine=choice, profile=kept)


def asked_for(
    named: folder.Named, *, full: bool, quick: bool
) -> tuple[folder.Named, Sequence[str]]:
    """Return a job as `--full` or `--quick` asks for it, with notes for the reader."""
    parameters, notes = shortened(named.scenario, full=full, quick=quick)
    if parameters:
        named = replace(named, scenario=with_parameters(named.scenario, parameters))
    return named, notes


def with_options(named: folder.Named, options: Mapping[str, Value] | None) -> folder.Named:
    """Return a job with some options set."""
    return replace(named, scenario=changed(named.scenario, change_of(options)))
