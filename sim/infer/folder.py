"""A job that a person names: a recording, or a scenario file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from ckptsim import scenarios
from ckptsim.scenarios import Scenario
from ckptsim.scenarios.errors import UserError
from ckptsim.scenarios.files import load
from ckptsim.scenarios.job import Job, Plane, Profile
from ckptsim.sim.infer.job import CHECKPOINTS, Imported, scenario_of
from ckptsim.sim.infer.measures import Measures, measured
from ckptsim.sim.infer.tasks.machine import MachineChoice
from ckptsim.sim.recording import Recording, is_recording, read_recording

_SECOND_NS, _NS_PER_MS = 1_000_000_000, 1_000_000
RECORDINGS = Path(scenarios.__file__).parent / "recordings"


def place_named(text: str) -> Path:
    """Return the place that a person names: one that is there, or a recording that is shipped."""
    place = Path(text)
    shipped = RECORDINGS / text
    if not place.exists() and text.isidentifier() and shipped.is_dir():
        return shipped
    return place


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A job with its place and the known facts of it: of a file neither recording nor measures."""

    scenario: Scenario
    place: Path | None = None
    recording: Recording | None = None
    imported: Imported | None = None
    measures: Measures | None = None


def job_named(
    place: Path,
    *,
    job: str | None = None,
    machine: MachineChoice,
    profile: Profile = Profile.PLAIN,
    spans: Path | None = None,
) -> Named:
    """Return the job of a recording or of a scenario file.

    machine, profile: of a recording. A file has its own.  spans: a file with more of its
    checkpoints.

    Raises UserError for a path that is neither, and for a job that is not on buffers.
    """
    if not is_recording(place):
        return job_of(load(place), place)
    recording = read_recording(place, job=job, spans=spans)
    imported = scenario_of(recording, name=_name(place), machine=machine, profile=profile)
    return Named(
        scenario=imported.scenario,
        place=place,
        recording=recording,
        imported=imported,
        measures=measured(recording, imported.names),
    )


def job_of(scenario: Scenario, place: Path | None = None) -> Named:
    """Return the job of a scenario, which was read at a place. Raises UserError for no such job."""
    model = scenario.model
    if not isinstance(model, Job) or model.plane is not Plane.BUFFERS:
        where = scenario.name if place is None else place
        raise UserError(f"{where}: found no job on buffers, expected what `import` writes")
    return Named(scenario=scenario, place=place)


def _name(place: Path) -> str:
    """Return a name for a scenario that is made of a folder."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "-" for c in place.name)
    return kept.strip("-_")[:60] or "recorded"


def lasting(scenario: Scenario, measures: Measures | None) -> Scenario:
    """Return an imported job that ends by its duration alone, with as many checkpoints.

    measures: of the recording, for how long one takes.
    """
    job = cast("Job", scenario.model)
    checkpointing = job.checkpointing
    lasts_ns = 0 if measures is None else measures.duration_ms.get("median", 0.0) * _NS_PER_MS
    apart_ns = max(checkpointing.interval_ns, round(lasts_ns) + checkpointing.min_pause_ns)
    needed_ns = ((checkpointing.count or CHECKPOINTS) + 1) * apart_ns
    duration_ns = min(job.duration_ns, -(-needed_ns // _SECOND_NS) * _SECOND_NS)
    model = replace(job, checkpointing=replace(checkpointing, count=None), duration_ns=duration_ns)
    return replace(scenario, model=model)
