"""Which sources decide a run, and the fingerprint of the program that is made of them.

A run is decided by what its world really imports: cores, scenarios, kernel, the world itself, what
comes into its slots.  Code for display, draws, validation, conformance and the command line does
not count. So a new text there keeps the keys of runs, and a sweep continues.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

# Link -> module of its world.
WORLDS: dict[str, str] = {
    "ordering": "ckptsim.sim.sync",
    "barriers": "ckptsim.sim.job.buffers",
    "barrier_protocol": "ckptsim.sim.job.records",
    "final_checkpoint": "ckptsim.sim.job.records",
    "checkpoint_store": "ckptsim.sim.store",
    "composed": "ckptsim.sim.composed",
}

_DOOR = "ckptsim.sim.world"  # through which every run goes
_EXPLORING = "ckptsim.sim.search.explore"
_TELLING = ("ckptsim.sim.story",)  # the words that worlds declare are read after the run
# Mutants of all worlds come with the door. What they change of a world is of that world's runs.
_OF_WORLDS = tuple(f"ckptsim.sim.{name}" for name in ("sync", "job", "store", "composed"))

# Imports are found in the text: to import them all would take long, and so would parsing them.
_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)+", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from (ckptsim[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import (ckptsim[\w.]*)", re.MULTILINE)


@cache
def version(world: str) -> str:
    """Return a fingerprint of the program for runs in a link's world: a hash of their sources."""
    return _fingerprint(deciding(world))


def version_of_exploring(world: str) -> str:
    """Return one for exploring a link, which generators and rules decide as well."""
    return _fingerprint(sorted(_with_imports(_EXPLORING, _TELLING).union(deciding(world))))


def _fingerprint(names: Iterable[str]) -> str:
    digest = blake2b(digest_size=6)
    for name in names:
        text = _text(name) or b""
        digest.update(f"{name}\0{len(text)}\0".encode())
        digest.update(text)
    return digest.hexdigest()


def deciding(world: str) -> list[str]:
    """Return the names of all modules that decide runs in a link's world, sorted."""
    found = _with_imports(_DOOR, leaves_out=_TELLING + _OF_WORLDS)
    if world in WORLDS:
        found |= _with_imports(WORLDS[world], leaves_out=_TELLING)
    return sorted(found)


@cache
def _with_imports(root: str, leaves_out: tuple[str, ...]) -> frozenset[str]:
    """Return a module and all that it imports at runtime, the packages around them too."""
    found: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in found or f"{name}.".startswith(tuple(f"{one}." for one in leaves_out)):
            continue
        text = _text(name)
        if text is not None:
            found.add(name)
            waiting += _imported(text.decode())
            waiting.append(name.rpartition(".")[0])
    return frozenset(found)


def _imported(text: str) -> Iterator[str]:
    """Yield what a source imports at runtime. Of `from a import b`, both a and a.b."""
    text = _TYPES.sub("", text)
    yield from _IMPORT.findall(text)
    for package, names in _FROM.findall(text):
        yield package
        yield from (f"{package}.{name}" for name in re.findall(r"\w+", names))


@cache
def _text(name: str) -> bytes | None:
    """Return the source of a module in one of the four folders, or None if it is no such module."""
    top, _, rest = name.partition(".")
    folder, _, inner = rest.partition(".")
    if top != "ckptsim" or folder not in ("models", "scenarios", "sim", "analysis"):
        return None
    here: Traversable = files(f"ckptsim.{folder}")
    steps = inner.split(".") if inner else []
    package = here.joinpath(*steps, "__init__.py")
    module = here.joinpath(*steps[:-1], f"{steps[-1]}.py") if steps else package
    return next((file.read_bytes() for file in (module, package) if file.is_file()), None)
