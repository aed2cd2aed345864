"""A folder of a find is data: what it names is started with the user's leave only."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

from ckptsim.scenarios import UserError
from ckptsim.sim.search.folder import ALLOW, DECISIONS
from ckptsim.sim.slots.process import PREFIX


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
