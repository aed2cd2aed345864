"""A folder of a find is data: what it names is started with the user's leave only."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

from ckptsim.scenarios import UserError
from ckptsim.sim.own_properties import own_properties
from ckptsim.sim.search.folder import ALLOW, DECISIONS, Kept, is_find, read
from ckptsim.sim.slots.process import PREFIX
from ckptsim.sim.slots.resolve import resolve, try_out
from ckptsim.sim.world import check_properties


def kept_of(arguments: argparse.Namespace) -> Kept | None:
    """Return what a folder of `hunt` repeats; None where a scenario is meant.

    Raises UserError for arguments that the folder decides.
    """
    folder = Path(arguments.scenario)
    if not is_find(folder):
        return None
    given = {
        "--set": arguments.set,
        "--costs": arguments.costs,
        "--core": arguments.core,
        "--mutant": arguments.mutant,
        "--like-ours": getattr(arguments, "like_ours", False),
        "--ignore": arguments.ignore,
        "--property": arguments.property,
        "--seed": arguments.seed,
        "--ties": arguments.ties != "structural",
    }
    for name, value in given.items():
        if value:
            raise UserError(f"{name}: found together with {folder}, which decides it")
    found = read(folder)
    cores = {slot: str(core) for slot, core in found.subject.cores.items()}
    named = [*cores.values(), *found.subject.property_names]
    check_leave(folder, named, allowed=arguments.allow_commands)
    resolve(found.subject.scenario.world, cores=cores, mutant=found.subject.mutant)
    try_out(cores)
    check_properties("--ignore", found.subject.ignore, found.subject.scenario.link)
    own_properties(found.subject.properties)
    return found


def check_leave(folder: Path, cores: Iterable[str], *, allowed: bool) -> list[str]:
    """Refuse a folder that names commands, or modules that lie in it, unless they are allowed.

    Modules from elsewhere are the user's, and those of the folder's author are not: the lines that
    are returned say what is imported.
    Raises UserError with what would be started.
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
    """Return the file or folder of a module's package, which is not imported for that."""
    found = PathFinder.find_spec(module.partition(".")[0], [str(Path.cwd()), *sys.path])
    if found is None:
        return None
    places = [*(found.submodule_search_locations or ()), found.origin]
    return next((Path(place).resolve() for place in places if place), None)
