"""The subject of a run: a scenario with cores and properties, and the folder of a find as one."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TypeAlias

from ckptsim import scenarios
from ckptsim._api.scenario import Named, Value, load, scenario_of, vary
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.infer.folder import place_named
from ckptsim.sim.judging import AS_USUAL, Judging
from ckptsim.sim.own_properties import own_properties
from ckptsim.sim.recording import is_recording
from ckptsim.sim.search import Subject
from ckptsim.sim.search.folder import ALLOW, DECISIONS, Kept, is_find, read
from ckptsim.sim.slots import Factory
from ckptsim.sim.slots.process import PREFIX
from ckptsim.sim.slots.resolve import read_cores, refuse_uncompared, resolve, try_out
from ckptsim.sim.world import check_properties

Cores: TypeAlias = Mapping[str, Factory | str] | Sequence[str] | str
"""Slot -> factory of a core, or what names one; or texts as `--core` has them."""

Source: TypeAlias = Subject | Kept | Path
"""What `why` and `view` look at: a scenario to run, a find, or the folder of a recording."""


def subject_of(
    scenario: Named,
    set: Mapping[str, Value] | None = None,
    core: Cores | None = None,
    mutant: str | None = None,
    judging: Judging = AS_USUAL,
) -> Subject:
    """Return a scenario with its cores, as verbs take them. Raises UserError."""
    varied = vary(
        scenario if isinstance(scenario, scenarios.Scenario) else load(scenario), set or {}
    )
    found, origin = scenario_of(varied), varied.origin
    cores = cores_of(found, core)
    choice = resolve(found.world, cores=cores, mutant=mutant)
    try_out({slot: one for slot, one in cores.items() if isinstance(one, str)})
    if judging.like_ours:
        refuse_uncompared([found.world], choice.factories)
    return Subject(
        scenario=found,
        cores=cores,
        mutant=mutant,
        judging=judging,
        source=None if origin is None else origin.source,
        parameters=json.dumps(origin.parameters if origin else {}, sort_keys=True),
    )


def source_of(
    found: Named,
    set: Mapping[str, Value] | None,
    core: Cores | None,
    mutant: str | None,
    *,
    allow_commands: bool,
) -> Source:
    """Return a scenario, or the folder of a find or of a recording. Raises UserError."""
    if isinstance(found, str | Path):
        place = place_named(str(found))
        if is_find(place):
            return find_of(place, allowed=allow_commands)[0]
        if is_recording(place):
            if set or core or mutant:
                raise UserError(f"{place}: found a recording and changes, expected a scenario")
            return place
    return subject_of(found, set, core, mutant)


def cores_of(scenario: scenarios.Scenario, cores: Cores | None) -> dict[str, Factory | str]:
    """Return slot -> core of an argument `core`. Raises UserError for a text without its slot."""
    if cores is None or isinstance(cores, Mapping):
        return dict(cores or {})
    texts = [cores] if isinstance(cores, str) else list(cores)
    return dict(read_cores(texts, (scenario.world,)))


def check_importable(subject: Subject) -> None:
    """Raise UserError for a factory that cannot travel to other processes, such as a lambda."""
    judging = subject.judging
    found = [
        (f"cores: found {subject.names[slot]} for {slot!r}", core)
        for slot, core in subject.cores.items()
    ]
    found += [
        (f"properties: found {name}", function)
        for name, function in zip(judging.property_names, judging.properties, strict=True)
    ]
    for where, function in found:
        try:
            pickle.dumps(function)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UserError(
                f"{where} with jobs > 1, expected a function that other processes can import "
                f"({error})"
            ) from error


def find_of(folder: Path, *, allowed: bool) -> tuple[Kept, list[str]]:
    """Return what a folder of `hunt` repeats, and its imports. Raises UserError unless allowed."""
    found = read(folder)
    cores = {slot: str(core) for slot, core in found.subject.cores.items()}
    judging = found.subject.judging
    named = [*cores.values(), *judging.property_names]
    imported = _leave(folder, named, allowed=allowed)
    resolve(found.subject.scenario.world, cores=cores, mutant=found.subject.mutant)
    try_out(cores)
    check_properties("--ignore", judging.ignore, found.subject.scenario.link)
    own_properties(judging.properties)
    return found, imported


def _leave(folder: Path, cores: Iterable[str], *, allowed: bool) -> list[str]:
    """Refuse a folder that names commands, or modules that lie in it, unless they are allowed.

    Modules from elsewhere are the user's, and the ones of the folder's author are not: the returned
    lines name the imports. Raises UserError with what would be started.
    """
    asked, imported = [], []
    for core in cores:
        found = None if core.startswith(PREFIX) else _file_of(core.partition(":")[0])
        if core.startswith(PREFIX):
            asked.append(f"starts the command {core.removeprefix(PREFIX)!r}")
        elif found is not None and found.is_relative_to(folder.resolve()):
            asked.append(f"imports {core}, which lies in the folder: {found}")
        elif found is not None:
            imported.append(f"imports {core}, which the folder names, from {found}")
    if asked and not allowed:
        what = "; ".join(asked)
        raise UserError(
            f"{folder / DECISIONS}: repeating this find {what}. Where you trust whoever made it, "
            f"add {ALLOW}"
        )
    return imported


def _file_of(module: str) -> Path | None:
    found = PathFinder.find_spec(module.partition(".")[0], [str(Path.cwd()), *sys.path])
    if found is None:
        return None
    places = [*(found.submodule_search_locations or ()), found.origin]
    return next((Path(place).resolve() for place in places if place), None)
