"""What a run is called: its key, the version of the program, the command that repeats it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from ckptsim.scenarios import Scenario, canonical_json


def run_key(
    scenario: Scenario,
    *,
    seed: int,
    ties: str,
    core: str | None = None,
    mutant: str | None = None,
) -> str:
    """Return the key of a run: a hash of all that decides it, as 32 hexadecimal digits."""
    identity = [_canonical(scenario), seed, ties, version(), core, mutant]
    text = json.dumps(identity, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()


@lru_cache(maxsize=16)
def _canonical(scenario: Scenario) -> str:
    return canonical_json(scenario)


def replay_command(
    source: str,
    *,
    seed: int,
    ties: str,
    core: str | None = None,
    mutant: str | None = None,
    parameters: str = "{}",
) -> str:
    """Return the command that tells the story of this run again."""
    words = ["ckptsim", "replay", source, "--seed", str(seed)]
    if ties != "structural":
        words += ["--ties", ties]
    if mutant is not None:
        words += ["--mutant", mutant]
    if core is not None:
        words += ["--core", core]
    for path, value in json.loads(parameters).items():
        words += ["--set", f"{path}={json.dumps(value)}"]
    return shlex.join(words)


def core_name(core: Callable[..., Any]) -> str:
    """Return `package.module:factory` of a factory."""
    return f"{core.__module__}:{getattr(core, '__qualname__', type(core).__qualname__)}"


@lru_cache(maxsize=1)
def version() -> str:
    """Return a fingerprint of the program: a hash of the sources that decide a run."""
    digest = blake2b(digest_size=6)
    for package in ("models", "scenarios", "sim"):
        for path, text in sorted(_sources(files(f"ckptsim.{package}"), package)):
            digest.update(f"{path}\0{len(text)}\0".encode())
            digest.update(text)
    return digest.hexdigest()


def _sources(folder: Traversable, path: str) -> list[tuple[str, bytes]]:
    """Return the Python sources below a package; the command line decides nothing in a run."""
    found: list[tuple[str, bytes]] = []
    for item in folder.iterdir():
        inner = f"{path}/{item.name}"
        if item.is_dir():
            if inner != "sim/cli":
                found += _sources(item, inner)
        elif item.name.endswith(".py"):
            found.append((inner, item.read_bytes()))
    return found
