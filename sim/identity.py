"""What a run is called: its key, and the command that repeats it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

from ckptsim.scenarios import Scenario, canonical_json
from ckptsim.scenarios.planning import without_designs
from ckptsim.sim.fingerprint import version


def run_key(
    scenario: Scenario,
    *,
    seed: int,
    ties: str,
    cores: Mapping[str, str] | None = None,
    mutant: str | None = None,
    ignore: Sequence[str] = (),
    properties: Sequence[str] = (),
) -> str:
    """Return the key of a run: a hash of all that decides its rows, as 32 hexadecimal digits.

    cores: slot -> name of a core that is not ours.  ignore: properties that are not judged, sorted.
    properties: names of the ones of the user's.
    """
    program, chosen = version(scenario.world), canonical_names(cores or {})
    identity = [_canonical(scenario), seed, ties, program, chosen, mutant]
    judging = [list(ignore), list(properties)]
    identity += judging if any(judging) else []
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
    judged: Sequence[str] = (),
) -> str:
    """Return the command that notifies the story of this run again. judged: `Judging.words`.

    parameters: JSON of those that were set. Swept designs among them are reported by `cores`,
    `mutant`.
    """
    words = ["ckptsim", "replay", source, "--seed", str(seed)]
    if ties != "structural":
        words += ["--ties", ties]
    if mutant is not None:
        words += ["--mutant", mutant]
    for slot, name in sorted((cores or {}).items()):
        words += ["--core", f"{slot}={name}"]
    words += judged
    for path, value in without_designs(json.loads(parameters)).items():
        words += ["--set", f"{path}={json.dumps(value)}"]
    return shlex.join(words)


def canonical_names(cores: Mapping[str, str]) -> str:
    """Return the names of cores by slot as canonical JSON."""
    return json.dumps(dict(sorted(cores.items())), separators=(",", ":"))
