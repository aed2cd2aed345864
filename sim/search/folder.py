"""A found violation as a folder: everything that repeats and explains it, and nothing else needed.

`scenario.toml` and `decisions.json` (seed, tie policy, cores, mutant, what broke, the digest)
repeat the run; `test_find.py` is the same for pytest, failing while the property breaks; the story
and the pictures explain it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from ckptsim.scenarios import UserError
from ckptsim.scenarios.dialect import too_long
from ckptsim.scenarios.files import load, to_toml
from ckptsim.sim.export import STORY, pictures
from ckptsim.sim.kernel import parse_ties
from ckptsim.sim.rows import RunResult, ViolationRow
from ckptsim.sim.search.stories import stories
from ckptsim.sim.search.trial import Subject
from ckptsim.sim.world import load_world

SCENARIO = "scenario.toml"
DECISIONS = "decisions.json"
ALLOW = "--allow-commands"  # has `replay` start the commands that a folder names
TEST = "test_find.py"

_TEST = '''"""{says}

Fails while that is so; run it with pytest, where the package ckptsim{cores_too} can be imported.
"""

from pathlib import Path

import ckptsim

SCENARIO = Path(__file__).with_name("{scenario}")


def test_{name}():
    result = ckptsim.run(
        SCENARIO, seed={seed}, ties={ties!r}, cores={cores!r}, mutant={mutant!r}, rules={rules}
    )
    rows = [row for row in result.violations if row.property == {name!r}]
    assert not rows, "\\n".join([rows[0].says, rows[0].story])
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a folder repeats: a subject whose source is the folder, and how it is run.

    property, says, digest: what broke, in one sentence, and the digest of the run.
    """

    subject: Subject
    seed: int
    ties: str
    property: str
    says: str
    digest: str


def is_find(path: Path) -> bool:
    """Say whether a path is a folder that `keep` has written."""
    return (path / DECISIONS).is_file()


def keep(folder: Path, subject: Subject, *, seed: int, ties: str, name: str) -> ViolationRow:
    """Run a subject once more, write the folder, and return the violation with its story.

    name: the property that breaks.  Files of other names in the folder are left alone.
    Raises ValueError when the run does not break it.
    """
    subject = replace(subject, source=str(folder), parameters="{}")
    scenario = replace(
        subject.scenario,
        says=f"the smallest scenario found that breaks {name}",
        violates=(),
        goals=(),
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SCENARIO).write_text(to_toml(scenario), encoding="utf-8")
    # Run as it will be read again: the file is what is shared.
    subject = replace(subject, scenario=load(folder / SCENARIO))
    result = subject.run(seed, ties, keep_trace=True)
    rows = [row for row in stories(subject, result) if row.property == name]
    if not rows:
        raise ValueError(f"{folder}: the run does not break {name}")
    row = replace(rows[0], replay=f"ckptsim replay {folder}{_leave(subject)}")
    for file, text in _texts(subject, result, row).items():
        (folder / file).write_text(text, encoding="utf-8")
    return row


def _leave(subject: Subject) -> str:
    """Return the option that a folder needs whose cores are commands."""
    commands = any(name.startswith("process:") for name in subject.names.values())
    return f" {ALLOW}" if commands else ""


def _texts(subject: Subject, result: RunResult, row: ViolationRow) -> dict[str, str]:
    vocabulary = load_world(subject.scenario.world).VOCABULARY
    found = pictures(result.trace, vocabulary, subject.scenario, result)
    decisions = {
        "property": row.property,
        "says": row.says,
        "seed": result.run.seed,
        "ties": result.run.ties,
        "cores": subject.names,
        "mutant": subject.mutant,
        "digest": result.run.digest,
        "version": result.run.version,
    }
    test = _TEST.format(
        says=f"{row.property}: {row.says}".replace("\\", "\\\\").replace('"', "'"),
        scenario=SCENARIO,
        name=row.property,
        seed=result.run.seed,
        ties=result.run.ties,
        cores=subject.names,
        mutant=subject.mutant,
        rules=subject.differential,
        cores_too=" and the core" if subject.names else "",
    )
    whole = f"VIOLATED {row.property}: {row.says}\n\n{row.story}\n\nthe whole run:\n\n"
    return found | {
        STORY: whole + found[STORY],
        DECISIONS: json.dumps(decisions, indent=1) + "\n",
        TEST: test,
    }


def read(folder: Path) -> Kept:
    """Return what a folder repeats.

    Raises UserError when a file of it is missing or not as `keep` has written it.
    """
    path, text = folder / DECISIONS, ""
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text)
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        number = too_long(error, text) if isinstance(error, ValueError) else None
        raise UserError(f"{path}: cannot be read as decisions: {number or error}") from error
    kinds = {"property": str, "says": str, "seed": int, "ties": str, "digest": str, "cores": dict}
    for key, kind in kinds.items():
        value = found.get(key) if isinstance(found, dict) else None
        if type(value) is not kind:
            raise UserError(f"{path}: {key}: found {value!r}, expected {kind.__name__}")
    mutant = found.get("mutant")
    cores = {str(slot): str(core) for slot, core in found["cores"].items()}
    try:
        parse_ties(found["ties"], found["seed"])
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error
    return Kept(
        subject=Subject(
            scenario=load(folder / SCENARIO),
            cores=cores,
            mutant=None if mutant is None else str(mutant),
            source=str(folder),
        ),
        seed=found["seed"],
        ties=found["ties"],
        property=found["property"],
        says=found["says"],
        digest=found["digest"],
    )
