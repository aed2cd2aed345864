"""What a run is called: its key, the version of the program, the command that repeats it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

from ckptsim.scenarios import Scenario, canonical_json


def run_key(
    scenario: Scenario,
    *,
    seed: int,
    ties: str,
    cores: Mapping[str, str] | None = None,
    mutant: str | None = None,
) -> str:
    """Return the key of a run: a hash of all that decides it, as 32 hexadecimal digits.

    cores: slot -> name of a core that is not ours.
    """
    identity = [_canonical(scenario), seed, ties, version(), canonical_names(cores or {}), mutant]
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
    cores: Mapping[str, str] | None = None,
    mutant: str | None = None,
    parameters: str = "{}",
) -> str:
    """Return the command that tells the story of this run again."""
    words = ["ckptsim", "replay", source, "--seed", str(seed)]
    if ties != "structural":
        words += ["--ties", ties]
    if mutant is not None:
        words += ["--mutant", mutant]
    for slot, name in sorted((cores or {}).items()):
        words += ["--core", f"{slot}={name}"]
    for path, value in json.loads(parameters).items():
        words += ["--set", f"{path}={json.dumps(value)}"]
    return shlex.join(words)


def canonical_names(cores: Mapping[str, str]) -> str:
    """Return the names of cores by slot as canonical JSON."""
    return json.dumps(dict(sorted(cores.items())), separators=(",", ":"))


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
